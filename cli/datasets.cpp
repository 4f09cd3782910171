#include <fmt/core.h>

#include "cli/command.h"
#include "cli/standard_output.h"
#include "treadle/data/dataset.h"

namespace treadle::cli {
namespace {

void print_dataset(const KnownDataset& set) {
  fmt::print("{}: {}\n", set.name, set.description);
  if (set.made) {
    fmt::print("  made from the seed of the run\n");
    return;
  }
  if (!set.found.empty()) {
    fmt::print("  found in {}\n", set.found.string());
    return;
  }
  fmt::print("  not found; {}:\n", set.how_to_get);
  for (const auto& place : set.places) fmt::print("    {}\n", place.string());
}

struct Options {
  bool json = false;

  static void describe(auto& field) { field("json", &Options::json, "One JSON object"); }
};

int run(const Options& options) {
  std::vector<Json> list;
  for (const KnownDataset& set : known_datasets()) {
    list.push_back({{"name", set.name},
                    {"description", set.description},
                    {"classes", set.classes},
                    {"made", set.made},
                    {"found", set.found.string()},
                    {"how_to_get", set.how_to_get}});
    if (!options.json) print_dataset(set);
  }
  if (options.json) print_json(Json{{"datasets", list}});
  return kSuccess;
}

}  // namespace

void register_datasets(Commands& commands) {
  commands.add({.place = 7,
                .name = "datasets",
                .description = "Known data sets: where they were found or how to get them",
                .example = "treadle datasets"},
               run);
}

}  // namespace treadle::cli

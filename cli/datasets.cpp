#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/standard_output.h"
#include "treadle/data/dataset.h"

namespace treadle::cli {
namespace {

void print_dataset(const KnownDataset& set) {
  fmt::print("{}: {}\n", set.name, set.description);
  if (!set.found.empty()) {
    fmt::print("  found in {}\n", set.found.string());
    return;
  }
  fmt::print("  not found; {}:\n", set.how_to_get);
  for (const auto& place : set.places) fmt::print("    {}\n", place.string());
}

int print_datasets(bool as_json) {
  nlohmann::json list = nlohmann::json::array();
  for (const KnownDataset& set : known_datasets()) {
    list.push_back({{"name", set.name},
                    {"description", set.description},
                    {"classes", set.classes},
                    {"found", set.found.string()},
                    {"how_to_get", set.how_to_get}});
    if (!as_json) print_dataset(set);
  }
  if (as_json) print_json(nlohmann::json{{"datasets", list}});
  return kSuccess;
}

}  // namespace

Action add_datasets(CLI::App& app) {
  auto as_json = std::make_shared<bool>(false);
  app.add_flag("--json", *as_json, "One JSON object");
  app.footer("Example: treadle datasets");
  return [as_json] { return print_datasets(*as_json); };
}

}  // namespace treadle::cli

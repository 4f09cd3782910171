#include "treadle/data/dataset_places.h"

#include <cstdlib>

#include "treadle/data/dataset_registry.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

/// The value of an environment variable; empty counts as unset.
fs::path environment_path(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

fs::path user_data_folder() {
  if (fs::path folder = environment_path("XDG_DATA_HOME"); !folder.empty()) return folder;
  fs::path home = environment_path("HOME");
  return home.empty() ? fs::path() : home / ".local/share";
}

}  // namespace

std::vector<fs::path> places_of(std::string_view name) {
  std::vector<fs::path> places;
  if (fs::path folder = environment_path("TREADLE_DATA"); !folder.empty()) places.push_back(folder / name);
  if (fs::path folder = user_data_folder(); !folder.empty()) places.push_back(folder / "treadle" / name);
  places.push_back(fs::path("/usr/share/datasets") / name);
  return places;
}

fs::path find_dataset(std::string_view name) {
  for (const auto& place : places_of(name))
    if (dataset_registry().format_of(place)) return place;
  return {};
}

std::vector<KnownDataset> known_datasets() {
  std::vector<KnownDataset> datasets;
  for (const DatasetDeclaration& set : dataset_registry().sets())
    datasets.push_back({set.name, set.description, set.classes, find_dataset(set.name), set.how_to_get,
                        set.make ? std::vector<fs::path>() : places_of(set.name), bool(set.make)});
  return datasets;
}

}  // namespace treadle

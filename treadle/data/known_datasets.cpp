#include "treadle/data/known_datasets.h"

#include <cstdlib>

namespace treadle {
namespace {

namespace fs = std::filesystem;

const std::vector<KnownDataset>& table() {
  static const std::vector<KnownDataset> datasets = {
      {"fashion-mnist",
       "70,000 grey images of clothing, 28 x 28",
       {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
        "Ankle boot"},
       {},
       "apt install dataset-fashion-mnist"},
      {"mnist",
       "70,000 grey images of handwritten digits, 28 x 28",
       {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
       {},
       "download the four .gz files of MNIST (train-images-idx3-ubyte.gz and so on) into one of these "
       "folders"},
      {"cifar-10",
       "60,000 colour images of animals and vehicles, 32 x 32",
       {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
       {},
       "unpack the binary version from https://www.cs.toronto.edu/~kriz/cifar.html into one of these "
       "folders"},
  };
  return datasets;
}

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

const KnownDataset* known_dataset(std::string_view name) {
  for (const auto& dataset : table())
    if (dataset.name == name) return &dataset;
  return nullptr;
}

std::vector<std::string> dataset_names() {
  std::vector<std::string> names;
  for (const auto& dataset : table()) names.push_back(dataset.name);
  return names;
}

std::vector<fs::path> places_of(std::string_view name) {
  std::vector<fs::path> places;
  if (fs::path folder = environment_path("TREADLE_DATA"); !folder.empty()) places.push_back(folder / name);
  if (fs::path folder = user_data_folder(); !folder.empty()) places.push_back(folder / "treadle" / name);
  places.push_back(fs::path("/usr/share/datasets") / name);
  return places;
}

fs::path find_dataset(std::string_view name) {
  for (const auto& place : places_of(name))
    if (holds_dataset(place)) return place;
  return {};
}

std::vector<KnownDataset> known_datasets() {
  std::vector<KnownDataset> datasets = table();
  for (auto& dataset : datasets) {
    dataset.found = find_dataset(dataset.name);
    dataset.places = places_of(dataset.name);
  }
  return datasets;
}

}  // namespace treadle

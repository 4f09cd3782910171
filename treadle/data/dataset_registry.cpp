#include "treadle/data/dataset_registry.h"

#include "treadle/core/insert_at_place.h"

namespace treadle {

namespace datasets {
void register_all(DatasetRegistry& registry);  // generated from the files of sets/
}

void DatasetRegistry::add(DatasetDeclaration declaration) { insert_at_place(sets_, std::move(declaration)); }

void DatasetRegistry::add(DatasetFormat format) { insert_at_place(formats_, std::move(format)); }

const DatasetDeclaration* DatasetRegistry::find(std::string_view name) const {
  for (const DatasetDeclaration& set : sets_)
    if (set.name == name) return &set;
  return nullptr;
}

std::vector<std::string> DatasetRegistry::names() const {
  std::vector<std::string> names;
  for (const DatasetDeclaration& set : sets_) names.push_back(set.name);
  return names;
}

const DatasetFormat* DatasetRegistry::format_of(const std::filesystem::path& folder) const {
  const DatasetFormat* found = nullptr;
  for (const DatasetFormat& format : formats_)
    if ((!found || !format.only_set.empty()) && !format.find(folder).empty()) found = &format;
  return found;
}

std::string DatasetRegistry::expected_files() const {
  std::string text;
  for (const DatasetFormat& format : formats_) text += (text.empty() ? "" : ", or ") + format.files;
  return text;
}

const DatasetRegistry& dataset_registry() {
  static const DatasetRegistry registry = [] {
    DatasetRegistry all;
    datasets::register_all(all);
    return all;
  }();
  return registry;
}

}  // namespace treadle

#include "treadle/data/dataset_registry.h"

#include <charconv>

#include "treadle/core/error.h"
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

ChosenDataset DatasetRegistry::choose(std::string_view name) const {
  const size_t colon = name.find(':');
  const DatasetDeclaration* set = find(name.substr(0, colon));
  if (!set || colon == name.npos) return {set, set ? int64_t(set->classes.size()) : 0};
  const std::string_view number = name.substr(colon + 1);
  int64_t classes = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), classes);
  require<ValueError>(set->most_classes > 0, "{}: {} has {} classes, no other number can be asked for", name,
                      set->name, set->classes.size());
  require<ValueError>(error == std::errc() && end == number.data() + number.size() && classes >= 2 &&
                          classes <= set->most_classes,
                      "{}: {} can have 2 to {} classes, not '{}'", name, set->name, set->most_classes,
                      number);
  return {set, classes};
}

std::vector<std::string> DatasetRegistry::names() const {
  std::vector<std::string> names;
  for (const DatasetDeclaration& set : sets_) names.push_back(set.name);
  return names;
}

const DatasetFormat* DatasetRegistry::format_of(const std::filesystem::path& path) const {
  const DatasetFormat* found = nullptr;
  for (const DatasetFormat& format : formats_)
    if ((!found || !format.only_set.empty()) && !format.find(path).empty()) found = &format;
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

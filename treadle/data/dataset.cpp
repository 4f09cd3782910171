#include "treadle/data/dataset.h"

#include <algorithm>

#include "treadle/core/nearest_name.h"
#include "treadle/data/dataset_places.h"
#include "treadle/data/dataset_registry.h"
#include "treadle/data/file_names.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

/// Names "0", "1", … for every label up to the largest.
std::vector<std::string> numbered_classes(const std::vector<int32_t>& labels) {
  int count = 1 + *std::max_element(labels.begin(), labels.end());
  std::vector<std::string> classes;
  for (int i = 0; i < count; ++i) classes.push_back(std::to_string(i));
  return classes;
}

void check_split(const ImageDataset& dataset, const char* split) {
  for (int64_t i = 0; i < dataset.size(); ++i)
    require<FormatError>(size_t(dataset.labels[i]) < dataset.classes.size(),
                         "{}: label {} of the {} images is {}, there are {} classes", dataset.name, i, split,
                         dataset.labels[i], dataset.classes.size());
}

void check_images(const DatasetSplits& splits, const std::string& name) {
  const Shape &train = splits.train.image_shape, &test = splits.test.image_shape;
  require<FormatError>(train == test, "{}: training images are {}, test images {}", name, train, test);
  require<FormatError>(splits.train.size() > 0 && splits.test.size() > 0 && train.numel() > 0,
                       "{}: there are {} training and {} test images of {} pixels; none may be zero", name,
                       splits.train.size(), splits.test.size(), train.numel());
}

/// Gives both splits their name and classes, and checks that all fits together.
DatasetSplits named(DatasetSplits splits, const std::string& name) {
  check_images(splits, name);
  const DatasetDeclaration* known = dataset_registry().find(name);
  splits.train.name = splits.test.name = name;
  if (known)
    splits.train.classes = known->classes;
  else if (splits.train.classes.empty())
    splits.train.classes = numbered_classes(splits.train.labels);
  splits.test.classes = splits.train.classes;
  check_split(splits.train, "training");
  check_split(splits.test, "test");
  return splits;
}

/// The folder or file holds a data set, under whatever name.
DatasetSplits load_found(const fs::path& path, const std::string& name, const DatasetOptions& options) {
  const DatasetFormat* format = dataset_registry().format_of(path);
  return named(format->load(format->find(path), options), name);
}

std::string joined(const std::vector<fs::path>& paths) {
  std::string text;
  for (const auto& path : paths) text += (text.empty() ? "" : ", ") + path.string();
  return text;
}

DatasetSplits load_known(const ChosenDataset& chosen, const DatasetOptions& options) {
  const DatasetDeclaration& known = *chosen.set;
  if (known.make) return known.make(options.seed, chosen.classes);
  fs::path folder = find_dataset(known.name);
  require<DatasetAbsent>(!folder.empty(), "the data set {} is not in {}; to get it: {}", known.name,
                         joined(places_of(known.name)), known.how_to_get);
  return load_found(folder, known.name, options);
}

/// The folder's or file's own name, which may be a known set's, unless its files tell themselves.
std::string name_of(const fs::path& path) {
  const DatasetFormat* format = dataset_registry().format_of(path);
  const fs::path own = fs::canonical(path);
  if (!format->only_set.empty()) return format->only_set;
  return (is_folder(own) ? own.filename() : own.stem()).string();
}

/// Throws unless the path, which is no known name, is a folder or file that holds a data set.
void check_path(const fs::path& folder, std::string_view given) {
  std::error_code ignored;
  const bool known = dataset_registry().format_of(folder) != nullptr;
  require<ValueError>(known || !fs::exists(folder, ignored) || is_folder(folder),
                      "{} is a file; a data set is a folder that holds {}", given,
                      dataset_registry().expected_files());
  if (known) return;
  const bool looks_like_path = given.find('/') != std::string_view::npos;
  if (!is_folder(folder) && !looks_like_path)
    throw ValueError(unknown_name("there is no folder and no data set", given, dataset_registry().names()));
  require<DatasetAbsent>(is_folder(folder), "there is no folder {} to read a data set from; check the path",
                         given);
  throw DatasetAbsent(fmt::format("the folder {} holds no data set; expected are {}", given,
                                  dataset_registry().expected_files()));
}

}  // namespace

void require_whole(const ImageDataset& dataset) {
  const Shape& image = dataset.image_shape;
  const bool positive = std::all_of(image.begin(), image.end(), [](int64_t e) { return e > 0; });
  const bool fits = dataset.has_values() ? image.rank() > 0 && dataset.pixels.empty() : image.rank() == 3;
  require<ValueError>(
      fits && positive, "data set {}: images have shape {}, expected {}", dataset.name, image,
      dataset.has_values() ? "extents above 0, and no pixels beside the values" : "[C, H, W]");
  const int64_t expected = dataset.size() * checked_numel(image);
  const size_t found = dataset.has_values() ? dataset.values.size() : dataset.pixels.size();
  require<ValueError>(int64_t(found) == expected, "data set {}: {} images of shape {} have {} {}, not {}",
                      dataset.name, dataset.size(), image, expected,
                      dataset.has_values() ? "values" : "bytes", found);
}

DatasetSplits load_dataset(std::string_view name_or_folder, const DatasetOptions& options) {
  if (const ChosenDataset known = dataset_registry().choose(name_or_folder); known.set)
    return load_known(known, options);
  check_path(fs::path(name_or_folder), name_or_folder);
  return load_found(name_or_folder, name_of(name_or_folder), options);
}

std::vector<std::string> dataset_names() { return dataset_registry().names(); }

std::string lasting_name(const std::string& name_or_folder) {
  if (dataset_registry().choose(name_or_folder).set) return name_or_folder;
  std::error_code error;
  fs::path folder = fs::canonical(name_or_folder, error);
  return error ? name_or_folder : folder.string();
}

}  // namespace treadle

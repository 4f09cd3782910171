#include "treadle/data/dataset.h"

#include <algorithm>
#include <array>
#include <functional>

#include "treadle/core/nearest_name.h"
#include "treadle/core/parallel_for.h"
#include "treadle/data/cifar.h"
#include "treadle/data/idx.h"
#include "treadle/data/known_datasets.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

constexpr int kCifarTrainFiles = 5;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// The file `train-images` + idx3-ubyte or the like under any of its usual names; empty when there is none.
fs::path find_idx(const fs::path& folder, std::string_view stem, std::string_view kind) {
  for (char separator : {'-', '.'})
    for (const char* suffix : {"", ".gz"})
      if (fs::path path = folder / fmt::format("{}{}{}{}", stem, separator, kind, suffix); is_file(path))
        return path;
  return {};
}

IdxArray load_idx_of(const fs::path& folder, std::string_view stem, std::string_view kind, int rank) {
  fs::path path = find_idx(folder, stem, kind);
  require<DatasetAbsent>(!path.empty(),
                         "the data set in {} is incomplete: {}-{} (or .gz) is missing; copy it there",
                         folder.string(), stem, kind);
  IdxArray array = load_idx(path);
  require<FormatError>(array.shape.rank() == rank, "{}: the array has shape {}, expected are {} axes",
                       path.string(), array.shape, rank);
  return array;
}

ImageDataset idx_split(const fs::path& folder, std::string_view split, IdxArray images, IdxArray labels) {
  require<FormatError>(images.shape[0] == labels.shape[0], "{}: the {} files hold {} images and {} labels",
                       folder.string(), split, images.shape[0], labels.shape[0]);
  ImageDataset dataset;
  dataset.image_shape = {1, images.shape[1], images.shape[2]};
  dataset.pixels = std::move(images.values);
  dataset.labels = std::move(labels.values);
  return dataset;
}

/// Reads the four files side by side: unpacking the training images takes as long as all the rest.
DatasetSplits load_idx_folder(const fs::path& folder) {
  IdxArray train_images, train_labels, test_images, test_labels;
  const std::array<std::function<void()>, 3> jobs = {
      [&] { train_images = load_idx_of(folder, "train-images", "idx3-ubyte", 3); },
      [&] { test_images = load_idx_of(folder, "t10k-images", "idx3-ubyte", 3); },
      [&] {
        train_labels = load_idx_of(folder, "train-labels", "idx1-ubyte", 1);
        test_labels = load_idx_of(folder, "t10k-labels", "idx1-ubyte", 1);
      }};
  parallel_for(int64_t(jobs.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) jobs[size_t(i)]();
  });
  return {idx_split(folder, "train", std::move(train_images), std::move(train_labels)),
          idx_split(folder, "t10k", std::move(test_images), std::move(test_labels)),
          {}};
}

void append_cifar(ImageDataset& dataset, const fs::path& path) {
  require<DatasetAbsent>(is_file(path), "the data set is incomplete: {} is missing; copy it there",
                         path.string());
  CifarRecords records = load_cifar10(path);
  dataset.image_shape = {3, 32, 32};
  dataset.pixels.insert(dataset.pixels.end(), records.pixels.begin(), records.pixels.end());
  dataset.labels.insert(dataset.labels.end(), records.labels.begin(), records.labels.end());
}

DatasetSplits load_cifar_folder(const fs::path& folder) {
  DatasetSplits splits;
  splits.train.pixels.reserve(50000 * kCifarPixels);
  for (int i = 1; i <= kCifarTrainFiles; ++i)
    append_cifar(splits.train, folder / fmt::format("data_batch_{}.bin", i));
  append_cifar(splits.test, folder / "test_batch.bin");
  return splits;
}

/// The folder itself or the one inside it that the official archive unpacks to; empty when neither holds
/// CIFAR-10.
fs::path cifar_folder(const fs::path& folder) {
  for (const fs::path& candidate : {folder, folder / "cifar-10-batches-bin"})
    if (is_file(candidate / "data_batch_1.bin")) return candidate;
  return {};
}

/// Names "0", "1", … for every label up to the largest.
std::vector<std::string> numbered_classes(const std::vector<uint8_t>& labels) {
  int count = 1 + *std::max_element(labels.begin(), labels.end());
  std::vector<std::string> classes;
  for (int i = 0; i < count; ++i) classes.push_back(std::to_string(i));
  return classes;
}

void check_split(const ImageDataset& dataset, const char* split) {
  for (int64_t i = 0; i < dataset.size(); ++i)
    require<FormatError>(dataset.labels[i] < dataset.classes.size(),
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
  const KnownDataset* known = known_dataset(name);
  splits.train.name = splits.test.name = name;
  splits.train.classes = known ? known->classes : numbered_classes(splits.train.labels);
  splits.test.classes = splits.train.classes;
  check_split(splits.train, "training");
  check_split(splits.test, "test");
  return splits;
}

DatasetSplits load_folder(const fs::path& folder, const std::string& name) {
  if (fs::path cifar = cifar_folder(folder); !cifar.empty()) return named(load_cifar_folder(cifar), name);
  return named(load_idx_folder(folder), name);
}

std::string joined(const std::vector<fs::path>& paths) {
  std::string text;
  for (const auto& path : paths) text += (text.empty() ? "" : ", ") + path.string();
  return text;
}

DatasetSplits load_known(const KnownDataset& known) {
  fs::path folder = find_dataset(known.name);
  require<DatasetAbsent>(!folder.empty(), "the data set {} is not in {}; to get it: {}", known.name,
                         joined(places_of(known.name)), known.how_to_get);
  return load_folder(folder, known.name);
}

/// The folder's own name, which may be a known set's; CIFAR-10's files tell themselves.
std::string name_of_folder(const fs::path& folder) {
  if (!cifar_folder(folder).empty()) return "cifar-10";
  return fs::canonical(folder).filename().string();
}

constexpr std::string_view kExpectedFiles =
    "train-images-idx3-ubyte (or .gz) and its three companions, or data_batch_1.bin to data_batch_5.bin and "
    "test_batch.bin";

/// Throws unless the folder, given by its path and not as a known name, is one and holds a data set.
void check_folder(const fs::path& folder, std::string_view given) {
  std::error_code ignored;
  require<ValueError>(!fs::exists(folder, ignored) || is_folder(folder),
                      "{} is a file; a data set is a folder that holds {}", given, kExpectedFiles);
  const bool looks_like_path = given.find('/') != std::string_view::npos;
  if (!is_folder(folder) && !looks_like_path)
    throw ValueError(unknown_name("there is no folder and no data set", given, dataset_names()));
  require<DatasetAbsent>(is_folder(folder), "there is no folder {} to read a data set from; check the path",
                         given);
  require<DatasetAbsent>(holds_dataset(folder), "the folder {} holds no data set; expected are {}", given,
                         kExpectedFiles);
}

}  // namespace

bool holds_dataset(const fs::path& folder) {
  return !find_idx(folder, "train-images", "idx3-ubyte").empty() || !cifar_folder(folder).empty();
}

void require_whole(const ImageDataset& dataset) {
  const Shape& image = dataset.image_shape;
  require<ValueError>(
      image.rank() == 3 && std::all_of(image.begin(), image.end(), [](int64_t e) { return e > 0; }),
      "data set {}: images have shape {}, expected [C, H, W]", dataset.name, image);
  const int64_t expected = dataset.size() * checked_numel(image);
  require<ValueError>(int64_t(dataset.pixels.size()) == expected,
                      "data set {}: {} images of shape {} have {} bytes, not {}", dataset.name,
                      dataset.size(), image, expected, dataset.pixels.size());
}

DatasetSplits load_dataset(std::string_view name_or_folder) {
  if (const KnownDataset* known = known_dataset(name_or_folder)) return load_known(*known);
  check_folder(fs::path(name_or_folder), name_or_folder);
  return load_folder(name_or_folder, name_of_folder(name_or_folder));
}

std::string lasting_name(const std::string& name_or_folder) {
  if (known_dataset(name_or_folder)) return name_or_folder;
  std::error_code error;
  fs::path folder = fs::canonical(name_or_folder, error);
  return error ? name_or_folder : folder.string();
}

}  // namespace treadle

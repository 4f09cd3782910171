#include <algorithm>

#include "treadle/core/parallel_for.h"
#include "treadle/data/dataset_registry.h"
#include "treadle/data/file_names.h"
#include "treadle/data/hold_out.h"
#include "treadle/formats/image.h"

namespace treadle::datasets {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

bool is_image_file(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) { return c | 0x20; });
  return (extension == ".png" || extension == ".jpg" || extension == ".jpeg") && !is_hidden(path) &&
         is_file(path);
}

/// What lies in a folder and is wanted, sorted by name; nothing where it cannot be looked at.
template <class Wanted>
std::vector<fs::path> sorted_entries(const fs::path& folder, Wanted wanted) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored))
    if (wanted(entry->path())) found.push_back(entry->path());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> class_folders(const fs::path& folder) {
  return sorted_entries(folder, [](const fs::path& path) { return is_folder(path) && !is_hidden(path); });
}

bool holds_classes(const fs::path& folder) {
  const std::vector<fs::path> folders = class_folders(folder);
  return std::any_of(folders.begin(), folders.end(),
                     [](const fs::path& path) { return !sorted_entries(path, is_image_file).empty(); });
}

fs::path find(const fs::path& folder) {
  return holds_classes(folder / "train") || holds_classes(folder) ? folder : fs::path();
}

/// An image file and its class.
struct LabelledFile {
  fs::path path;
  int32_t label = 0;
};

/// The files of DIR/CLASS/*, whose classes must be among those given.
std::vector<LabelledFile> files_of(const fs::path& folder, const std::vector<std::string>& classes) {
  std::vector<LabelledFile> files;
  for (const fs::path& class_folder : class_folders(folder)) {
    const std::string name = class_folder.filename().string();
    const auto found = std::find(classes.begin(), classes.end(), name);
    require<FormatError>(found != classes.end(), "{}: there is no class {} among the training images",
                         class_folder.string(), name);
    const std::vector<fs::path> images = sorted_entries(class_folder, is_image_file);
    require<FormatError>(!images.empty(),
                         "{} holds no image, PNG or JPEG; a class without images is a mistake",
                         class_folder.string());
    for (const fs::path& image : images) files.push_back({image, int32_t(found - classes.begin())});
  }
  return files;
}

std::vector<std::string> names_of(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) names.push_back(folder.filename().string());
  return names;
}

/// [C, H, W] as the options say, else as the first image has.
Shape shape_of(const LabelledFile& first, const DatasetOptions& options) {
  require<ValueError>(
      options.height >= 0 && options.width >= 0 && (options.height > 0) == (options.width > 0),
      "images of {} x {} pixels: both must be above 0, or both 0", options.height, options.width);
  require<ValueError>(options.channels == 0 || options.channels == 1 || options.channels == 3,
                      "images have 1 or 3 channels, not {}", options.channels);
  if (options.height > 0 && options.channels > 0) return {options.channels, options.height, options.width};
  const Image image = load_image(first.path);
  return {options.channels > 0 ? options.channels : image.channels,
          options.height > 0 ? options.height : image.height,
          options.height > 0 ? options.width : image.width};
}

/// The largest sets of images that are held in memory, in bytes.
constexpr int64_t kMostBytes = int64_t(64) << 30;

ImageDataset load_images(const std::vector<LabelledFile>& files, const Shape& shape) {
  ImageDataset part;
  part.image_shape = shape;
  const int64_t image_bytes = checked_numel(shape), count = int64_t(files.size());
  require<FormatError>(count <= kMostBytes / image_bytes,
                       "{} images of {} take more than {} bytes; give a smaller size", count, shape,
                       kMostBytes);
  part.pixels.resize(size_t(count * image_bytes));
  for (const LabelledFile& file : files) part.labels.push_back(file.label);
  parallel_for_each(count, num_threads(), [&](int64_t, int64_t i) {
    const Image image = with_channels(load_image(files[size_t(i)].path), int(shape[0]));
    const std::vector<uint8_t> planes = planes_of(resize_bilinear(image, int(shape[2]), int(shape[1])));
    std::copy(planes.begin(), planes.end(), part.pixels.begin() + i * image_bytes);
  });
  return part;
}

DatasetSplits load(const fs::path& folder, const DatasetOptions& options) {
  const bool has_parts = holds_classes(folder / "train");
  const fs::path train = has_parts ? folder / "train" : folder, test = folder / "test";
  DatasetSplits splits;
  const std::vector<std::string> classes = names_of(class_folders(train));
  const std::vector<LabelledFile> files = files_of(train, classes);
  const Shape shape = shape_of(files.front(), options);
  splits.train = load_images(files, shape);
  splits.train.classes = classes;
  if (has_parts && is_folder(test))
    splits.test = load_images(files_of(test, classes), shape);
  else
    hold_out_test(splits, kTestShare, options.seed);
  return splits;
}

}  // namespace

/// Images in a folder for each class.
void register_image_folder(DatasetRegistry& registry) {
  registry.add({.place = 3,
                .files = "images as train/CLASS/* and test/CLASS/*, or as CLASS/*",
                .find = find,
                .load = load});
}

}  // namespace treadle::datasets

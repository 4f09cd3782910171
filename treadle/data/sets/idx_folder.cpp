#include <array>

#include "treadle/core/parallel_for.h"
#include "treadle/data/dataset_registry.h"
#include "treadle/data/file_names.h"
#include "treadle/data/idx.h"

namespace treadle::datasets {
namespace {

namespace fs = std::filesystem;

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
  dataset.labels.assign(labels.values.begin(), labels.values.end());
  return dataset;
}

/// Reads the four files side by side: unpacking the training images takes as long as all the rest.
DatasetSplits load(const fs::path& folder, const DatasetOptions&) {
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

fs::path find(const fs::path& folder) {
  return find_idx(folder, "train-images", "idx3-ubyte").empty() ? fs::path() : folder;
}

}  // namespace

/// Four IDX files, as MNIST and its kin have them.
void register_idx_folder(DatasetRegistry& registry) {
  registry.add({.place = 1,
                .files = "train-images-idx3-ubyte (or .gz) and its three companions",
                .find = find,
                .load = load});
}

}  // namespace treadle::datasets

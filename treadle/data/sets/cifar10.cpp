#include "treadle/data/cifar.h"
#include "treadle/data/dataset_registry.h"
#include "treadle/data/file_names.h"

namespace treadle::datasets {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "cifar-10";
constexpr int kTrainFiles = 5;

/// The official archive unpacks to a folder inside the one that it is unpacked in.
fs::path find(const fs::path& folder) {
  for (const fs::path& candidate : {folder, folder / "cifar-10-batches-bin"})
    if (is_file(candidate / "data_batch_1.bin")) return candidate;
  return {};
}

void append(ImageDataset& dataset, const fs::path& path) {
  require<DatasetAbsent>(is_file(path), "the data set is incomplete: {} is missing; copy it there",
                         path.string());
  CifarRecords records = load_cifar10(path);
  dataset.image_shape = {3, 32, 32};
  dataset.pixels.insert(dataset.pixels.end(), records.pixels.begin(), records.pixels.end());
  dataset.labels.insert(dataset.labels.end(), records.labels.begin(), records.labels.end());
}

DatasetSplits load(const fs::path& folder, const DatasetOptions&) {
  DatasetSplits splits;
  splits.train.pixels.reserve(50000 * kCifarPixels);
  for (int i = 1; i <= kTrainFiles; ++i) append(splits.train, folder / fmt::format("data_batch_{}.bin", i));
  append(splits.test, folder / "test_batch.bin");
  return splits;
}

}  // namespace

/// Krizhevsky: "Learning Multiple Layers of Features from Tiny Images", 2009; the binary version.
void register_cifar10(DatasetRegistry& registry) {
  registry.add(
      {.place = 3,
       .name = kName,
       .description = "60,000 colour images of animals and vehicles, 32 x 32",
       .classes = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
       .how_to_get = "`treadle datasets get cifar-10`, or unpack the binary version from "
                     "https://www.cs.toronto.edu/~kriz/cifar.html into one of these folders",
       .mirrors = {"https://www.cs.toronto.edu/~kriz/"},
       .files = {{"cifar-10-binary.tar.gz"}},
       .members = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                   "data_batch_5.bin", "test_batch.bin"}});
  registry.add({.place = 2,
                .files = "data_batch_1.bin to data_batch_5.bin and test_batch.bin",
                .find = find,
                .load = load,
                .only_set = kName});
}

}  // namespace treadle::datasets

#include "treadle/data/dataset.h"

#include <cstdlib>
#include <optional>

#include "tests/data/sample_files.h"
#include "tests/formats/temporary_folder.h"
#include "treadle/data/dataset_places.h"
#include "treadle/data/dataset_registry.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

/// Sets an environment variable and restores it at the end of the scope.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~EnvironmentVariable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Four training and three test images of 2 x 3 pixels with labels below `classes`.
void write_idx_set(const fs::path& folder, int classes = 4) {
  fs::create_directories(folder);
  write_bytes(folder / "train-images-idx3-ubyte", idx_bytes({4, 2, 3}));
  write_bytes(folder / "train-labels-idx1-ubyte", idx_bytes({4}, classes));
  write_bytes(folder / "t10k-images-idx3-ubyte", idx_bytes({3, 2, 3}));
  write_bytes(folder / "t10k-labels-idx1-ubyte", idx_bytes({3}, classes));
}

void write_cifar_set(const fs::path& folder) {
  fs::create_directories(folder);
  for (char i = 1; i <= 5; ++i)
    write_bytes(folder / ("data_batch_" + std::to_string(i) + ".bin"),
                std::string(1, i) + std::string(3072, char(10 * i)));
  write_bytes(folder / "test_batch.bin", std::string(1, 7) + std::string(3072, 'x'));
}

TEST(Dataset, ReadsAFolderOfIdxFiles) {
  TemporaryFolder folder;
  write_idx_set(folder / "own");
  DatasetSplits splits = load_dataset((folder / "own/").string());
  EXPECT_EQ(splits.train.name, "own");
  EXPECT_EQ(splits.train.size(), 4);
  EXPECT_EQ(splits.test.size(), 3);
  EXPECT_EQ(splits.train.image_shape, (Shape{1, 2, 3}));
  EXPECT_EQ(splits.train.pixels.size(), 24u);
  EXPECT_EQ(splits.train.pixels[23], 23);
  EXPECT_EQ(splits.test.labels, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(splits.train.classes, (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_EQ(splits.test.classes, splits.train.classes);
}

TEST(Dataset, ReadsTheOtherNamesOfIdxFiles) {
  TemporaryFolder folder;
  write_bytes(folder / "train-images.idx3-ubyte", idx_bytes({4, 2, 3}));
  write_bytes(folder / "train-labels.idx1-ubyte.gz", gzip(idx_bytes({4})));
  write_bytes(folder / "t10k-images-idx3-ubyte.gz", gzip(idx_bytes({3, 2, 3})));
  write_bytes(folder / "t10k-labels-idx1-ubyte", idx_bytes({3}));
  EXPECT_EQ(load_dataset(folder.path().string()).test.size(), 3);
}

TEST(Dataset, ReadsCifarFolders) {
  TemporaryFolder folder;
  write_cifar_set(folder / "plain");
  write_cifar_set(folder / "unpacked/cifar-10-batches-bin");
  for (const char* name : {"plain", "unpacked"}) {
    DatasetSplits splits = load_dataset((folder / name).string());
    EXPECT_EQ(splits.train.name, "cifar-10");
    EXPECT_EQ(splits.train.image_shape, (Shape{3, 32, 32}));
    EXPECT_EQ(splits.train.labels, (std::vector<int32_t>{1, 2, 3, 4, 5}));
    EXPECT_EQ(splits.train.pixels[3072], 20);
    EXPECT_EQ(splits.train.classes[7], "horse");
    EXPECT_EQ(splits.test.labels, std::vector<int32_t>{7});
  }
}

TEST(Dataset, NamesAreLookedForInOrder) {
  TemporaryFolder folder;
  EnvironmentVariable own("TREADLE_DATA", (folder / "own").string());
  EnvironmentVariable xdg("XDG_DATA_HOME", (folder / "xdg").string());
  write_idx_set(folder / "xdg/treadle/mnist", 3);
  EXPECT_EQ(load_dataset("mnist").train.labels[3], 0);
  write_idx_set(folder / "own/mnist", 4);
  EXPECT_EQ(load_dataset("mnist").train.labels[3], 3);
  EXPECT_EQ(load_dataset("mnist").train.classes.size(), 10u);
}

/// Label by label, as the authors of Fashion-MNIST and CIFAR-10 list them.
TEST(Dataset, ClassesHaveTheirAuthorsOrder) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(dataset_registry().find("fashion-mnist")->classes,
            (Names{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
                   "Ankle boot"}));
  EXPECT_EQ(
      dataset_registry().find("cifar-10")->classes,
      (Names{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}));
}

TEST(Dataset, TheSystemsFolderComesLast) {
  EnvironmentVariable own("TREADLE_DATA", "/own");
  EnvironmentVariable xdg("XDG_DATA_HOME", "/xdg");
  EXPECT_EQ(places_of("mnist"),
            (std::vector<fs::path>{"/own/mnist", "/xdg/treadle/mnist", "/usr/share/datasets/mnist"}));
}

TEST(Dataset, HomeIsUsedWithoutXdg) {
  TemporaryFolder folder;
  EnvironmentVariable own("TREADLE_DATA", "");
  EnvironmentVariable xdg("XDG_DATA_HOME", "");
  EnvironmentVariable home("HOME", folder.path().string());
  write_idx_set(folder / ".local/share/treadle/mnist");
  EXPECT_EQ(load_dataset("mnist").train.size(), 4);
}

TEST(Dataset, AbsentSetsSayWhereTheyWereLookedForAndHowToGetThem) {
  TemporaryFolder folder;
  EnvironmentVariable own("TREADLE_DATA", (folder / "own").string());
  EnvironmentVariable xdg("XDG_DATA_HOME", (folder / "xdg").string());
  expect_error<DatasetAbsent>(
      [] { load_dataset("cifar-10"); },
      {(folder / "own/cifar-10").string(), (folder / "xdg/treadle/cifar-10").string(),
       "/usr/share/datasets/cifar-10", "https://www.cs.toronto.edu/~kriz/cifar.html"});
  expect_error<DatasetAbsent>([&] { load_dataset((folder / "nowhere").string()); }, {"no folder", "nowhere"});
  expect_error<DatasetAbsent>([&] { load_dataset(folder.path().string()); },
                              {folder.path().string(), "holds no data set", "train-images-idx3-ubyte"});
  expect_error<ValueError>([] { load_dataset("mnost"); }, {"'mnost'", "fashion-mnist, mnist, cifar-10"});
}

TEST(Dataset, MissingCompanionsAreNamed) {
  TemporaryFolder folder;
  write_idx_set(folder / "own");
  fs::remove(folder / "own/t10k-labels-idx1-ubyte");
  expect_error<DatasetAbsent>([&] { load_dataset((folder / "own").string()); },
                              {"t10k-labels-idx1-ubyte", "missing"});
  write_cifar_set(folder / "cifar");
  fs::remove(folder / "cifar/data_batch_4.bin");
  expect_error<DatasetAbsent>([&] { load_dataset((folder / "cifar").string()); },
                              {"data_batch_4.bin", "missing"});
}

TEST(Dataset, RefusesPartsThatDoNotFitTogether) {
  TemporaryFolder folder;
  fs::path own = folder / "own";
  auto load = [&] { load_dataset(own.string()); };
  write_idx_set(own);
  write_bytes(own / "train-labels-idx1-ubyte", idx_bytes({5}));
  expect_error<FormatError>(load, {own.string(), "4 images and 5 labels"});
  write_bytes(own / "train-labels-idx1-ubyte", idx_bytes({3}));
  expect_error<FormatError>(load, {own.string(), "4 images and 3 labels"});
  write_idx_set(own);
  write_bytes(own / "t10k-images-idx3-ubyte", idx_bytes({3, 3, 2}));
  expect_error<FormatError>(load, {"[1, 2, 3]", "[1, 3, 2]"});
  write_idx_set(own);
  write_bytes(own / "train-images-idx3-ubyte", idx_bytes({4, 6}));
  expect_error<FormatError>(load, {"train-images-idx3-ubyte", "[4, 6]", "3 axes"});
  write_idx_set(own);
  write_bytes(own / "t10k-images-idx3-ubyte", idx_bytes({0, 2, 3}));
  write_bytes(own / "t10k-labels-idx1-ubyte", idx_bytes({0}));
  expect_error<FormatError>(load, {"4 training and 0 test images"});
}

TEST(Dataset, RefusesLabelsBeyondTheClasses) {
  TemporaryFolder folder;
  write_idx_set(folder / "own", 2);
  write_bytes(folder / "own/t10k-labels-idx1-ubyte", idx_bytes({3}));
  expect_error<FormatError>([&] { load_dataset((folder / "own").string()); },
                            {"label 2 of the test images is 2", "2 classes"});
  write_idx_set(folder / "mnist");
  write_bytes(folder / "mnist/train-labels-idx1-ubyte", idx_header({4}) + "\x01\x02\x03\x0a");
  expect_error<FormatError>([&] { load_dataset((folder / "mnist").string()); },
                            {"label 3 of the training images is 10", "10 classes"});
}

TEST(Dataset, KnownSetsAreListed) {
  TemporaryFolder folder;
  EnvironmentVariable own("TREADLE_DATA", folder.path().string());
  EnvironmentVariable xdg("XDG_DATA_HOME", (folder / "none").string());
  write_idx_set(folder / "mnist");
  auto sets = known_datasets();
  ASSERT_EQ(sets.size(), dataset_registry().sets().size());
  ASSERT_GE(sets.size(), 3u);
  for (const auto& set : sets) {
    EXPECT_FALSE(set.description.empty() || set.classes.empty());
    EXPECT_EQ(set.how_to_get.empty(), set.made) << set.name;
    EXPECT_EQ(set.places.empty(), set.made) << set.name;
  }
  EXPECT_TRUE(sets[0].how_to_get.starts_with("apt install dataset-fashion-mnist"));
  EXPECT_EQ(sets[1].name, "mnist");
  EXPECT_EQ(sets[1].found, folder / "mnist");
}

TEST(Dataset, FashionMnistOfTheSystem) {
  if (!fs::exists("/usr/share/datasets/fashion-mnist"))
    GTEST_SKIP() << "the package dataset-fashion-mnist is not installed";
  EnvironmentVariable own("TREADLE_DATA", "");
  EnvironmentVariable xdg("XDG_DATA_HOME", "/nonexistent");
  DatasetSplits splits = load_dataset("fashion-mnist");
  EXPECT_EQ(splits.train.size(), 60000);
  EXPECT_EQ(splits.test.size(), 10000);
  EXPECT_EQ(splits.train.image_shape, (Shape{1, 28, 28}));
  EXPECT_EQ(splits.test.classes[9], "Ankle boot");
  std::vector<int> count(10);
  for (int32_t label : splits.train.labels) ++count[label];
  EXPECT_EQ(count, std::vector<int>(10, 6000));
  // The published mean of the training pixels, 0.2860, as everybody normalises with.
  double sum = 0;
  for (uint8_t pixel : splits.train.pixels) sum += pixel;
  EXPECT_NEAR(sum / 255 / double(splits.train.pixels.size()), 0.2860, 0.00005);
}

}  // namespace
}  // namespace treadle

/// Data sets of users' own files: folders of images, arrays and tables.
#include <algorithm>
#include <numeric>

#include "tests/formats/temporary_folder.h"
#include "tests/refused.h"
#include "treadle/data/dataset.h"
#include "treadle/data/fingerprint.h"
#include "treadle/formats/image.h"
#include "treadle/formats/npy.h"

namespace treadle {
namespace own_files {
namespace {

namespace fs = std::filesystem;

/// A grey image of one value, or of the colour (value, value + 1, value + 2).
void write_image(const fs::path& path, uint8_t value, int width = 4, int height = 3, int channels = 1) {
  fs::create_directories(path.parent_path());
  Image image{width, height, channels, std::vector<uint8_t>(size_t(width * height * channels))};
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = uint8_t(value + i % size_t(channels));
  save_png(path, image);
}

/// train/ with cats of 10 and dogs of 20, test/ with a dog of 30.
void write_parts(const fs::path& folder) {
  write_image(folder / "train/dog/b.png", 20), write_image(folder / "train/dog/a.PNG", 21);
  write_image(folder / "train/cat/z.png", 10);
  write_image(folder / "test/dog/1.png", 30), write_image(folder / "test/cat/1.png", 31);
}

std::vector<uint8_t> first_pixels(const ImageDataset& part) {
  std::vector<uint8_t> found;
  for (int64_t i = 0; i < part.size(); ++i)
    found.push_back(part.pixels[size_t(i * part.image_shape.numel())]);
  return found;
}

TEST(ImageFolder, PartsAndClassesAreFolders) {
  TemporaryFolder folder;
  write_parts(folder / "pets");
  write_bytes(folder / "pets/train/dog/notes.txt", "no image");
  write_bytes(folder / "pets/train/dog/.hidden.png", "no image");
  const DatasetSplits splits = load_dataset((folder / "pets").string());
  EXPECT_EQ(splits.train.name, "pets");
  EXPECT_EQ(splits.train.classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(splits.train.image_shape, (Shape{1, 3, 4}));
  EXPECT_EQ(first_pixels(splits.train), (std::vector<uint8_t>{10, 21, 20}));
  EXPECT_EQ(splits.train.labels, (std::vector<int32_t>{0, 1, 1}));
  EXPECT_EQ(first_pixels(splits.test), (std::vector<uint8_t>{31, 30}));
  EXPECT_EQ(splits.test.labels, (std::vector<int32_t>{0, 1}));
}

TEST(ImageFolder, ImagesAreScaledToOneSize) {
  TemporaryFolder folder;
  write_parts(folder / "pets");
  write_image(folder / "pets/train/dog/c.png", 22, 9, 9, 3);
  const std::string pets = (folder / "pets").string();
  const DatasetSplits as_first = load_dataset(pets),
                      given = load_dataset(pets, {.height = 5, .width = 6, .channels = 3});
  EXPECT_EQ(as_first.train.image_shape, (Shape{1, 3, 4}));
  EXPECT_EQ(given.train.image_shape, (Shape{3, 5, 6}));
  require_whole(given.train), require_whole(given.test);
  // The coloured image is the last: its planes lie one behind the other.
  for (size_t channel = 0; channel < 3; ++channel)
    EXPECT_EQ(given.train.pixels[3 * 90 + channel * 30], 22 + channel);
  EXPECT_EQ(given.train.pixels[0], 10);
  EXPECT_EQ(given.train.pixels[60], 10);
}

TEST(ImageFolder, WithoutPartsTheSeedDrawsTheTest) {
  TemporaryFolder folder;
  for (int i = 0; i < 20; ++i) {
    write_image(folder / fmt::format("own/b/{:02}.png", i), uint8_t(i));
    write_image(folder / fmt::format("own/a/{:02}.png", i), uint8_t(100 + i));
  }
  const std::string own = (folder / "own").string();
  const DatasetSplits splits = load_dataset(own, {.seed = 4});
  EXPECT_EQ(splits.train.size(), 32);
  EXPECT_EQ(splits.test.size(), 8);
  std::vector<uint8_t> all = first_pixels(splits.train), test = first_pixels(splits.test);
  for (size_t i = 0; i < test.size(); ++i) EXPECT_EQ(splits.test.labels[i], test[i] < 100);
  all.insert(all.end(), test.begin(), test.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()) - all.begin(), 40);
  EXPECT_EQ(fingerprint(load_dataset(own, {.seed = 4})), fingerprint(splits));
  EXPECT_NE(fingerprint(load_dataset(own, {.seed = 5})), fingerprint(splits));
}

/// More classes than a byte can count.
TEST(ImageFolder, ManyClasses) {
  TemporaryFolder folder;
  for (int i = 0; i < 300; ++i)
    write_image(folder / fmt::format("own/{:03}/x.png", i), uint8_t(i % 256), 1, 1);
  const DatasetSplits splits = load_dataset((folder / "own").string());
  EXPECT_EQ(splits.train.classes.size(), 300u);
  EXPECT_GE(*std::max_element(splits.train.labels.begin(), splits.train.labels.end()), 256);
  for (int64_t i = 0; i < splits.train.size(); ++i)
    EXPECT_EQ(splits.train.pixels[size_t(i)], splits.train.labels[size_t(i)] % 256);
}

TEST(ImageFolder, RefusalsNameThePath) {
  TemporaryFolder folder;
  const fs::path own = folder / "own";
  auto load = [&](DatasetOptions options = {}) { return [=] { load_dataset(own.string(), options); }; };
  write_parts(own);
  expect_refused({
      refused<ValueError>("channels", {"not 2"}, load({.channels = 2})),
      refused<ValueError>("height alone", {"5 x 0"}, load({.height = 5})),
      refused<ValueError>("negative", {"-1 x -1"}, load({.height = -1, .width = -1})),
  });
  write_bytes(own / "train/dog/c.jpg", "no JPEG");
  expect_error<FormatError>(load(), {(own / "train/dog/c.jpg").string(), "neither PNG nor JPEG"});
  fs::remove(own / "train/dog/c.jpg");
  fs::create_directories(own / "train/emu");
  expect_error<FormatError>(load(), {(own / "train/emu").string(), "no image"});
  fs::remove(own / "train/emu");
  write_image(own / "test/emu/1.png", 1);
  expect_error<FormatError>(load(), {(own / "test/emu").string(), "no class emu"});
}

Tensor counting(const Shape& shape, DType dtype) {
  Tensor tensor = Tensor::zeros(shape, dtype);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    if (dtype == DType::u8) tensor.data<uint8_t>()[i] = uint8_t(i);
    if (dtype == DType::f64) tensor.data<double>()[i] = double(i) / 2;
    if (dtype == DType::i64) tensor.data<int64_t>()[i] = i % 3;
  }
  return tensor;
}

class Arrays : public testing::Test {
 protected:
  DatasetSplits load(const std::vector<NamedArray>& arrays, const DatasetOptions& options = {}) {
    save_npz(folder_ / "set.npz", arrays);
    return load_dataset((folder_ / "set.npz").string(), options);
  }
  std::function<void()> loading(std::vector<NamedArray> arrays) {
    return [this, arrays] { load(arrays); };
  }

  TemporaryFolder folder_;
};

TEST_F(Arrays, BytesOfThreeAxesAreGreyImages) {
  const DatasetSplits splits = load({{"x_train", counting({4, 2, 3}, DType::u8)},
                                     {"y_train", counting({4}, DType::i64)},
                                     {"x_test", counting({2, 2, 3}, DType::u8)},
                                     {"y_test", counting({2}, DType::i64)}});
  EXPECT_EQ(splits.train.name, "set");
  EXPECT_EQ(splits.train.image_shape, (Shape{1, 2, 3}));
  EXPECT_EQ(splits.train.pixels[23], 23);
  EXPECT_EQ(splits.train.labels, (std::vector<int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(splits.train.classes, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(splits.test.size(), 2);
  EXPECT_EQ(load_dataset(folder_.path().string()).train.size(), 4);
}

TEST_F(Arrays, ColoursMayBeLastOrSecond) {
  const Tensor y = counting({5}, DType::i64);
  const DatasetSplits last = load({{"x_train", counting({5, 2, 4, 3}, DType::u8)}, {"y_train", y}});
  EXPECT_EQ(last.train.image_shape, (Shape{3, 2, 4}));
  EXPECT_EQ(last.train.pixels[8], last.train.pixels[0] + 1);
  const DatasetSplits second = load({{"x_train", counting({5, 3, 2, 4}, DType::u8)}, {"y_train", y}});
  EXPECT_EQ(second.train.image_shape, (Shape{3, 2, 4}));
  EXPECT_EQ(second.train.pixels[8], second.train.pixels[0] + 8);
}

TEST_F(Arrays, OtherNumbersAreValues) {
  const DatasetSplits splits = load(
      {{"x_train", counting({10, 4}, DType::f64)}, {"y_train", counting({10, 1}, DType::i64)}}, {.seed = 1});
  EXPECT_EQ(splits.train.image_shape, (Shape{4}));
  EXPECT_EQ(splits.train.size(), 8);
  EXPECT_EQ(splits.test.size(), 2);
  EXPECT_EQ(splits.train.values[1], splits.train.values[0] + 0.5f);
  EXPECT_EQ(load({{"x_train", counting({10, 4}, DType::u8)}, {"y_train", counting({10}, DType::i64)}})
                .train.image_shape,
            (Shape{4}));
}

TEST_F(Arrays, RefusalsNameBothSides) {
  const Tensor x = counting({10, 4}, DType::f64), y = counting({10}, DType::i64);
  Tensor infinite = counting({10, 4}, DType::f64), negative = counting({10}, DType::i64);
  infinite.data<double>()[7] = 1e300, negative.data<int64_t>()[2] = -1;
  expect_refused({
      refused<FormatError>("no labels", {"set.npz", "lacks the array y_train"}, loading({{"x_train", x}})),
      refused<FormatError>("no examples", {"lacks the array x_train"}, loading({{"y_train", y}})),
      refused<FormatError>("half a test", {"lacks the array y_test"},
                           loading({{"x_train", x}, {"y_train", y}, {"x_test", x}})),
      refused<FormatError>("one axis", {"[10]", "two axes"}, loading({{"x_train", y}, {"y_train", y}})),
      refused<FormatError>("numbers", {"y_train", "[9]", "[10]"},
                           loading({{"x_train", x}, {"y_train", counting({9}, DType::i64)}})),
      refused<FormatError>("broken labels", {"y_train", "f64", "whole numbers"},
                           loading({{"x_train", x}, {"y_train", counting({10}, DType::f64)}})),
      refused<FormatError>("negative label", {"label 2 is -1"},
                           loading({{"x_train", x}, {"y_train", negative}})),
      refused<FormatError>("infinite", {"x_train: element 7"},
                           loading({{"x_train", infinite}, {"y_train", y}})),
  });
}

class Tables : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    write_bytes(folder_ / name, text);
    return (folder_ / name).string();
  }
  /// Loads train.csv with these contents, and the same as test.csv.
  DatasetSplits load(const std::string& text, const DatasetOptions& options = {}) {
    write("train.csv", text), write("test.csv", text);
    return load_dataset(folder_.path().string(), options);
  }

  TemporaryFolder folder_;
};

TEST_F(Tables, NamesOfColumnsChooseTheLabel) {
  const std::string text = "x,Label,y\n1,b,2\n3,a,4\n5,b,6\n";
  const DatasetSplits splits = load(text);
  EXPECT_EQ(splits.train.classes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(splits.train.labels, (std::vector<int32_t>{1, 0, 1}));
  EXPECT_EQ(splits.train.values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(splits.train.image_shape, (Shape{2}));
  EXPECT_EQ(splits.test.values, splits.train.values);
}

TEST_F(Tables, OptionsChooseTheLabel) {
  const std::string text = "9,1,2\n10,3,4\n9,5,6\n";
  EXPECT_EQ(load(text).train.classes, (std::vector<std::string>{"2", "4", "6"}));
  const DatasetSplits first = load(text, {.label_column = "1"});
  EXPECT_EQ(first.train.classes, (std::vector<std::string>{"9", "10"}));
  EXPECT_EQ(first.train.values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(load("a,b\n1,5\n2,6\n", {.label_column = "a"}).train.classes,
            (std::vector<std::string>{"1", "2"}));
}

TEST_F(Tables, OneFileIsDividedByTheSeed) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += fmt::format("{},{},c{}\r\n", i, i + 0.5, i % 2);
  const std::string path = write("one.csv", text);
  const DatasetSplits splits = load_dataset(path);
  EXPECT_EQ(splits.train.size(), 40);
  EXPECT_EQ(splits.test.size(), 10);
  EXPECT_EQ(splits.test.name, "one");
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(splits.test.labels[size_t(i)], int(splits.test.values[size_t(2 * i)]) % 2);
  EXPECT_NE(fingerprint(load_dataset(path, {.seed = 1})), fingerprint(splits));
}

TEST_F(Tables, RefusalsSayWhere) {
  auto loading = [this](std::string text, std::string label = "") {
    return [=, this] { load(text, {.label_column = label}); };
  };
  expect_refused({
      refused<FormatError>("number", {"train.csv", "'x'", "line 3, column 1"}, loading("1,a\n2,b\nx,a\n")),
      refused<FormatError>("missing", {"''", "line 2, column 3"}, loading("1,2,a\n3,,b\n")),
      refused<FormatError>("one column", {"1 columns"}, loading("1\n2\n")),
      refused<FormatError>("nothing", {"0 columns"}, loading("")),
      refused<FormatError>("no row", {"no row"}, loading("a,b\n")),
      refused<ValueError>("column", {"no column 'z'", "called a, b"}, loading("a,b\n1,2\n", "z")),
      refused<ValueError>("column 0", {"no column '0'"}, loading("1,2\n", "0")),
      refused<ValueError>("column 3", {"no column '3'", "without names"}, loading("1,2\n", "3")),
  });
  write("train.csv", "a,label\n1,x\n2,y\n"), write("test.csv", "a,label\n1,z\n");
  auto both = [this] { load_dataset(folder_.path().string()); };
  expect_error<FormatError>(both, {"test.csv", "label 'z' of row 1"});
  write("test.csv", "b,label\n1,x\n");
  expect_error<FormatError>(both, {"test.csv", "called otherwise", "train.csv"});
  write("test.csv", "label,a\nx,1\n");
  expect_error<FormatError>(both, {"test.csv", "called otherwise"});
}

}  // namespace
}  // namespace own_files
}  // namespace treadle

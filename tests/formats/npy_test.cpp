/// .npy and .npz files: those in numpy_goldens.json, which make_numpy_goldens.py writes with NumPy, our own,
/// and damaged ones.
#include "treadle/formats/npy.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/formats/temporary_folder.h"
#include "tests/refused.h"
#include "treadle/core/error.h"

namespace treadle {
namespace numpy_files {
namespace {

using nlohmann::json;

const json& goldens() {
  static const json all = [] {
    std::ifstream file(TREADLE_SOURCE_DIR "/tests/formats/numpy_goldens.json");
    return json::parse(file);
  }();
  return all;
}

std::string file_of(const json& entry) {
  const std::string digits = entry["file"];
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) bytes += char(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string dtype_name(const json& entry) {
  static const std::map<std::string, std::string> names = {{"f4", "f32"}, {"f8", "f64"}, {"f2", "f16"},
                                                           {"i1", "i8"},  {"u1", "u8"},  {"i2", "i16"},
                                                           {"i4", "i32"}, {"i8", "i64"}, {"b1", "bool"}};
  return names.at(entry["dtype"]);
}

void expect_golden(const Tensor& found, const json& entry) {
  SCOPED_TRACE(entry["name"]);
  Shape shape;
  for (int64_t extent : entry["shape"]) shape.push_back(extent);
  EXPECT_EQ(found.shape(), shape);
  EXPECT_EQ(name_of(found.dtype()), dtype_name(entry));
  EXPECT_EQ(found.to_doubles(), entry["values"].get<std::vector<double>>());
}

/// A file of version 1 with this header and so many zeros behind it.
std::string npy_with(const std::string& header, size_t zeros = 0) {
  return std::string("\x93NUMPY\x01\x00", 8) + char(header.size() & 255) + char(header.size() >> 8) + header +
         std::string(zeros, '\0');
}

/// The little-endian number of `size` bytes at a place of the text is replaced.
std::string with_number(std::string text, size_t place, size_t size, uint64_t value) {
  for (size_t i = 0; i < size; ++i) text[place + i] = char(value >> (8 * i));
  return text;
}

Tensor some(DType dtype, const Shape& shape) {
  Tensor tensor = Tensor::zeros(shape, dtype);
  auto* bytes = static_cast<uint8_t*>(tensor.raw());
  for (size_t i = 0; i < size_t(tensor.numel()) * size_of(dtype); ++i)
    bytes[i] = uint8_t(dtype == DType::boolean ? i % 2 : i * 7 % 64);
  return tensor;
}

TEST(Npy, ReadsWhatNumpyWrites) {
  ASSERT_GE(goldens()["arrays"].size(), 20u);
  for (const json& entry : goldens()["arrays"]) expect_golden(parse_npy(bytes_of(file_of(entry))), entry);
}

TEST(Npy, RefusesWhatIsNoArrayOfNumbers) {
  for (const json& entry : goldens()["refused"])
    expect_error<FormatError>([&] { parse_npy(bytes_of(file_of(entry)), "some.npy"); },
                              {"some.npy", entry["says"].get<std::string>()});
}

TEST(Npy, EveryDtypeComesBack) {
  TemporaryFolder folder;
  for (DType dtype : kAllDTypes)
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{0}, Shape{2, 3, 4}, Shape{1, 1, 1, 1, 1, 1, 1, 1}}) {
      const Tensor tensor = some(dtype, shape);
      save_npy(folder / "a.npy", tensor);
      const Tensor found = load_npy(folder / "a.npy");
      EXPECT_EQ(found.dtype(), dtype);
      EXPECT_EQ(found.shape(), shape);
      EXPECT_EQ(found.to_doubles(), tensor.to_doubles());
    }
}

TEST(Npy, StridedTensorsAreWrittenRowByRow) {
  TemporaryFolder folder;
  const Tensor tensor = some(DType::i16, {2, 3});
  save_npy(folder / "a.npy", tensor.alias({3, 2}, {1, 3}));
  const std::vector<int16_t> rows = tensor.to_vector<int16_t>();
  EXPECT_EQ(load_npy(folder / "a.npy").to_vector<int16_t>(),
            (std::vector<int16_t>{rows[0], rows[3], rows[1], rows[4], rows[2], rows[5]}));
}

/// As in NumPy's description of version 1.0; the elements begin at a multiple of 64.
TEST(Npy, TheHeaderIsNumpys) {
  TemporaryFolder folder;
  save_npy(folder / "a.npy", some(DType::f32, {2, 3}));
  const std::string text = read_text(folder / "a.npy");
  EXPECT_TRUE(text.starts_with(std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                               "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } "));
  EXPECT_EQ(text.size(), 128u + 24);
  EXPECT_EQ(text[127], '\n');
  save_npy(folder / "b.npy", some(DType::u8, {7}));
  EXPECT_TRUE(
      contains(read_text(folder / "b.npy"), "{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }"));
}

TEST(Npy, TakesOtherSpellingsOfTheHeader) {
  const std::string spelled = "{\"shape\":(2L,),'fortran_order' : False,\n'descr':\"=i2\"}";
  EXPECT_EQ(parse_npy(bytes_of(npy_with(spelled, 4))).shape(), (Shape{2}));
}

TEST(Npy, HostileHeaders) {
  auto header = [](std::string descr, std::string order, std::string shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + "}";
  };
  auto parse = [](std::string text) { return [text] { parse_npy(bytes_of(text), "bad.npy"); }; };
  const std::string good = header("'<f4'", "False", "(2,)");
  parse(npy_with(good, 8))();
  expect_refused({
      refused<FormatError>("empty", {"does not begin"}, parse("")),
      refused<FormatError>("magic", {"\\x93NUMPY"}, parse("\x93NUMPX" + npy_with(good, 8).substr(6))),
      refused<FormatError>("cut", {"11 bytes are too few"}, parse(npy_with(good).substr(0, 11))),
      refused<FormatError>("version", {"version 4.0"}, parse(with_number(npy_with(good, 8), 6, 1, 4))),
      refused<FormatError>("minor version", {"version 1.1"}, parse(with_number(npy_with(good, 8), 7, 1, 1))),
      refused<FormatError>("length", {"claims 60000 bytes"},
                           parse(with_number(npy_with(good, 8), 8, 2, 60000))),
      refused<FormatError>("length of version 2", {"claims"}, parse(with_number(npy_with(good, 8), 6, 1, 2))),
      refused<FormatError>("too short", {"[2]", "takes 8 bytes", "has 7"}, parse(npy_with(good, 7))),
      refused<FormatError>("too long", {"takes 8 bytes", "has 9"}, parse(npy_with(good, 9))),
      refused<FormatError>("gigabytes", {"takes 8000000000000 bytes, the file has 0"},
                           parse(npy_with(header("'<f8'", "False", "(1000000, 1000000)")))),
      refused<FormatError>("overflow", {"size overflows"},
                           parse(npy_with(header("'<f8'", "False", "(4611686018427387904, 0, 4)")))),
      refused<FormatError>("too many axes", {"more than 8 axes"},
                           parse(npy_with(header("'<f4'", "False", "(1,1,1,1,1,1,1,1,1)"), 4))),
      refused<FormatError>("negative extent", {"an extent"},
                           parse(npy_with(header("'<f4'", "False", "(-1,)")))),
      refused<FormatError>("extent", {"an extent"},
                           parse(npy_with(header("'<f4'", "False", "(9223372036854775808,)")))),
      refused<FormatError>("no tuple", {"'('"}, parse(npy_with(header("'<f4'", "False", "2"), 8))),
      refused<FormatError>("order", {"True or False"}, parse(npy_with(header("'<f4'", "0", "(2,)"), 8))),
      refused<FormatError>("no dictionary", {"'{'"}, parse(npy_with("(2,)", 8))),
      refused<FormatError>("not closed", {"'}'"}, parse(npy_with(good.substr(0, good.size() - 1), 8))),
      refused<FormatError>("behind it", {"the end"}, parse(npy_with(good + "x", 8))),
      refused<FormatError>("key", {"'descript'"}, parse(npy_with("{'descript': 1}"))),
      refused<FormatError>("key twice", {"'shape' twice"},
                           parse(npy_with(good.substr(0, good.size() - 1) + ", 'shape': (2,)}", 8))),
      refused<FormatError>("lacking", {"lacks one of"}, parse(npy_with("{'descr': '<f4', 'shape': ()}", 4))),
      refused<FormatError>("string", {"a string that ends"}, parse(npy_with("{'descr"))),
      refused<FormatError>("no dtype", {"dtype ''"}, parse(npy_with(header("''", "False", "()")))),
      refused<FormatError>("byte order", {"'?f4'"}, parse(npy_with(header("'?f4'", "False", "()"), 4))),
      refused<FormatError>("bool", {"element 1 is neither"},
                           parse(npy_with(header("'|b1'", "False", "(2,)")) + std::string("\x01\x02", 2))),
      refused<ValueError>("undefined", {"undefined"}, [] { save_npy("/none/x.npy", Tensor()); }),
      refused<FileError>("no file", {"/none/x.npy"}, [] { load_npy("/none/x.npy"); }),
  });
}

TEST(Npz, ReadsWhatNumpyWrites) {
  for (const json& entry : goldens()["archives"]) {
    const auto arrays = parse_npz(bytes_of(file_of(entry)));
    ASSERT_EQ(arrays.size(), entry["arrays"].size());
    for (size_t i = 0; i < arrays.size(); ++i) {
      EXPECT_EQ(arrays[i].name, entry["arrays"][i]["name"]);
      expect_golden(arrays[i].array, entry["arrays"][i]);
    }
  }
}

TEST(Npz, ArraysComeBack) {
  TemporaryFolder folder;
  for (bool compressed : {false, true}) {
    const std::vector<NamedArray> arrays{{"a", some(DType::f32, {100, 7})},
                                         {"no elements", some(DType::i64, {0})},
                                         {"flags", some(DType::boolean, {3})}};
    save_npz(folder / "a.npz", arrays, compressed);
    const auto found = load_npz(folder / "a.npz");
    ASSERT_EQ(found.size(), 3u);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(found[i].name, arrays[i].name);
      EXPECT_EQ(found[i].array.to_doubles(), arrays[i].array.to_doubles());
    }
    ASSERT_NE(find_array(found, "flags"), nullptr);
    EXPECT_EQ(find_array(found, "flag"), nullptr);
  }
  save_npz(folder / "none.npz", {});
  EXPECT_TRUE(load_npz(folder / "none.npz").empty());
}

TEST(Npz, CompressionMakesSmallFiles) {
  TemporaryFolder folder;
  const std::vector<NamedArray> arrays{{"zeros", Tensor::zeros({1000})}};
  save_npz(folder / "stored.npz", arrays), save_npz(folder / "deflated.npz", arrays, true);
  EXPECT_GT(std::filesystem::file_size(folder / "stored.npz"), 4000u);
  EXPECT_LT(std::filesystem::file_size(folder / "deflated.npz"), 400u);
}

/// Places in an archive of one stored array "a": its member begins at 0, its elements at 30 + 5 + 128; the
/// directory is behind these, the end 22 bytes before the end.
class Archive : public testing::Test {
 protected:
  Archive() {
    save_npz(folder_ / "a.npz", std::vector<NamedArray>{{"a", Tensor::zeros({3})}});
    text_ = read_text(folder_ / "a.npz");
    directory_ = text_.size() - 22 - 46 - 5;
  }
  Refused refused_archive(std::string label, std::vector<std::string> says, std::string text) {
    says.push_back("bad.npz");
    return refused<FormatError>(std::move(label), std::move(says),
                                [text] { parse_npz(bytes_of(text), "bad.npz"); });
  }
  std::string directory_with(size_t place, size_t size, uint64_t value) {
    return with_number(text_, directory_ + place, size, value);
  }
  std::string end_with(size_t place, size_t size, uint64_t value) {
    return with_number(text_, text_.size() - 22 + place, size, value);
  }

  TemporaryFolder folder_;
  std::string text_;
  size_t directory_;
};

TEST_F(Archive, Hostile) {
  const std::string entry = text_.substr(directory_, 51);
  std::string changed = text_,
              thrice = text_.substr(0, text_.size() - 22) + entry + entry + text_.substr(text_.size() - 22);
  changed[30 + 5 + 128] = 1;
  thrice = with_number(thrice, thrice.size() - 12, 2, 3);
  expect_refused({
      refused_archive("empty", {"no zip archive"}, ""),
      refused_archive("cut", {"no zip archive"}, text_.substr(0, text_.size() - 1)),
      refused_archive("beginning lost", {"damaged"}, text_.substr(30)),
      refused_archive("several parts", {"several parts"}, end_with(4, 2, 1)),
      refused_archive("directory beyond", {"cut short or damaged"}, end_with(16, 4, 0xfffffff0)),
      refused_archive("directory elsewhere", {"the directory is damaged"}, end_with(16, 4, 0)),
      refused_archive("more members", {"the directory is damaged"}, end_with(10, 2, 9)),
      refused_archive("encrypted", {"'a.npy' is encrypted"}, directory_with(8, 2, 1)),
      refused_archive("method", {"method 12"}, directory_with(10, 2, 12)),
      refused_archive("stored sizes", {"claims to hold 141 bytes in 140"}, directory_with(24, 4, 141)),
      refused_archive("bomb", {"claims to hold 4294967294 bytes in 140, which is impossible"},
                      with_number(directory_with(24, 4, 0xfffffffe), directory_ + 10, 2, 8)),
      refused_archive("not deflated", {"does not unpack to the 140 bytes"}, directory_with(10, 2, 8)),
      refused_archive("member beyond", {"cut short or damaged"}, directory_with(42, 4, 0x7fffffff)),
      refused_archive("member elsewhere", {"not at byte 7"}, directory_with(42, 4, 7)),
      refused_archive("longer than the file", {"cut short or damaged"},
                      with_number(directory_with(20, 4, 1000), directory_ + 24, 4, 1000)),
      refused_archive("contents changed", {"the checksum of 'a.npy' is wrong"}, changed),
      refused_archive("checksum changed", {"the checksum of 'a.npy' is wrong"}, directory_with(16, 4, 0)),
      refused_archive("name", {"'a.npz' is no array"}, directory_with(46 + 4, 1, 'z')),
      refused_archive("the same member thrice", {"lie over each other"}, thrice),
  });
}

TEST_F(Archive, TwoArraysOfOneName) {
  const std::vector<NamedArray> both{{"a", Tensor::zeros({})}, {"b", Tensor::zeros({})}};
  save_npz(folder_ / "b.npz", both);
  std::string text = read_text(folder_ / "b.npz");
  text[text.size() - 22 - 5] = 'a';
  expect_error<FormatError>([&] { parse_npz(bytes_of(text)); }, {"'a' is there twice"});
}

/// A comment may stand behind the end.
TEST_F(Archive, WithAComment) { EXPECT_EQ(parse_npz(bytes_of(end_with(20, 2, 5) + "hello")).size(), 1u); }

/// Sizes and places that do not fit in 32 bits, as writers of large files put them.
TEST_F(Archive, Zip64) {
  std::string text = text_.substr(0, directory_), entry = text_.substr(directory_, 51);
  auto number = [](uint64_t value, size_t size) {
    return with_number(std::string(size, '\0'), 0, size, value);
  };
  entry =
      with_number(with_number(with_number(entry, 20, 4, 0xffffffff), 24, 4, 0xffffffff), 42, 4, 0xffffffff);
  entry = with_number(entry, 30, 2, 4 + 28);
  entry += number(0x7777, 2) + number(0, 2) + number(1, 2) + number(24, 2) + number(140, 8) + number(140, 8) +
           number(0, 8);
  const size_t end64 = directory_ + entry.size();
  text += entry + number(0x06064b50, 4) + number(44, 8) + std::string(12, '\0') + number(1, 8) +
          number(1, 8) + number(entry.size(), 8) + number(directory_, 8);
  text += number(0x07064b50, 4) + number(0, 4) + number(end64, 8) + number(1, 4);
  text += with_number(with_number(text_.substr(text_.size() - 22), 10, 2, 0xffff), 16, 4, 0xffffffff);
  EXPECT_EQ(parse_npz(bytes_of(text)).at(0).array.shape(), (Shape{3}));
  EXPECT_EQ(entry.size(), 51u + 32);
}

TEST(Npz, RefusesWhatCannotBeStored) {
  const Tensor one = Tensor::zeros({1});
  expect_refused({
      refused<ValueError>("no name", {"no name"},
                          [&] {
                            save_npz("/none/x.npz", std::vector<NamedArray>{{"", one}});
                          }),
      refused<ValueError>("twice", {"'a'"},
                          [&] {
                            save_npz("/none/x.npz", std::vector<NamedArray>{{"a", one}, {"a", one}});
                          }),
      refused<ValueError>("undefined", {"'a' is undefined"},
                          [&] {
                            save_npz("/none/x.npz", std::vector<NamedArray>{{"a", Tensor()}});
                          }),
      refused<FileError>("no folder", {"/none/x.npz"},
                         [&] {
                           save_npz("/none/x.npz", std::vector<NamedArray>{{"a", one}});
                         }),
      refused<FileError>("no file", {"/none/x.npz"}, [&] { load_npz("/none/x.npz"); }),
  });
}

}  // namespace
}  // namespace numpy_files
}  // namespace treadle

#include "treadle/formats/safetensors.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "tests/folders.h"
#include "tests/formats/temporary_folder.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

/// A file of the given header and as many bytes of data, all zero.
std::string file_with(std::string_view header, size_t data_bytes) {
  uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), 8);
  file += header;
  return file.append(data_bytes, '\0');
}

void expect_file_refused(const std::string& file, std::initializer_list<std::string_view> parts) {
  expect_error<FormatError>([&] { parse_safetensors(bytes_of(file), "x.safetensors"); }, parts);
  expect_error<FormatError>([&] { parse_safetensors(bytes_of(file), "x.safetensors"); }, {"x.safetensors: "});
}

void expect_header_refused(std::string_view header, size_t data_bytes,
                           std::initializer_list<std::string_view> parts) {
  expect_file_refused(file_with(header, data_bytes), parts);
}

std::vector<SafetensorsEntry> one_of_each_dtype() {
  std::vector<SafetensorsEntry> entries;
  for (DType dtype : kAllDTypes) {
    Tensor tensor = Tensor::zeros({3}, dtype);
    static_cast<char*>(tensor.raw())[0] = 1;
    entries.push_back({std::string(name_of(dtype)), tensor});
  }
  return entries;
}

TEST(Safetensors, RoundTripKeepsOrderNamesValuesAndMetadata) {
  TemporaryFolder folder;
  std::vector<SafetensorsEntry> entries = {{"z.weight", Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3})},
                                           {"a.bias", Tensor::from({-1.5f}, {1})},
                                           {"scalar \"ü\"\n", Tensor::from(std::vector<int64_t>{-7}, {})},
                                           {"empty", Tensor::zeros({0, 5})}};
  save_safetensors(folder / "m", entries, {{"model", "mlp"}, {"note", "a \"quoted\" ü"}});
  SafetensorsFile file = load_safetensors(folder / "m");
  ASSERT_EQ(file.entries.size(), entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(file.entries[i].name, entries[i].name);
    EXPECT_EQ(file.entries[i].tensor.dtype(), entries[i].tensor.dtype());
    EXPECT_EQ(file.entries[i].tensor.shape(), entries[i].tensor.shape());
    EXPECT_EQ(file.entries[i].tensor.to_doubles(), entries[i].tensor.to_doubles());
  }
  EXPECT_EQ(file.metadata,
            (std::map<std::string, std::string>{{"model", "mlp"}, {"note", "a \"quoted\" ü"}}));
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Safetensors, RoundTripOfEveryDType) {
  TemporaryFolder folder;
  auto entries = one_of_each_dtype();
  save_safetensors(folder / "m", entries);
  SafetensorsFile file = load_safetensors(folder / "m");
  ASSERT_EQ(file.entries.size(), size_t(kDTypeCount));
  for (size_t i = 0; i < entries.size(); ++i) {
    const Tensor &before = entries[i].tensor, &after = file.entries[i].tensor;
    EXPECT_EQ(before.dtype(), after.dtype());
    EXPECT_EQ(std::memcmp(before.raw(), after.raw(), 3 * size_of(before.dtype())), 0) << entries[i].name;
  }
}

TEST(Safetensors, DataBeginAtAMultipleOfEightAndAreAligned) {
  TemporaryFolder folder;
  std::vector<SafetensorsEntry> entries = {{"flag", Tensor::zeros({3}, DType::boolean)},
                                           {"w", Tensor::zeros({2})}};
  save_safetensors(folder / "m", entries);
  std::string file = read_text(folder / "m");
  uint64_t length;
  std::memcpy(&length, file.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_TRUE(
      contains(file, R"({"flag":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]},"w":{"dtype":"F32")"))
      << file;
}

TEST(Safetensors, SavesStridedTensors) {
  TemporaryFolder folder;
  Tensor matrix = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor flags =
      Tensor::from(std::span<const bool>(std::initializer_list<bool>{true, false, true, true}), {2, 2});
  std::vector<SafetensorsEntry> entries = {{"t", matrix.alias({3, 2}, {1, 3})},
                                           {"f", flags.alias({2, 2}, {1, 2})}};
  save_safetensors(folder / "m", entries);
  SafetensorsFile file = load_safetensors(folder / "m");
  EXPECT_EQ(file.find("t")->to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(file.find("f")->to_bools(), (std::vector<bool>{true, true, false, true}));
  EXPECT_EQ(file.find("absent"), nullptr);
}

TEST(Safetensors, ReadsAFileWrittenByHand) {
  std::string header =
      R"({"b":{"data_offsets":[4,6],"dtype":"U8","shape":[2]},"a":{"shape":[1],"dtype":"F32","data_offsets":[0,4]}}   )";
  std::string file = file_with(header, 0) + std::string("\0\0\x80\x3f\x05\x06", 6);
  SafetensorsFile parsed = parse_safetensors(bytes_of(file));
  EXPECT_EQ(parsed.entries[0].name, "b");
  EXPECT_EQ(parsed.find("a")->to_vector<float>(), std::vector<float>{1});
  EXPECT_EQ(parsed.find("b")->to_vector<uint8_t>(), (std::vector<uint8_t>{5, 6}));
  EXPECT_TRUE(parse_safetensors(bytes_of(file_with("{}", 0))).entries.empty());
}

TEST(Safetensors, RefusesLengthsBeyondTheFile) {
  expect_file_refused("", {"0 bytes", "begins with 8"});
  expect_file_refused("1234567", {"7 bytes"});
  expect_file_refused(std::string(8, '\xff'), {"claims 18446744073709551615 bytes", "0 are left"});
  std::string cut = file_with("{}", 0);
  cut.pop_back();
  expect_file_refused(cut, {"claims 2 bytes, 1 are left"});
  expect_file_refused(file_with("", 0), {"does not begin with '{'"});
}

TEST(Safetensors, RefusesHeadersThatAreNotJson) {
  expect_header_refused("not json", 0, {"does not begin with '{'"});
  expect_header_refused(" {}", 0, {"does not begin with '{'"});
  expect_header_refused("{\"a\":", 0, {"not JSON in UTF-8 near its byte 6"});
  expect_header_refused("{} x", 0, {"not JSON"});
  expect_header_refused("{\"\xff\xfe\":{}}", 0, {"UTF-8"});
  expect_header_refused("{\"\\ud800\":{}}", 0, {"UTF-8"});
}

TEST(Safetensors, RefusesDeepNesting) {
  expect_header_refused("{\"a\":" + std::string(100'000, '['), 0, {"an array", "'a'"});
  expect_header_refused("{\"a\":{\"shape\":" + std::string(100'000, '['), 0,
                        {"an array", "extent of tensor 'a'"});
  std::string objects;
  for (int i = 0; i < 10'000; ++i) objects += "{\"a\":";
  expect_header_refused(objects, 0, {"an object", "dtype, shape or data_offsets of tensor 'a'"});
}

TEST(Safetensors, RefusesDuplicateKeys) {
  std::string tensor = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  expect_header_refused(fmt::format(R"({{"a":{0},"a":{0}}})", tensor), 1, {"key 'a' twice"});
  expect_header_refused(R"({"__metadata__":{},"__metadata__":{}})", 0, {"'__metadata__' twice"});
  expect_header_refused(R"({"__metadata__":{"k":"1","k":"2"}})", 0, {"metadata key 'k'", "twice"});
  expect_header_refused(R"({"a":{"dtype":"U8","dtype":"I8"}})", 0, {"'a'", "'dtype' twice"});
  expect_header_refused(R"({"a":{"shape":[1],"shape":[1]}})", 0, {"'a'", "'shape' twice"});
  expect_header_refused(R"({"a":{"data_offsets":[1],"data_offsets":[1]}})", 0,
                        {"'a'", "'data_offsets' twice"});
}

TEST(Safetensors, RefusesWrongTypesOfValues) {
  expect_header_refused(R"({"a":null})", 0, {"null where an object for 'a' belongs"});
  expect_header_refused(R"({"a":true})", 0, {"true or false"});
  expect_header_refused(R"({"__metadata__":{"k":1}})", 0,
                        {"the number 1", "a string for the metadata key 'k'"});
  expect_header_refused(R"({"__metadata__":{"k":{}}})", 0, {"an object", "metadata key 'k'"});
  expect_header_refused(R"({"a":{"dtype":4}})", 0, {"the number 4", "'dtype'"});
  expect_header_refused(R"({"a":{"shape":[-1]}})", 0, {"the number -1", "extent"});
  expect_header_refused(R"({"a":{"shape":[1.5]}})", 0, {"the number 1.5"});
  expect_header_refused(R"({"a":{"data_offsets":["0"]}})", 0, {"the string '0'", "offset"});
  expect_header_refused(R"({"a":{"stride":"x"}})", 0, {"key 'stride'"});
}

TEST(Safetensors, RefusesIncompleteTensors) {
  expect_header_refused(R"({"a":{}})", 0, {"'a' lacks"});
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[1]}})", 1, {"'a' lacks"});
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1, {"'a' lacks"});
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", 1, {"more than two"});
  expect_header_refused(R"({"a":{"dtype":"U16","shape":[1],"data_offsets":[0,2]}})", 2,
                        {"'U16'", "F32 F64 F16"});
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1]}})", 1, {"more than 8 axes"});
}

TEST(Safetensors, RefusesSizesThatDoNotFit) {
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,20]}})", 20,
                        {"'a' of F32 [2, 3] takes 24 bytes", "hold 20"});
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4,
                        {"bytes 0 to 8 of 4"});
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}})", 4, {"bytes 2 to 0 of 4"});
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
                        {"overflows"});
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})", 0,
                        {"overflows"});
  expect_header_refused(R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0,
                        {"overflows"});
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,0]}})", 0,
                        {"2^63 - 1"});
}

TEST(Safetensors, RefusesGapsAndOverlaps) {
  auto two = [](int a, int b, int c, int d) {
    return fmt::format(R"({{"a":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}},)"
                       R"("b":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}}}})",
                       b - a, a, b, d - c, c, d);
  };
  EXPECT_EQ(parse_safetensors(bytes_of(file_with(two(2, 4, 0, 2), 4))).entries.size(), 2u);
  expect_header_refused(two(0, 2, 1, 4), 4, {"'b' begins at byte 1", "ends at 2"});
  expect_header_refused(two(0, 2, 3, 4), 4, {"'b' begins at byte 3", "ends at 2"});
  expect_header_refused(two(1, 2, 2, 4), 4, {"'a' begins at byte 1", "ends at 0"});
  expect_header_refused(two(0, 2, 2, 4), 5, {"fill 4 bytes", "are 5"});
  expect_header_refused("{}", 1, {"fill 0 bytes", "are 1"});
}

TEST(Safetensors, RefusesBoolsThatAreNone) {
  std::string file = file_with(R"({"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 2);
  file.back() = 2;
  expect_file_refused(file, {"'a' is BOOL", "element 1"});
}

TEST(Safetensors, NamesInMessagesAreCutAndPrintable) {
  std::string header = "{\"\\u001b[31m" + std::string(1000, 'n') + "\":1}";
  std::string message = message_of<FormatError>([&] { parse_safetensors(bytes_of(file_with(header, 0))); });
  EXPECT_TRUE(contains(message, "'?[31mnnn")) << message;
  EXPECT_LT(message.size(), 250u);
}

TEST(Safetensors, RefusesToSaveWhatCannotBeRead) {
  TemporaryFolder folder;
  Tensor tensor = Tensor::zeros({1});
  auto save = [&](std::vector<SafetensorsEntry> entries) { save_safetensors(folder / "m", entries); };
  expect_error<ValueError>([&] { save({{"a", tensor}, {"a", tensor}}); }, {"two tensors", "'a'"});
  expect_error<ValueError>([&] { save({{"__metadata__", tensor}}); }, {"__metadata__"});
  expect_error<ValueError>([&] { save({{"a", {}}}); }, {"'a' is undefined"});
  expect_error<ValueError>([&] { save({{"\xff", tensor}}); }, {"not UTF-8"});
  EXPECT_EQ(folder.count(), 0u);
}

TEST(Safetensors, LoadNamesThePath) {
  TemporaryFolder folder;
  write_bytes(folder / "cut.safetensors", "abc");
  expect_error<FormatError>([&] { load_safetensors(folder / "cut.safetensors"); },
                            {(folder / "cut.safetensors").string()});
  expect_error<FileError>([&] { load_safetensors(folder / "absent"); }, {"absent"});
}

/// The interpreter of $TREADLE_TEST_PYTHON, else of the peers' environment, else the system's.
std::string python() {
  if (const char* interpreter = std::getenv("TREADLE_TEST_PYTHON")) return interpreter;
  std::string peers = TREADLE_SOURCE_DIR "/bench/peers/.venv/bin/python";
  return std::filesystem::exists(peers) ? peers : "python3";
}

int run_python(const std::filesystem::path& script, const std::filesystem::path& argument) {
  return std::system(fmt::format("{} {} {}", python(), script.string(), argument.string()).c_str());
}

bool python_has_safetensors() {
  return std::system((python() + " -c 'import numpy, safetensors' >/dev/null 2>&1").c_str()) == 0;
}

TEST(Safetensors, PythonReadsWhatIsWritten) {
  if (!python_has_safetensors()) GTEST_SKIP() << python() << " lacks the packages numpy and safetensors";
  TemporaryFolder folder;
  std::vector<SafetensorsEntry> entries = {
      {"flag", Tensor::zeros({3}, DType::boolean)},
      {"w", Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3})},
      {"step", Tensor::from(std::vector<int64_t>{1'000'000'000'000}, {})},
      {"none", Tensor::zeros({0, 2})}};
  save_safetensors(folder / "m", entries, {{"model", "mlp ü"}});
  write_bytes(folder / "read.py", R"(
import sys, numpy, safetensors
with safetensors.safe_open(sys.argv[1], framework="np") as file:
    assert file.metadata() == {"model": "mlp ü"}, file.metadata()
    assert sorted(file.keys()) == ["flag", "none", "step", "w"], file.keys()
    w = file.get_tensor("w")
    assert w.dtype == numpy.float32 and w.tolist() == [[1, 2, 3], [4, 5, 6]], w
    assert file.get_tensor("step") == 10**12
    assert file.get_tensor("flag").tolist() == [False] * 3
    assert file.get_tensor("none").shape == (0, 2)
)");
  EXPECT_EQ(run_python(folder / "read.py", folder / "m"), 0);
}

TEST(Safetensors, ReadsWhatPythonWrites) {
  if (!python_has_safetensors()) GTEST_SKIP() << python() << " lacks the packages numpy and safetensors";
  TemporaryFolder folder;
  write_bytes(folder / "write.py", R"(
import sys, numpy
from safetensors.numpy import save_file
save_file({"h": numpy.array([[0.5, -2]], "f2"), "i": numpy.arange(3, dtype="i2")}, sys.argv[1], {"a": "b"})
)");
  ASSERT_EQ(run_python(folder / "write.py", folder / "m"), 0);
  SafetensorsFile file = load_safetensors(folder / "m");
  EXPECT_EQ(file.metadata.at("a"), "b");
  EXPECT_EQ(file.find("h")->dtype(), DType::f16);
  EXPECT_EQ(file.find("h")->to_doubles(), (std::vector<double>{0.5, -2}));
  EXPECT_EQ(file.find("i")->to_vector<int16_t>(), (std::vector<int16_t>{0, 1, 2}));
}

}  // namespace
}  // namespace treadle

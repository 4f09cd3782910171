/// Images as Pillow reads them: the pixels in pillow_goldens.json, which make_pillow_goldens.py writes.
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/formats/temporary_folder.h"
#include "treadle/core/error.h"
#include "treadle/formats/image.h"

namespace treadle {
namespace {

using nlohmann::json;

const json& goldens() {
  static const json all = [] {
    std::ifstream file(TREADLE_SOURCE_DIR "/tests/formats/pillow_goldens.json");
    return json::parse(file);
  }();
  return all;
}

const json& golden(const std::string& name) {
  for (const json& entry : goldens()["cases"])
    if (entry["name"] == name) return entry;
  throw ValueError("no case is called " + name);
}

std::string bytes_of_digits(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += char(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

Image parsed(const json& entry) {
  return parse_image(bytes_of(bytes_of_digits(entry["file"])), entry["name"].get<std::string>());
}

/// The most by which decoders of JPEG may differ. Inverse cosine transforms agree within 1 in each component;
/// from there colour has 1 + 1.772 and a rounding, and inks are such colours times another component.
int decoder_difference(const json& entry) {
  const std::string name = entry["name"];
  if (!name.starts_with("JPEG")) return 0;
  return entry["mode"] == "L" ? 1 : name.ends_with("K") ? 5 : 3;
}

void expect_pixels(const Image& image, const std::string& digits, int tolerance) {
  const std::string expected = bytes_of_digits(digits);
  ASSERT_EQ(image.pixels.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(std::abs(image.pixels[i] - uint8_t(expected[i])), tolerance)
        << "at " << i << ": " << int(image.pixels[i]) << ", Pillow has " << int(uint8_t(expected[i]));
}

TEST(Pillow, EveryModeIsReadAsPillowReadsIt) {
  const json& all = goldens();
  EXPECT_GE(all["cases"].size(), 70u);
  for (const json& entry : all["cases"]) {
    SCOPED_TRACE(entry["name"].get<std::string>());
    const Image image = parsed(entry);
    EXPECT_EQ(image.channels, entry["mode"] == "L" ? 1 : 3);
    EXPECT_EQ((std::vector<int>{image.width, image.height}), entry["size"].get<std::vector<int>>());
    expect_pixels(image, entry["pixels"], decoder_difference(entry));
    const std::vector<int> size = all["grey_size"];
    expect_pixels(resize_bilinear(to_grey(image), size[0], size[1]), entry["grey"],
                  decoder_difference(entry));
  }
}

TEST(Pillow, ResizingIsEqualBitByBit) {
  EXPECT_EQ(goldens()["resized"].size(), 4u);
  for (const json& entry : goldens()["resized"]) {
    SCOPED_TRACE(entry["to"].dump());
    const std::vector<int> size = entry["size"], to = entry["to"];
    Image image{size[0], size[1], size[2], {}};
    for (int y = 0; y < size[1]; ++y)
      for (int x = 0; x < size[0]; ++x)
        for (int c = 0; c < size[2]; ++c) image.pixels.push_back(uint8_t(7 * x + 13 * y + x * y + 50 * c));
    expect_pixels(resize_bilinear(image, to[0], to[1]), entry["pixels"], 0);
  }
}

/// Every byte of the metadata takes every value, and the file is cut everywhere: a picture of the right size
/// comes out, turned or not, or a FormatError. Sanitizers see the rest.
TEST(Pillow, HostileOrientationsAreHarmless) {
  for (const char* name : {"JPEG rgb, turned, little endian", "JPEG grey, turned, big endian"}) {
    const std::string whole = bytes_of_digits(golden(name)["file"]);
    const size_t begin = whole.find("Exif"), end = begin + 6 + 8 + 2 + 2 * 12 + 4;
    for (size_t at = begin; at < end; ++at)
      for (int value = 0; value < 256; ++value) {
        std::string changed = whole;
        changed[at] = char(value);
        const Image image = parse_image(bytes_of(changed));
        EXPECT_EQ(image.width * image.height, 15) << name << ", byte " << at << " is " << value;
      }
    for (size_t length = 3; length < end; ++length)
      EXPECT_THROW(parse_image(bytes_of(whole.substr(0, length))), FormatError)
          << name << ", cut to " << length;
  }
}

/// A directory that claims 65,535 entries, or lies far outside, is read no further than its bytes reach.
TEST(Pillow, DirectoriesThatClaimMoreThanThereIs) {
  std::string bytes = bytes_of_digits(golden("JPEG rgb, turned, little endian")["file"]);
  const size_t head = bytes.find("II*");
  ASSERT_NE(head, std::string::npos);
  EXPECT_EQ(parse_image(bytes_of(bytes)).width, 3);  // turned
  bytes.replace(head + 8, 2, "\xff\xff");
  EXPECT_EQ(parse_image(bytes_of(bytes)).width, 3);
  bytes.replace(head + 4, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(parse_image(bytes_of(bytes)).width, 5);
}

}  // namespace
}  // namespace treadle

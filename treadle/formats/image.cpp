#include "treadle/formats/image.h"

#include "treadle/core/error.h"
#include "treadle/formats/file.h"
#include "treadle/formats/image_codecs.h"

namespace treadle {
namespace {

bool begins_with(std::span<const std::byte> bytes, std::string_view signature) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with(signature);
}

}  // namespace

void check_image_size(uint64_t width, uint64_t height, int64_t max_pixels, std::string_view file) {
  uint64_t limit = uint64_t(max_pixels);
  require<FormatError>(width > 0 && height > 0 && width <= limit / height,
                       "{}: the image has {} x {} pixels, allowed are 1 to {}", file, width, height,
                       max_pixels);
}

void check_image(const Image& image) {
  require<ValueError>(image.width > 0 && image.height > 0, "an image of {} x {} pixels is empty", image.width,
                      image.height);
  require<ValueError>(image.channels == 1 || image.channels == 3, "an image has 1 or 3 channels, not {}",
                      image.channels);
  size_t expected = size_t(image.width) * size_t(image.height) * size_t(image.channels);
  require<ValueError>(image.pixels.size() == expected, "an image of {} x {} x {} has {} values, not {}",
                      image.width, image.height, image.channels, expected, image.pixels.size());
}

Image parse_image(std::span<const std::byte> bytes, std::string_view name, int64_t max_pixels) {
  require<ValueError>(max_pixels > 0, "{}: at most {} pixels leave no image", name, max_pixels);
  if (begins_with(bytes, "\x89PNG\r\n\x1a\n")) return decode_png(bytes, name, max_pixels);
  if (begins_with(bytes, "\xff\xd8\xff")) return decode_jpeg(bytes, name, max_pixels);
  throw FormatError(
      fmt::format("{}: neither PNG nor JPEG by its first bytes; convert the image to one of these", name));
}

Image with_channels(const Image& image, int channels) {
  check_image(image);
  require<ValueError>(channels == 1 || channels == 3, "an image cannot have {} channels, but 1 or 3",
                      channels);
  if (channels == image.channels) return image;
  if (channels == 1) return to_grey(image);
  Image colour{image.width, image.height, channels, {}};
  colour.pixels.reserve(3 * image.pixels.size());
  for (uint8_t value : image.pixels) colour.pixels.insert(colour.pixels.end(), 3, value);
  return colour;
}

std::vector<uint8_t> planes_of(const Image& image) {
  check_image(image);
  const size_t channels = size_t(image.channels), plane = image.pixels.size() / channels;
  std::vector<uint8_t> planes(image.pixels.size());
  for (size_t i = 0; i < image.pixels.size(); ++i)
    planes[i % channels * plane + i / channels] = image.pixels[i];
  return planes;
}

Image load_image(const std::filesystem::path& path) { return parse_image(read_file(path), path.string()); }

std::vector<std::byte> png_bytes(const Image& image) {
  check_image(image);
  return encode_png(image);
}

void save_png(const std::filesystem::path& path, const Image& image) {
  std::vector<std::byte> bytes = png_bytes(image);
  write_file_atomically(path, [&](FileWriter& writer) { writer.write(bytes); });
}

}  // namespace treadle

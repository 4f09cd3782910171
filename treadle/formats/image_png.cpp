#include <png.h>

#include "treadle/core/error.h"
#include "treadle/formats/image_codecs.h"

namespace treadle {
namespace {

/// libpng's state for one image, released at the end of its scope.
struct PngImage {
  png_image state{};
  PngImage() { state.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&state); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
};

[[noreturn]] void fail(std::string_view file, const PngImage& png) {
  throw FormatError(fmt::format("{}: the PNG is damaged or cut short: {}", file, png.state.message));
}

/// Colour or grey as the file is, without alpha, 8 bits.
png_uint_32 target_format(png_uint_32 source) {
  return source & PNG_FORMAT_FLAG_COLOR ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
}

}  // namespace

Image decode_png(std::span<const std::byte> bytes, std::string_view file, int64_t max_pixels) {
  PngImage png;
  if (!png_image_begin_read_from_memory(&png.state, bytes.data(), bytes.size())) fail(file, png);
  check_image_size(png.state.width, png.state.height, max_pixels, file);
  // Without a gamma chunk, 16 bits are taken as sRGB like 8 bits; libpng's own default is linear light.
  png.state.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  png.state.format = target_format(png.state.format);
  Image image{
      int(png.state.width), int(png.state.height), int(PNG_IMAGE_SAMPLE_CHANNELS(png.state.format)), {}};
  image.pixels.resize(PNG_IMAGE_SIZE(png.state));
  const png_color white{255, 255, 255};
  if (!png_image_finish_read(&png.state, &white, image.pixels.data(), 0, nullptr)) fail(file, png);
  return image;
}

std::vector<std::byte> encode_png(const Image& image) {
  PngImage png;
  png.state.width = png_uint_32(image.width);
  png.state.height = png_uint_32(image.height);
  png.state.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png.state);
  std::vector<std::byte> bytes(size);
  bool written =
      png_image_write_to_memory(&png.state, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr);
  require<ValueError>(written, "the image cannot be written as PNG: {}", png.state.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace treadle

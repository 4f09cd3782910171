/// Images as 8-bit pixels: reading PNG and JPEG, writing PNG, grey conversion and resizing.
#pragma once  // public

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// Rows from the top, pixels interleaved: pixels[(y * width + x) * channels + c]; 1 channel is grey, 3 are
/// RGB.
struct Image {
  int width = 0;
  int height = 0;
  int channels = 0;
  std::vector<uint8_t> pixels;
};

/// The most pixels of an image that is read.
inline constexpr int64_t kMaxImagePixels = int64_t(64) << 20;

/// Reads a PNG or JPEG file, told apart by its first bytes. Grey files give 1 channel, all others 3. The
/// pixels are those of Pillow: turned upright as EXIF or XMP says (ImageOps.exif_transpose), laid over white
/// in stored values where there is transparency (Image.alpha_composite), then RGB or L. Of 16 bits the higher
/// byte is taken; gamma and colour profiles have no effect; CMYK is taken as Adobe writes it, 255 being no
/// ink. Where Pillow loses the picture it is not followed: it cuts grey of 16 bits off at 255, and misses
/// transparent colours of 2, 4 and 16 bits. Throws FileError, and FormatError for damaged, cut, oversized and
/// other files.
TREADLE_API Image load_image(const std::filesystem::path& path);

/// The same from memory; `name` stands for the path in messages. Throws FormatError, and ValueError unless
/// max_pixels is positive.
TREADLE_API Image parse_image(std::span<const std::byte> bytes, std::string_view name = "image data",
                              int64_t max_pixels = kMaxImagePixels);

/// Writes an image of 1 or 3 channels atomically (see write_file_atomically). Throws FileError, ValueError.
TREADLE_API void save_png(const std::filesystem::path& path, const Image& image);

/// The same in memory.
TREADLE_API std::vector<std::byte> png_bytes(const Image& image);

/// Luma of ITU-R BT.601: 0.299 R + 0.587 G + 0.114 B, with Pillow's rounding. A grey image is returned as it
/// is. Throws ValueError.
TREADLE_API Image to_grey(const Image& image);

/// Grey by to_grey(), or colour, which a grey image becomes by repetition. Throws ValueError unless
/// `channels` is 1 or 3.
TREADLE_API Image with_channels(const Image& image, int channels);

/// The pixels as [C, H, W], one channel behind the other.
TREADLE_API std::vector<uint8_t> planes_of(const Image& image);

/// Bilinear resize with half-pixel centres: output pixel i lies at (i + 0.5) · old / new - 0.5. When an axis
/// shrinks, the triangle filter is widened by old / new, so that every input pixel counts (no aliasing). Bit
/// by bit what Pillow's Image.resize gives for BILINEAR. Throws ValueError.
TREADLE_API Image resize_bilinear(const Image& image, int width, int height);

}  // namespace treadle

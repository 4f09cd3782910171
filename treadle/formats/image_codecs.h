/// The decoders and the encoder behind image.h. Internal to formats/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "treadle/formats/image.h"

namespace treadle {

/// Throws FormatError when an image that a file declares has no pixels or more than allowed.
void check_image_size(uint64_t width, uint64_t height, int64_t max_pixels, std::string_view file);

/// Throws ValueError unless the extents are positive, the channels 1 or 3 and as many pixels as these say.
void check_image(const Image& image);

Image decode_png(std::span<const std::byte> bytes, std::string_view file, int64_t max_pixels);
Image decode_jpeg(std::span<const std::byte> bytes, std::string_view file, int64_t max_pixels);
std::vector<std::byte> encode_png(const Image& image);

}  // namespace treadle

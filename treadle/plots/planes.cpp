#include "treadle/plots/planes.h"

#include <algorithm>
#include <cmath>

#include "treadle/core/error.h"

namespace treadle {
namespace {

Image image_of(std::span<const float> values, int height, int width, int channels, bool around_zero) {
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  const float bound = std::max(std::abs(*low), std::abs(*high));
  const float black = around_zero ? -bound : *low, white = around_zero ? bound : *high;
  const size_t plane = size_t(height) * width;
  Image image{width, height, channels, std::vector<uint8_t>(values.size())};
  for (size_t i = 0; i < values.size(); ++i) {
    const float share = white > black ? (values[i] - black) / (white - black) : 0.5f;
    image.pixels[i % plane * channels + i / plane] = uint8_t(std::lround(255 * std::clamp(share, 0.f, 1.f)));
  }
  return image;
}

}  // namespace

std::vector<Image> images_of_planes(std::span<const float> values, int height, int width, int channels,
                                    bool around_zero) {
  require<ValueError>(height > 0 && width > 0 && channels > 0,
                      "images_of_planes: {}×{} with {} channels must be positive", height, width, channels);
  const size_t each = size_t(height) * width * channels;
  require<ValueError>(values.size() % each == 0, "images_of_planes: {} values are no images of {}",
                      values.size(), each);
  std::vector<Image> images;
  for (size_t begin = 0; begin < values.size(); begin += each)
    images.push_back(image_of(values.subspan(begin, each), height, width, channels, around_zero));
  return images;
}

}  // namespace treadle

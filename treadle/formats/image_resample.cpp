#include <algorithm>
#include <cmath>

#include "treadle/core/error.h"
#include "treadle/formats/image_codecs.h"

namespace treadle {
namespace {

/// BT.601 weights in units of 2^-16; they sum to 65536, so that white stays 255.
constexpr uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471;
static_assert(kRed + kGreen + kBlue == 65536);

/// The input positions that one output position is the weighted mean of; the weights sum to 1.
struct Window {
  int first = 0;
  std::vector<float> weights;
};

/// Triangle filter for output `i` of `after` along an axis of `before` inputs, clipped at the borders.
Window triangle_window(int i, int before, int after) {
  double scale = double(before) / after;
  double reach = std::max(scale, 1.0);
  double centre = (i + 0.5) * scale;
  int first = std::max(0, int(std::floor(centre - reach)));
  int last = std::min(before, int(std::ceil(centre + reach)));
  std::vector<double> weights;
  for (int k = first; k < last; ++k) weights.push_back(std::max(0.0, 1 - std::abs(k + 0.5 - centre) / reach));
  double sum = 0;
  for (double weight : weights) sum += weight;
  Window window{first, {}};
  for (double weight : weights) window.weights.push_back(float(weight / sum));
  return window;
}

std::vector<Window> windows(int before, int after) {
  std::vector<Window> result;
  for (int i = 0; i < after; ++i) result.push_back(triangle_window(i, before, after));
  return result;
}

/// out[x][c] = Σ_k weights_x[k] · row[first_x + k][c]
void resize_row(const uint8_t* row, int channels, const std::vector<Window>& columns, float* out) {
  for (const auto& [first, weights] : columns)
    for (int c = 0; c < channels; ++c) {
      float sum = 0;
      for (size_t k = 0; k < weights.size(); ++k)
        sum += weights[k] * row[(size_t(first) + k) * size_t(channels) + size_t(c)];
      *out++ = sum;
    }
}

std::vector<float> resize_rows(const Image& image, int width) {
  std::vector<Window> columns = windows(image.width, width);
  size_t in_stride = size_t(image.width) * size_t(image.channels),
         out_stride = size_t(width) * size_t(image.channels);
  std::vector<float> result(out_stride * size_t(image.height));
  for (size_t y = 0; y < size_t(image.height); ++y)
    resize_row(image.pixels.data() + y * in_stride, image.channels, columns, result.data() + y * out_stride);
  return result;
}

void resize_column(const std::vector<float>& rows, const Window& window, std::span<uint8_t> out) {
  std::vector<float> sums(out.size());
  for (size_t k = 0; k < window.weights.size(); ++k) {
    const float* row = rows.data() + (size_t(window.first) + k) * out.size();
    for (size_t x = 0; x < out.size(); ++x) sums[x] += window.weights[k] * row[x];
  }
  for (size_t x = 0; x < out.size(); ++x) out[x] = uint8_t(std::clamp(sums[x] + 0.5f, 0.0f, 255.0f));
}

}  // namespace

Image to_grey(const Image& image) {
  check_image(image);
  if (image.channels == 1) return image;
  Image grey{image.width, image.height, 1, std::vector<uint8_t>(image.pixels.size() / 3)};
  for (size_t i = 0; i < grey.pixels.size(); ++i) {
    const uint8_t* rgb = &image.pixels[3 * i];
    grey.pixels[i] = uint8_t((kRed * rgb[0] + kGreen * rgb[1] + kBlue * rgb[2] + 32768) >> 16);
  }
  return grey;
}

Image resize_bilinear(const Image& image, int width, int height) {
  check_image(image);
  require<ValueError>(width > 0 && height > 0 && width <= kMaxImagePixels / height,
                      "cannot resize to {} x {} pixels; allowed are 1 to {}", width, height, kMaxImagePixels);
  std::vector<float> rows = resize_rows(image, width);
  size_t stride = size_t(width) * size_t(image.channels);
  Image result{width, height, image.channels, std::vector<uint8_t>(stride * size_t(height))};
  for (int y = 0; y < height; ++y)
    resize_column(rows, triangle_window(y, image.height, height),
                  std::span(result.pixels).subspan(size_t(y) * stride, stride));
  return result;
}

}  // namespace treadle

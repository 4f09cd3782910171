#include <algorithm>
#include <cmath>
#include <span>

#include "treadle/core/error.h"
#include "treadle/formats/image_codecs.h"

namespace treadle {
namespace {

/// BT.601 weights in units of 2^-16; they sum to 65536, so that white stays 255.
constexpr uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471;
static_assert(kRed + kGreen + kBlue == 65536);

/// Weights are whole multiples of 2^-22, and each pass rounds to 8 bits: Pillow's arithmetic, bit by bit.
constexpr int kWeightBits = 22;

/// The input positions that one output position is the weighted mean of.
struct Window {
  int first = 0;
  std::vector<int32_t> weights;
};

/// Triangle filter for output `i` of `after` along an axis of `before` inputs, clipped at the borders.
Window triangle_window(int i, int before, int after) {
  const double scale = double(before) / after, reach = std::max(scale, 1.0);
  const double centre = (i + 0.5) * scale;
  const int first = std::max(0, int(centre - reach + 0.5));
  const int last = std::min(before, int(centre + reach + 0.5));
  std::vector<double> weights;
  for (int k = first; k < last; ++k)
    weights.push_back(std::max(0.0, 1 - std::abs((k - centre + 0.5) * (1 / reach))));
  double sum = 0;
  for (double weight : weights) sum += weight;
  Window window{first, {}};
  for (double weight : weights) window.weights.push_back(int32_t(0.5 + weight / sum * (1 << kWeightBits)));
  return window;
}

uint8_t rounded(int32_t sum) {
  return uint8_t(std::clamp((sum + (1 << (kWeightBits - 1))) >> kWeightBits, 0, 255));
}

/// out[x][c] = Σ_k weights_x[k] · row[first_x + k][c]
void resize_row(const uint8_t* row, int channels, const std::vector<Window>& columns, uint8_t* out) {
  for (const auto& [first, weights] : columns)
    for (int c = 0; c < channels; ++c) {
      int32_t sum = 0;
      for (size_t k = 0; k < weights.size(); ++k)
        sum += weights[k] * row[(size_t(first) + k) * size_t(channels) + size_t(c)];
      *out++ = rounded(sum);
    }
}

Image resize_rows(const Image& image, int width) {
  std::vector<Window> columns;
  for (int x = 0; x < width; ++x) columns.push_back(triangle_window(x, image.width, width));
  const size_t in_stride = size_t(image.width) * size_t(image.channels),
               out_stride = size_t(width) * size_t(image.channels);
  Image result{width, image.height, image.channels, std::vector<uint8_t>(out_stride * size_t(image.height))};
  for (size_t y = 0; y < size_t(image.height); ++y)
    resize_row(image.pixels.data() + y * in_stride, image.channels, columns,
               result.pixels.data() + y * out_stride);
  return result;
}

void resize_column(const Image& rows, const Window& window, std::span<uint8_t> out) {
  std::vector<int32_t> sums(out.size());
  for (size_t k = 0; k < window.weights.size(); ++k) {
    const uint8_t* row = rows.pixels.data() + (size_t(window.first) + k) * out.size();
    for (size_t x = 0; x < out.size(); ++x) sums[x] += window.weights[k] * row[x];
  }
  std::transform(sums.begin(), sums.end(), out.begin(), rounded);
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
  // The rows are resized first: their number counts, too.
  require<ValueError>(width > 0 && height > 0 && width <= kMaxImagePixels / std::max(height, image.height),
                      "cannot resize {} x {} to {} x {} pixels; allowed are 1 to {}", image.width,
                      image.height, width, height, kMaxImagePixels);
  const Image rows = resize_rows(image, width);
  size_t stride = size_t(width) * size_t(image.channels);
  Image result{width, height, image.channels, std::vector<uint8_t>(stride * size_t(height))};
  for (int y = 0; y < height; ++y)
    resize_column(rows, triangle_window(y, image.height, height),
                  std::span(result.pixels).subspan(size_t(y) * stride, stride));
  return result;
}

}  // namespace treadle

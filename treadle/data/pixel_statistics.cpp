#include "treadle/data/pixel_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "treadle/core/parallel_for.h"

namespace treadle {
namespace {

/// How often each byte occurs: sums over it are exact, and cheaper than sums over pixels.
using Histogram = std::array<int64_t, 256>;

constexpr double kSummedPixel = 0.5;  ///< nanoseconds

void add(Histogram& sum, const Histogram& more) {
  for (size_t value = 0; value < sum.size(); ++value) sum[value] += more[value];
}

/// The bytes of one channel of images [begin, end).
Histogram histogram_of(const ImageDataset& dataset, int64_t channel, int64_t begin, int64_t end) {
  int64_t plane = dataset.image_shape[1] * dataset.image_shape[2];
  int64_t image = dataset.image_shape[0] * plane;
  // Equal neighbours are common; four tables keep one count from waiting for the last.
  std::array<Histogram, 4> parts{};
  for (int64_t n = begin; n < end; ++n) {
    const uint8_t* pixels = dataset.pixels.data() + n * image + channel * plane;
    for (int64_t i = 0; i < plane; ++i) ++parts[size_t(i % 4)][pixels[i]];
  }
  for (size_t part = 1; part < parts.size(); ++part) add(parts[0], parts[part]);
  return parts[0];
}

Histogram histogram_of(const ImageDataset& dataset, int64_t channel) {
  Histogram total{};
  std::mutex mutex;
  const int64_t plane = dataset.image_shape[1] * dataset.image_shape[2];
  parallel_for(dataset.size(), Nanoseconds{kSummedPixel * double(plane)}, [&](int64_t begin, int64_t end) {
    Histogram part = histogram_of(dataset, channel, begin, end);
    std::lock_guard lock(mutex);
    add(total, part);
  });
  return total;
}

/// Of the values of one channel: the sum of squares is taken around the mean, which keeps its digits.
void measure_values(const ImageDataset& dataset, int64_t channel, PixelNormalization& result) {
  const int64_t plane = dataset.image_shape.numel() / dataset.image_shape[0], count = dataset.size() * plane;
  auto sum_of = [&](auto term) {
    double sum = 0;
    for (int64_t n = 0; n < dataset.size(); ++n) {
      const float* values = dataset.values.data() + n * dataset.image_shape.numel() + channel * plane;
      for (int64_t i = 0; i < plane; ++i) sum += term(double(values[i]));
    }
    return sum;
  };
  const double mean = sum_of([](double value) { return value; }) / double(count);
  const double squares = sum_of([&](double value) { return (value - mean) * (value - mean); });
  const float deviation = float(std::sqrt(squares / double(count)));
  result.mean.push_back(float(mean));
  result.deviation.push_back(deviation > 0 ? deviation : 1.0f);
}

void measure_pixels(const ImageDataset& dataset, int64_t channel, PixelNormalization& result) {
  Histogram histogram = histogram_of(dataset, channel);
  int64_t count = 0, sum = 0, squares = 0;
  for (int64_t value = 0; value < 256; ++value) {
    int64_t times = histogram[size_t(value)];
    count += times, sum += times * value, squares += times * value * value;
  }
  double mean = double(sum) / double(count);
  double deviation = std::sqrt(std::max(double(squares) / double(count) - mean * mean, 0.0));
  result.mean.push_back(float(mean / 255));
  result.deviation.push_back(deviation > 0 ? float(deviation / 255) : 1.0f);
}

}  // namespace

PixelNormalization measure_normalization(const ImageDataset& dataset) {
  require<ValueError>(dataset.size() > 0, "data set {} has no images to measure", dataset.name);
  require_whole(dataset);
  PixelNormalization result;
  auto measure = dataset.has_values() ? measure_values : measure_pixels;
  for (int64_t channel = 0; channel < dataset.image_shape[0]; ++channel) measure(dataset, channel, result);
  return result;
}

}  // namespace treadle

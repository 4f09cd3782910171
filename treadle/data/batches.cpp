#include "treadle/data/batches.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "treadle/core/parallel_for.h"
#include "treadle/simd/pixel_values.h"

namespace treadle {
namespace {

constexpr double kPixel = 0.65;  ///< nanoseconds

void check_index(const ImageDataset& dataset, int64_t index) {
  require<ValueError>(index >= 0 && index < dataset.size(),
                      "image {} of data set {} was asked for, which has {}", index, dataset.name,
                      dataset.size());
}

/// These are the values that PyTorch's transforms give, bit by bit.
void convert(const uint8_t* in, float* out, int64_t count) { cpu::pixel_values(in, out, count); }
void convert(const float* in, float* out, int64_t count) {
  std::memcpy(out, in, size_t(count) * sizeof(float));
}
void convert_and_normalize(const uint8_t* in, float* out, int64_t count, float mean, float deviation) {
  cpu::normalized_pixels(in, out, count, mean, deviation);
}
void convert_and_normalize(const float* in, float* out, int64_t count, float mean, float deviation) {
  cpu::normalized_values(in, out, count, mean, deviation);
}

/// Of pixels or values.
template <class T>
void convert_image(const T* in, float* out, const Shape& shape, const PixelNormalization& normalization) {
  if (normalization.mean.empty()) return convert(in, out, shape.numel());
  int64_t plane = shape.numel() / shape[0];
  for (int64_t c = 0; c < shape[0]; ++c)
    convert_and_normalize(in + c * plane, out + c * plane, plane, normalization.mean[size_t(c)],
                          normalization.deviation[size_t(c)]);
}

/// Calls copy(pixels or values of an example, position in the batch) for each index and writes the labels.
template <class T, class Copy>
void for_each_image(const ImageDataset& dataset, const std::vector<T>& all, std::span<const int64_t> indices,
                    int64_t* labels, Copy copy) {
  require_whole(dataset);
  int64_t image = dataset.image_shape.numel();
  parallel_for(int64_t(indices.size()), Nanoseconds{kPixel * double(image)}, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t index = indices[size_t(i)];
      check_index(dataset, index);
      copy(all.data() + index * image, i * image);
      labels[i] = dataset.labels[size_t(index)];
    }
  });
}

}  // namespace

void convert_values(const float* values, float* out, const Shape& shape,
                    const PixelNormalization& normalization) {
  convert_image(values, out, shape, normalization);
}

void convert_example(const ImageDataset& dataset, int64_t index, float* out,
                     const PixelNormalization& normalization) {
  const int64_t first = index * dataset.image_shape.numel();
  if (dataset.has_values())
    convert_image(dataset.values.data() + first, out, dataset.image_shape, normalization);
  else
    convert_image(dataset.pixels.data() + first, out, dataset.image_shape, normalization);
}

void require_fit(const PixelNormalization& normalization, int64_t channels) {
  const auto& [mean, deviation] = normalization;
  bool fits = mean.size() == size_t(channels) && deviation.size() == size_t(channels);
  require<ValueError>((mean.empty() && deviation.empty()) || fits,
                      "a normalization of {} means and {} deviations does not fit images of {} channels",
                      mean.size(), deviation.size(), channels);
  for (float value : deviation)
    require<ValueError>(value > 0 && std::isfinite(value), "the deviation {} is not positive and finite",
                        value);
  for (float value : mean) require<ValueError>(std::isfinite(value), "the mean {} is not finite", value);
}

BatchSampler::BatchSampler(int64_t size, int64_t batch_size, uint64_t seed)
    : size_(size), batch_size_(batch_size), seed_(seed) {
  require<ValueError>(size > 0 && batch_size > 0, "batches of {} from {} images: both must be positive",
                      batch_size, size);
  order_.resize(size_t(size));
  shuffle();
}

void BatchSampler::shuffle() {
  std::iota(order_.begin(), order_.end(), int64_t(0));
  SplitMix64 random(SplitMix64::mix(SplitMix64::mix(seed_) + uint64_t(state_.epoch)));
  for (size_t i = order_.size() - 1; i > 0; --i) std::swap(order_[i], order_[random.below(i + 1)]);
}

std::span<const int64_t> BatchSampler::next() & {
  if (epoch_finished()) {
    state_ = {state_.epoch + 1, 0};
    shuffle();
  }
  int64_t count = std::min(batch_size_, size_ - state_.position);
  std::span batch = std::span<const int64_t>(order_).subspan(size_t(state_.position), size_t(count));
  state_.position += count;
  return batch;
}

void BatchSampler::restore(State state) {
  bool possible = state.epoch >= 0 && state.position >= 0 && state.position <= size_ &&
                  (state.position % batch_size_ == 0 || state.position == size_);
  require<ValueError>(possible,
                      "epoch {}, position {} is no state of a sampler with batches of {} from {} images",
                      state.epoch, state.position, batch_size_, size_);
  state_ = state;
  shuffle();
}

Shape batch_shape(int64_t count, const Shape& example) {
  Shape shape{count};
  for (int64_t extent : example) shape.push_back(extent);
  return shape;
}

void gather_batch(const ImageDataset& dataset, std::span<const int64_t> indices, float* pixels,
                  int64_t* labels, const PixelNormalization& normalization) {
  require_whole(dataset);
  require_fit(normalization, dataset.image_shape[0]);
  auto convert = [&](const auto* image, int64_t offset) {
    convert_image(image, pixels + offset, dataset.image_shape, normalization);
  };
  if (dataset.has_values()) return for_each_image(dataset, dataset.values, indices, labels, convert);
  for_each_image(dataset, dataset.pixels, indices, labels, convert);
}

void gather_batch(const ImageDataset& dataset, std::span<const int64_t> indices, uint8_t* pixels,
                  int64_t* labels) {
  require<ValueError>(!dataset.has_values(), "data set {}: the examples are numbers of shape {}, not images",
                      dataset.name, dataset.image_shape);
  int64_t bytes = dataset.image_shape.numel();
  for_each_image(dataset, dataset.pixels, indices, labels, [&](const uint8_t* image, int64_t offset) {
    std::memcpy(pixels + offset, image, size_t(bytes));
  });
}

}  // namespace treadle

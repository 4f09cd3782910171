#include "treadle/data/batches.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "treadle/core/parallel_for.h"
#include "treadle/data/prefetch.h"
#include "treadle/simd/pixel_values.h"

namespace treadle {
namespace {

constexpr double kValue = 0.16;  ///< nanoseconds, of bytes that lie in no cache
/// Examples lie at random places, so the processor does not know which is next: it is told so many bytes
/// ahead, about what it reads while one cache line comes from memory. Not where all lie in its cache.
constexpr int64_t kBytesAhead = 3072, kCachedBytes = 1 << 19;
constexpr int64_t kMostExamplesAhead = 16;

[[noreturn]] void throw_beyond(const ImageDataset& dataset, int64_t index) {
  throw ValueError(fmt::format("image {} of data set {} was asked for, which has {}", index, dataset.name,
                               dataset.size()));
}

/// These are the values that PyTorch's transforms give, bit by bit.
void convert(const uint8_t* in, float* out, int64_t count) { cpu::pixel_values(in, out, count); }
void convert(const float* in, float* out, int64_t count) {
  constexpr int64_t kVector = 4, kWorthACall = 32;
  if (count >= kWorthACall) return void(std::memcpy(out, in, size_t(count) * sizeof(float)));
  for (; count >= kVector; count -= kVector, in += kVector, out += kVector)
    std::memcpy(out, in, kVector * sizeof(float));
  if (count & 2) std::memcpy(out, in, 2 * sizeof(float)), in += 2, out += 2;
  if (count & 1) *out = *in;
}
void convert_and_normalize(const uint8_t* in, float* out, int64_t count, float mean, float deviation) {
  cpu::normalized_pixels(in, out, count, mean, deviation);
}
void convert_and_normalize(const float* in, float* out, int64_t count, float mean, float deviation) {
  cpu::normalized_values(in, out, count, mean, deviation);
}

/// What is the same for all examples, of pixels or values.
struct Conversion {
  Conversion(const Shape& shape, const PixelNormalization& normalization)
      : size(shape.numel()),
        plane(size / shape[0]),
        channels(shape[0]),
        mean(normalization.mean.empty() ? nullptr : normalization.mean.data()),
        deviation(normalization.deviation.data()) {}

  template <class T>
  void operator()(const T* in, float* out) const {
    if (!mean) return convert(in, out, size);
    if constexpr (std::is_same_v<T, float>)
      if (plane == 1) return normalize_vector(in, out);
    for (int64_t c = 0; c < channels; ++c)
      convert_and_normalize(in + c * plane, out + c * plane, plane, mean[c], deviation[c]);
  }

  /// Each value is a plane of its own: too little for a call.
  void normalize_vector(const float* in, float* out) const {
    for (int64_t c = 0; c < channels; ++c) out[c] = (in[c] - mean[c]) / deviation[c];
  }

  int64_t size, plane, channels;
  const float *mean, *deviation;
};

/// Calls copy(example, position) for the pixels or values of each index, in order.
template <class T, class Copy>
void for_each_example(const ImageDataset& dataset, const std::vector<T>& all,
                      std::span<const int64_t> indices, Copy copy) {
  const int64_t size = dataset.image_shape.numel(), count = int64_t(indices.size());
  const int64_t bytes = size * int64_t(sizeof(T)), first_bytes = std::min(bytes, kBytesAhead);
  const bool cached = int64_t(all.size() * sizeof(T)) <= kCachedBytes;
  const int64_t ahead =
      cached ? count : std::min(count, std::clamp<int64_t>(kBytesAhead / bytes, 1, kMostExamplesAhead));
  auto example = [&](int64_t i) { return all.data() + indices[size_t(i)] * size; };
  for (int64_t i = 0; i < ahead && !cached; ++i) prefetch(example(i), first_bytes);
  for (int64_t i = 0; i < count; ++i) {
    if (i + ahead < count) prefetch(example(i + ahead), first_bytes);
    copy(example(i), i);
  }
}

/// Calls copy(indices, first position) for parts of them on the threads of parallel_for, and writes the
/// labels.
template <class Copy>
void in_parts(const ImageDataset& dataset, std::span<const int64_t> indices, int64_t* labels, Copy copy) {
  require_whole(dataset);
  parallel_for(int64_t(indices.size()), conversion_time(dataset), [&](int64_t begin, int64_t end) {
    const auto part = indices.subspan(size_t(begin), size_t(end - begin));
    require_inside(dataset, part);
    copy(part, begin);
    for (size_t i = 0; i < part.size(); ++i) labels[size_t(begin) + i] = dataset.labels[size_t(part[i])];
  });
}

}  // namespace

void require_inside(const ImageDataset& dataset, std::span<const int64_t> indices) {
  for (int64_t index : indices)
    if (index < 0 || index >= dataset.size()) [[unlikely]]
      throw_beyond(dataset, index);
}

void convert_values(const float* values, float* out, const Shape& shape,
                    const PixelNormalization& normalization) {
  Conversion(shape, normalization)(values, out);
}

void convert_example(const ImageDataset& dataset, int64_t index, float* out,
                     const PixelNormalization& normalization) {
  const Conversion convert(dataset.image_shape, normalization);
  if (dataset.has_values())
    convert(dataset.values.data() + index * convert.size, out);
  else
    convert(dataset.pixels.data() + index * convert.size, out);
}

void convert_examples(const ImageDataset& dataset, std::span<const int64_t> indices, float* out,
                      const PixelNormalization& normalization) {
  const Conversion convert(dataset.image_shape, normalization);
  auto copy = [&](const auto* example, int64_t i) { convert(example, out + i * convert.size); };
  if (dataset.has_values()) return for_each_example(dataset, dataset.values, indices, copy);
  for_each_example(dataset, dataset.pixels, indices, copy);
}

Nanoseconds conversion_time(const ImageDataset& dataset) {
  return {kValue * double(dataset.image_shape.numel())};
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

BatchSampler::BatchSampler(int64_t size, int64_t batch_size, uint64_t seed, bool shuffled)
    : size_(size), batch_size_(batch_size), seed_(seed), shuffled_(shuffled) {
  require<ValueError>(size > 0 && batch_size > 0, "batches of {} from {} images: both must be positive",
                      batch_size, size);
}

void BatchSampler::shuffle() {
  order_epoch_ = state_.epoch;
  order_.resize(size_t(size_));
  std::iota(order_.begin(), order_.end(), int64_t(0));
  if (!shuffled_) return;
  SplitMix64 random(SplitMix64::mix(SplitMix64::mix(seed_) + uint64_t(state_.epoch)));
  for (size_t i = order_.size() - 1; i > 0; --i) std::swap(order_[i], order_[random.below(i + 1)]);
}

int64_t BatchSampler::skip() {
  if (epoch_finished()) state_ = {state_.epoch + 1, 0};
  const int64_t count = std::min(batch_size_, size_ - state_.position);
  state_.position += count;
  return count;
}

std::span<const int64_t> BatchSampler::next() & {
  const int64_t count = skip();
  if (order_epoch_ != state_.epoch) shuffle();
  return std::span<const int64_t>(order_).subspan(size_t(state_.position - count), size_t(count));
}

void BatchSampler::restore(State state) {
  bool possible = state.epoch >= 0 && state.position >= 0 && state.position <= size_ &&
                  (state.position % batch_size_ == 0 || state.position == size_);
  require<ValueError>(possible,
                      "epoch {}, position {} is no state of a sampler with batches of {} from {} images",
                      state.epoch, state.position, batch_size_, size_);
  state_ = state;
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
  const int64_t size = dataset.image_shape.numel();
  in_parts(dataset, indices, labels, [&](std::span<const int64_t> part, int64_t first) {
    convert_examples(dataset, part, pixels + first * size, normalization);
  });
}

void gather_batch(const ImageDataset& dataset, std::span<const int64_t> indices, uint8_t* pixels,
                  int64_t* labels) {
  require<ValueError>(!dataset.has_values(), "data set {}: the examples are numbers of shape {}, not images",
                      dataset.name, dataset.image_shape);
  const int64_t bytes = dataset.image_shape.numel();
  in_parts(dataset, indices, labels, [&](std::span<const int64_t> part, int64_t first) {
    for_each_example(dataset, dataset.pixels, part, [&](const uint8_t* image, int64_t i) {
      std::memcpy(pixels + (first + i) * bytes, image, size_t(bytes));
    });
  });
}

}  // namespace treadle

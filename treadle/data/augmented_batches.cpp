#include "treadle/data/augmented_batches.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/simd/pixel_values.h"

namespace treadle {
namespace {

/// Tells the keys of augmentations from those of the sampler's orders.
constexpr uint64_t kAugmentationKey = 0x9fb21c651e98df25;

}  // namespace

/// What one thread needs for an example and its partner.
struct AugmentedBatches::Room {
  explicit Room(int64_t size) : all(size_t(4 * size)), size(size) {}
  AugmentedExample example(const Shape& shape) { return {shape, all.data(), all.data() + size}; }
  AugmentedExample partner(const Shape& shape) {
    return {shape, all.data() + 2 * size, all.data() + 3 * size};
  }

  std::vector<float> all;
  int64_t size;
};

AugmentedBatches::AugmentedBatches(const ImageDataset& dataset, Augmentations augmentations,
                                   const PixelNormalization& normalization, uint64_t seed)
    : dataset_(dataset),
      augmentations_(std::move(augmentations)),
      normalization_(normalization),
      seed_(seed) {
  require_whole(dataset);
  require_fit(normalization, dataset.image_shape[0]);
  augmentations_.require_fit(dataset.image_shape, !dataset.has_values());
}

AugmentedBatch AugmentedBatches::batch(int64_t epoch, std::span<const int64_t> indices) const {
  const auto count = int64_t(indices.size()), classes = int64_t(dataset_.classes.size());
  const int64_t size = dataset_.image_shape.numel();
  const bool mixes = augmentations_.mixes();
  AugmentedBatch batch{Tensor::empty(batch_shape(count, dataset_.image_shape)),
                       mixes ? Tensor::empty({count, classes}) : Tensor::empty({count}, DType::i64)};
  Room room(augmentations_.empty() ? 0 : size);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = indices[size_t(i)];
    require<ValueError>(index >= 0 && index < dataset_.size(),
                        "image {} of data set {} was asked for, which has {}", index, dataset_.name,
                        dataset_.size());
    const int64_t label = dataset_.labels[size_t(index)];
    float* probabilities = nullptr;
    if (mixes) {
      require<ValueError>(label < classes, "data set {}: the label {} is none of {} classes", dataset_.name,
                          label, classes);
      probabilities = batch.targets.data<float>() + i * classes;
      std::fill_n(probabilities, classes, 0.0f);
      probabilities[label] = 1;
    } else {
      batch.targets.data<int64_t>()[i] = label;
    }
    write(epoch, index, batch.examples.data<float>() + i * size, probabilities, room);
  }
  return batch;
}

void AugmentedBatches::write(int64_t epoch, int64_t index, float* out, float* probabilities,
                             Room& room) const {
  if (augmentations_.empty()) return convert_example(dataset_, index, out, normalization_);
  AugmentedExample example = room.example(dataset_.image_shape);
  convert_example(dataset_, index, example.values);
  for (size_t place = 0; place < augmentations_.steps().size(); ++place)
    if (augmentations_.steps()[place].kind->mix)
      mix(place, epoch, index, example, probabilities, room);
    else
      apply(place, epoch, index, example);
  normalize(example.values, out);
}

void AugmentedBatches::normalize(const float* values, float* out) const {
  const int64_t size = dataset_.image_shape.numel();
  if (normalization_.mean.empty()) {
    std::copy_n(values, size, out);
    return;
  }
  const int64_t plane = size / dataset_.image_shape[0];
  for (int64_t c = 0; c < dataset_.image_shape[0]; ++c) {
    const float mean = normalization_.mean[size_t(c)], deviation = normalization_.deviation[size_t(c)];
    cpu::normalized_values(values + c * plane, out + c * plane, plane, mean, deviation);
  }
}

AugmentationRandom AugmentedBatches::random(size_t place, int64_t epoch, int64_t index) const {
  uint64_t key = SplitMix64::mix(seed_ ^ kAugmentationKey);
  for (const uint64_t part : {uint64_t(epoch), uint64_t(index), uint64_t(place)})
    key = SplitMix64::mix(key + part);
  return AugmentationRandom(key);
}

void AugmentedBatches::apply(size_t place, int64_t epoch, int64_t index, AugmentedExample& example) const {
  const auto& [kind, options] = augmentations_.steps()[place];
  AugmentationRandom numbers = random(place, epoch, index);
  kind->apply(options, example, numbers);
}

/// The partner is changed as it is itself in this epoch, but not mixed.
void AugmentedBatches::mix(size_t place, int64_t epoch, int64_t index, AugmentedExample& example,
                           float* probabilities, Room& room) const {
  const auto& [kind, options] = augmentations_.steps()[place];
  AugmentationRandom numbers = random(place, epoch, index);
  const int64_t other = numbers.below(dataset_.size());
  const auto label = int64_t(dataset_.labels[size_t(other)]), classes = int64_t(dataset_.classes.size());
  require<ValueError>(label < classes, "data set {}: the label {} is none of {} classes", dataset_.name,
                      label, classes);
  AugmentedExample partner = room.partner(dataset_.image_shape);
  convert_example(dataset_, other, partner.values);
  for (size_t before = 0; before < place; ++before)
    if (augmentations_.steps()[before].kind->apply) apply(before, epoch, other, partner);
  const auto share = float(kind->mix(options, example, partner, numbers));
  for (int64_t c = 0; c < classes; ++c) probabilities[c] *= share;
  probabilities[label] += 1 - share;
}

}  // namespace treadle

#include "treadle/data/augmented_batches.h"

#include <algorithm>

#include "treadle/core/error.h"

namespace treadle {
namespace {

constexpr double kGatheredValue = 0.55;  ///< nanoseconds
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

Nanoseconds AugmentedBatches::example_time() const {
  double of_value = kGatheredValue;
  for (const auto& step : augmentations_.steps()) of_value += step.kind->nanoseconds;
  return {of_value * double(dataset_.image_shape.numel())};
}

AugmentedBatch AugmentedBatches::batch(int64_t epoch, std::span<const int64_t> indices, bool spread) const {
  const auto count = int64_t(indices.size()), classes = int64_t(dataset_.classes.size());
  AugmentedBatch batch{
      Tensor::empty(batch_shape(count, dataset_.image_shape)),
      augmentations_.mixes() ? Tensor::empty({count, classes}) : Tensor::empty({count}, DType::i64)};
  auto write = [&](int64_t begin, int64_t end) { write_rows(epoch, indices, batch, begin, end); };
  if (spread)
    parallel_for(count, example_time(), write);
  else
    write(0, count);
  return batch;
}

void AugmentedBatches::write_rows(int64_t epoch, std::span<const int64_t> indices,
                                  const AugmentedBatch& batch, int64_t begin, int64_t end) const {
  const auto classes = int64_t(dataset_.classes.size());
  const int64_t size = dataset_.image_shape.numel();
  Room room(augmentations_.empty() ? 0 : size);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t index = indices[size_t(i)];
    require<ValueError>(index >= 0 && index < dataset_.size(),
                        "image {} of data set {} was asked for, which has {}", index, dataset_.name,
                        dataset_.size());
    float* probabilities = nullptr;
    if (augmentations_.mixes()) {
      probabilities = batch.targets.data<float>() + i * classes;
      std::fill_n(probabilities, classes, 0.0f);
      probabilities[class_of(index)] = 1;
    } else {
      batch.targets.data<int64_t>()[i] = dataset_.labels[size_t(index)];
    }
    write(epoch, index, batch.examples.data<float>() + i * size, probabilities, room);
  }
}

/// Throws ValueError for a label that is no class.
int64_t AugmentedBatches::class_of(int64_t index) const {
  const int64_t label = dataset_.labels[size_t(index)], classes = int64_t(dataset_.classes.size());
  require<ValueError>(label >= 0 && label < classes, "data set {}: the label {} is none of {} classes",
                      dataset_.name, label, classes);
  return label;
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
  convert_values(example.values, out, dataset_.image_shape, normalization_);
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
  const int64_t label = class_of(other), classes = int64_t(dataset_.classes.size());
  AugmentedExample partner = room.partner(dataset_.image_shape);
  convert_example(dataset_, other, partner.values);
  for (size_t before = 0; before < place; ++before)
    if (augmentations_.steps()[before].kind->apply) apply(before, epoch, other, partner);
  const auto share = float(kind->mix(options, example, partner, numbers));
  for (int64_t c = 0; c < classes; ++c) probabilities[c] *= share;
  probabilities[label] += 1 - share;
}

}  // namespace treadle

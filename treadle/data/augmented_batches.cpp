#include "treadle/data/augmented_batches.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "treadle/core/error.h"
#include "treadle/data/prefetch.h"

namespace treadle {
namespace {

/// Tells the keys of augmentations from those of the sampler's orders.
constexpr uint64_t kAugmentationKey = 0x9fb21c651e98df25;

/// Whether the tensor is as Tensor::empty() gives it and has no other owner.
bool is_free(const Tensor& tensor, const Shape& shape, DType dtype) {
  if (!tensor.defined() || tensor.handle()->use_count() != 1) return false;
  const TensorData& data = *tensor.handle();
  return data.storage->use_count() == 1 && !data.autograd && data.dtype == dtype && data.shape == shape &&
         data.storage->device() == kCpu && !data.storage->is_symbolic() && tensor.is_contiguous();
}

/// Makes it a tensor to be written, of its own memory where that is free.
void renew(Tensor& tensor, const Shape& shape, DType dtype) {
  if (is_free(tensor, shape, dtype))
    tensor.handle()->storage->bump_version();
  else
    tensor = Tensor::empty(shape, dtype);
}

void copy_rows(const Tensor& from, int64_t first, int64_t count, Tensor& to) {
  Shape shape = from.shape();
  const int64_t rows = shape[0], bytes = from.numel() / rows * int64_t(size_of(from.dtype()));
  const int64_t size = count * bytes;
  shape[0] = count;
  renew(to, shape, from.dtype());
  const auto* start = static_cast<const std::byte*>(from.raw()) + first * bytes;
  std::memcpy(to.raw(), start, size_t(size));
  prefetch(start + size, std::min(size, (rows - first - count) * bytes));
}

}  // namespace

void copy_rows(const AugmentedBatch& from, int64_t first, int64_t count, AugmentedBatch& to) {
  copy_rows(from.examples, first, count, to.examples);
  copy_rows(from.targets, first, count, to.targets);
}

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
  double time = conversion_time(dataset_).count;
  for (const auto& step : augmentations_.steps())
    time += step.kind->nanoseconds * double(dataset_.image_shape.numel());
  return {time};
}

AugmentedBatch AugmentedBatches::batch(int64_t epoch, std::span<const int64_t> indices, bool spread) const {
  AugmentedBatch batch;
  replace(batch, epoch, indices, spread);
  return batch;
}

void AugmentedBatches::replace(AugmentedBatch& batch, int64_t epoch, std::span<const int64_t> indices,
                               bool spread) const {
  const auto count = int64_t(indices.size()), classes = int64_t(dataset_.classes.size());
  renew(batch.examples, batch_shape(count, dataset_.image_shape), DType::f32);
  if (augmentations_.mixes())
    renew(batch.targets, {count, classes}, DType::f32);
  else
    renew(batch.targets, {count}, DType::i64);
  auto write = [&](int64_t begin, int64_t end) { write_rows(epoch, indices, batch, begin, end); };
  if (spread)
    parallel_for(count, example_time(), write);
  else
    write(0, count);
}

void AugmentedBatches::write_rows(int64_t epoch, std::span<const int64_t> indices,
                                  const AugmentedBatch& batch, int64_t begin, int64_t end) const {
  const int64_t size = dataset_.image_shape.numel();
  const auto part = indices.subspan(size_t(begin), size_t(end - begin));
  float* const out = batch.examples.data<float>() + begin * size;
  require_inside(dataset_, part);
  write_targets(part, batch, begin);
  if (augmentations_.empty()) return convert_examples(dataset_, part, out, normalization_);
  const auto classes = int64_t(dataset_.classes.size());
  float* const shares = augmentations_.mixes() ? batch.targets.data<float>() + begin * classes : nullptr;
  Room room(size);
  for (int64_t i = 0; i < int64_t(part.size()); ++i)
    write(epoch, part[size_t(i)], out + i * size, shares ? shares + i * classes : nullptr, room);
}

/// Labels, or all of each example for its own class.
void AugmentedBatches::write_targets(std::span<const int64_t> indices, const AugmentedBatch& batch,
                                     int64_t begin) const {
  if (!augmentations_.mixes()) {
    int64_t* labels = batch.targets.data<int64_t>() + begin;
    for (int64_t index : indices) *labels++ = dataset_.labels[size_t(index)];
    return;
  }
  const auto classes = int64_t(dataset_.classes.size());
  float* shares = batch.targets.data<float>() + begin * classes;
  for (int64_t index : indices) {
    std::fill_n(shares, classes, 0.0f);
    shares[class_of(index)] = 1;
    shares += classes;
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

#include "treadle/data/hold_out.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "treadle/data/batches.h"

namespace treadle {
namespace {

/// Which `count` of `size` are drawn. The key is that of an epoch before the first one: no order of a
/// BatchSampler is drawn from it.
std::vector<bool> draw(int64_t count, int64_t size, uint64_t seed, uint64_t epochs_before) {
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), int64_t(0));
  SplitMix64 random(SplitMix64::mix(SplitMix64::mix(seed) - epochs_before));
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  std::vector<bool> drawn(order.size());
  for (int64_t i = 0; i < count; ++i) drawn[size_t(order[size_t(i)])] = true;
  return drawn;
}

/// The `count` rows of `width` numbers of the examples that are drawn, or are not.
template <class T>
std::vector<T> rows_of(const std::vector<T>& all, int64_t width, const std::vector<bool>& drawn, bool wanted,
                       int64_t count) {
  std::vector<T> rows;
  rows.reserve(size_t(count * width));
  for (size_t i = 0; i < drawn.size(); ++i)
    if (drawn[i] == wanted)
      rows.insert(rows.end(), all.begin() + int64_t(i) * width, all.begin() + int64_t(i + 1) * width);
  return rows;
}

ImageDataset part_of(const ImageDataset& whole, const std::vector<bool>& drawn, bool wanted, int64_t count) {
  ImageDataset part{whole.name, whole.classes, whole.image_shape, {}, {}};
  part.labels = rows_of(whole.labels, 1, drawn, wanted, count);
  const int64_t image = whole.image_shape.numel();
  if (whole.has_values())
    part.values = rows_of(whole.values, image, drawn, wanted, count);
  else
    part.pixels = rows_of(whole.pixels, image, drawn, wanted, count);
  return part;
}

/// Moves a share of `train` to the result.
ImageDataset take_out(ImageDataset& train, double share, uint64_t seed, uint64_t epochs_before,
                      const char* purpose) {
  require<ValueError>(share > 0 && share < 1, "a {} part of {} of the images is not within (0, 1)", purpose,
                      share);
  const int64_t size = train.size(), count = std::llround(share * double(size));
  require<ValueError>(count > 0 && count < size,
                      "a {} part of {} of {} training images leaves {} for it and {} for training; "
                      "both need at least one",
                      purpose, share, size, count, size - count);
  std::vector<bool> drawn = draw(count, size, seed, epochs_before);
  ImageDataset part = part_of(train, drawn, true, count);
  train = part_of(train, drawn, false, size - count);
  return part;
}

}  // namespace

void hold_out(DatasetSplits& splits, double share, uint64_t seed) {
  splits.validation = take_out(splits.train, share, seed, 1, "validation");
}

void hold_out_test(DatasetSplits& splits, double share, uint64_t seed) {
  splits.test = take_out(splits.train, share, seed, 2, "test");
}

}  // namespace treadle

/// Batches: which images come next, and copying them into a batch.
#pragma once  // public

#include <cstdint>
#include <span>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/split_mix64.h"
#include "treadle/data/dataset.h"

namespace treadle {

/// Endless batches of indices, every index once per epoch. The order of an epoch is a Fisher–Yates shuffle of
/// 0 … size-1 drawn from SplitMix64(mix(mix(seed) + epoch)): it depends on seed and epoch alone, not on
/// earlier epochs. One that does not shuffle gives 0 … size-1 in each epoch.
class TREADLE_API BatchSampler {
 public:
  /// Where the sampler stands: `position` indices of `epoch` have been given out.
  struct State {
    int64_t epoch = 0;
    int64_t position = 0;
    bool operator==(const State&) const = default;
  };

  /// Throws ValueError unless size and batch_size are positive.
  BatchSampler(int64_t size, int64_t batch_size, uint64_t seed, bool shuffled = true);

  /// The indices of the next batch, valid until the next call; the last one of an epoch may be shorter. After
  /// it, the next epoch begins. Not for a temporary sampler: the indices lie in the sampler.
  std::span<const int64_t> next() &;
  /// Passes the next batch over, and says how many indices it has. Who only counts pays for no order.
  int64_t skip();
  /// Whether all batches of state().epoch have been given out.
  bool epoch_finished() const { return state_.position == size_; }
  int64_t batch_size() const { return batch_size_; }
  int64_t batches_per_epoch() const { return (size_ - 1) / batch_size_ + 1; }

  State state() const { return state_; }
  /// Continues as the sampler that gave this state did. Throws ValueError when it is not one of such a
  /// sampler.
  void restore(State state);

 private:
  void shuffle();

  int64_t size_;
  int64_t batch_size_;
  uint64_t seed_;
  bool shuffled_;
  State state_;
  std::vector<int64_t> order_;
  int64_t order_epoch_ = -1;  ///< whose order that is; made when a batch is asked for
};

/// The shape [count, …example] of a batch.
TREADLE_API Shape batch_shape(int64_t count, const Shape& example);

/// Mean and standard deviation of pixel/255 for each channel, or of the values for each index of their first
/// axis; both empty: not normalised.
struct PixelNormalization {
  std::vector<float> mean;
  std::vector<float> deviation;
};

/// Throws ValueError unless it is empty or has one finite mean and one positive deviation per channel.
TREADLE_API void require_fit(const PixelNormalization& normalization, int64_t channels);

/// Throws ValueError for an index beyond the data set.
TREADLE_API void require_inside(const ImageDataset& dataset, std::span<const int64_t> indices);

/// Copies the values of an example [C, …], normalised; checks nothing.
TREADLE_API void convert_values(const float* values, float* out, const Shape& shape,
                                const PixelNormalization& normalization);

/// Copies one example as gather_batch() does; checks nothing.
TREADLE_API void convert_example(const ImageDataset& dataset, int64_t index, float* out,
                                 const PixelNormalization& normalization = {});

/// The same for the examples of the indices, one after another, in the calling thread; checks
/// nothing.
TREADLE_API void convert_examples(const ImageDataset& dataset, std::span<const int64_t> indices, float* out,
                                  const PixelNormalization& normalization = {});

/// What converting an example takes, about.
TREADLE_API Nanoseconds conversion_time(const ImageDataset& dataset);

/// Copies images to pixels[B, C, H, W] as pixel/255, or (pixel/255 - mean[c]) / deviation[c], values as they
/// are, or as (value - mean[c]) / deviation[c], and their labels to labels[B]. Throws ValueError for an index
/// beyond the data set, a data set that is not whole, and a normalization without one finite mean and one
/// positive deviation per channel.
TREADLE_API void gather_batch(const ImageDataset& dataset, std::span<const int64_t> indices, float* pixels,
                              int64_t* labels, const PixelNormalization& normalization = {});

/// The same with the bytes of images as they are. Throws ValueError for examples that are no images.
TREADLE_API void gather_batch(const ImageDataset& dataset, std::span<const int64_t> indices, uint8_t* pixels,
                              int64_t* labels);

}  // namespace treadle

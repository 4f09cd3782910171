/// Windows of a text as examples to train on.
#pragma once  // public

#include <cstdint>
#include <span>
#include <vector>

#include "treadle/core/device.h"
#include "treadle/train/fit.h"

namespace treadle {

/// Characters [B, T] of windows, and those that follow each [B, T]: the windows that begin at the places
/// given, as i64 on the device. Throws ValueError for a place behind which a window and a character do not
/// fit.
TREADLE_API std::vector<Tensor> text_batch(std::span<const int32_t> text, int64_t block,
                                           std::span<const int64_t> places, Device device);

/// A text cut into windows that lie side by side. The batches of each epoch cut it elsewhere: shift(epoch)
/// characters are passed over, fewer than a window, drawn from SplitMix64(mix(mix(seed) - 3) + epoch), so
/// that characters meet other contexts.
class TREADLE_API TextWindows final : public Examples {
 public:
  /// The text must outlive it. Throws ValueError unless it is longer than a block.
  TextWindows(std::span<const int32_t> text, int64_t block, uint64_t seed, Device device);

  int64_t size() const override { return count_; }
  /// As in the first epoch.
  std::vector<Tensor> batch(std::span<const int64_t> indices) const override { return batch(0, indices); }
  std::vector<Tensor> batch(int64_t epoch, std::span<const int64_t> indices) const;
  std::unique_ptr<BatchStream> batches(const BatchSampler& sampler) const override;
  int64_t shift(int64_t epoch) const;

 private:
  std::span<const int32_t> text_;
  int64_t block_, count_;
  uint64_t seed_;
  Device device_;
};

}  // namespace treadle

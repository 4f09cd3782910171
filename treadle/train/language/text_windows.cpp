#include "treadle/train/language/text_windows.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/data/batches.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {
namespace {

/// Windows that fit where any shift must leave room for them, but one at least.
int64_t windows_in(int64_t size, int64_t block) {
  require<ValueError>(block > 0 && size > block, "a text of {} characters has no window of {} and a next one",
                      size, block);
  return std::max<int64_t>((size - 1) / block - 1, 1);
}

/// A sampler's windows, cut as its epoch says.
class WindowStream final : public BatchStream {
 public:
  WindowStream(const TextWindows& windows, const BatchSampler& sampler)
      : windows_(windows), sampler_(sampler) {}
  std::vector<Tensor> next() override {
    const std::span<const int64_t> indices = sampler_.next();
    return windows_.batch(sampler_.state().epoch, indices);
  }

 private:
  const TextWindows& windows_;
  BatchSampler sampler_;
};

}  // namespace

std::vector<Tensor> text_batch(std::span<const int32_t> text, int64_t block, std::span<const int64_t> places,
                               Device device) {
  const auto count = int64_t(places.size());
  Tensor seen = Tensor::empty({count, block}, DType::i64), next = Tensor::empty({count, block}, DType::i64);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = places[size_t(i)];
    require<ValueError>(place >= 0 && place + block < int64_t(text.size()),
                        "a window of {} at {} does not fit into {} characters", block, place, text.size());
    const auto window = text.subspan(size_t(place), size_t(block) + 1);
    std::copy(window.begin(), window.end() - 1, seen.data<int64_t>() + i * block);
    std::copy(window.begin() + 1, window.end(), next.data<int64_t>() + i * block);
  }
  if (device == kCpu) return {seen, next};
  return {to(seen, device), to(next, device)};
}

TextWindows::TextWindows(std::span<const int32_t> text, int64_t block, uint64_t seed, Device device)
    : text_(text),
      block_(block),
      count_(windows_in(int64_t(text.size()), block)),
      seed_(seed),
      device_(device) {}

int64_t TextWindows::shift(int64_t epoch) const {
  const int64_t room = int64_t(text_.size()) - 1 - count_ * block_;
  SplitMix64 random(SplitMix64::mix(SplitMix64::mix(seed_) - 3) + uint64_t(epoch));
  return int64_t(random.below(uint64_t(std::min(room, block_ - 1)) + 1));
}

std::vector<Tensor> TextWindows::batch(int64_t epoch, std::span<const int64_t> indices) const {
  const int64_t first = shift(epoch);
  std::vector<int64_t> places;
  for (int64_t index : indices) places.push_back(first + index * block_);
  return text_batch(text_, block_, places, device_);
}

std::unique_ptr<BatchStream> TextWindows::batches(const BatchSampler& sampler) const {
  return std::make_unique<WindowStream>(*this, sampler);
}

}  // namespace treadle

#include "treadle/simt/profile/runtime/lane_trace.h"

#include <cstring>

namespace treadle::profiler {

void LaneTrace::compact() {
  const size_t left = size_ - cursor_;
  if (left > 0 && cursor_ > 0) {
    std::memmove(places_, places_ + cursor_, left * sizeof *places_);
    std::memmove(data_, data_ + cursor_, left * sizeof *data_);
  }
  blocks_end_ = blocks_end_ > cursor_ ? blocks_end_ - cursor_ : 0;
  size_ = left;
  cursor_ = 0;
}

void LaneTrace::grow() {
  capacity_ = capacity_ == 0 ? 256 : 2 * capacity_;
  places_ = static_cast<uint32_t*>(std::realloc(places_, capacity_ * sizeof *places_));
  data_ = static_cast<uint64_t*>(std::realloc(data_, capacity_ * sizeof *data_));
  if (places_ == nullptr || data_ == nullptr) std::abort();
}

}  // namespace treadle::profiler

/// One row of a softmax on the host: a padded copy in the computing type, on which every loop runs in whole
/// vectors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "treadle/kernels/math.h"

namespace treadle {

/// Room for `length` values of C, padded to whole vectors; short rows need no allocation.
template <class C>
class SoftmaxRow {
 public:
  static constexpr int64_t kLanes = 8;

  explicit SoftmaxRow(int64_t length) : length_(length), padded_((length + kLanes - 1) / kLanes * kLanes) {
    if (padded_ > kInline) large_.reset(new C[size_t(padded_)]);
    values_ = large_ ? large_.get() : inline_;
  }

  const C& operator[](int64_t i) const { return values_[i]; }

  /// Copies a row; `padding` follows it and must not change what is computed.
  template <class T>
  void load(const T* x, int64_t stride, C padding) {
    if (stride == 1) {
      for (int64_t i = 0; i < length_; ++i) values_[i] = C(x[i]);
    } else {
      for (int64_t i = 0; i < length_; ++i) values_[i] = C(x[i * stride]);
    }
    std::fill(values_ + length_, values_ + padded_, padding);
  }

  /// NaN may be passed over.
  C largest() const {
    return fold(
        C(-INFINITY), [](C a, C b) { return b > a ? b : a; }, [this](int64_t i) { return values_[i]; });
  }

  /// Replaces values by e^(value - shift) and returns their sum.
  C exponentiate(C shift) {
    for (int64_t i = 0; i < padded_; ++i) values_[i] = math::exp(values_[i] - shift);
    return sum();
  }

  C sum() const {
    return fold(
        C(0), [](C a, C b) { return a + b; }, [this](int64_t i) { return values_[i]; });
  }

  C dot(const SoftmaxRow& other) const {
    return fold(
        C(0), [](C a, C b) { return a + b; },
        [this, &other](int64_t i) { return values_[i] * other.values_[i]; });
  }

 private:
  static constexpr int64_t kInline = 256;

  template <class Merge, class Value>
  C fold(C start, Merge merge, Value value) const {
    C lanes[kLanes];
    std::fill_n(lanes, kLanes, start);
    for (int64_t i = 0; i < padded_; i += kLanes)
      for (int64_t k = 0; k < kLanes; ++k) lanes[k] = merge(lanes[k], value(i + k));
    for (int64_t width = kLanes / 2; width > 0; width /= 2)
      for (int64_t k = 0; k < width; ++k) lanes[k] = merge(lanes[k], lanes[k + width]);
    return lanes[0];
  }

  int64_t length_, padded_;
  C* values_;
  std::unique_ptr<C[]> large_;
  C inline_[kInline];
};

}  // namespace treadle

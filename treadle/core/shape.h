/// Shape and Strides: up to eight extents held inline. Light: device files include it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "treadle/core/export.h"

namespace treadle {

inline constexpr int kMaxRank = 8;

/// A short list of int64 extents or strides; logical order is always [N,C,H,W]. Entries are not checked here:
/// what makes a tensor of them does.
class Dims {
 public:
  constexpr Dims() = default;
  constexpr Dims(std::initializer_list<int64_t> values) {
    for (int64_t value : values) push_back(value);
  }
  /// `rank` entries of `value`.
  static constexpr Dims filled(int rank, int64_t value) {
    Dims dims;
    for (int i = 0; i < rank; ++i) dims.push_back(value);
    return dims;
  }

  constexpr int rank() const { return rank_; }
  constexpr bool empty() const { return rank_ == 0; }
  /// Entry i in [-rank, rank); negative counts from the end. Unchecked, since kernels use it.
  constexpr int64_t& operator[](int i) { return values_[i < 0 ? i + rank_ : i]; }
  constexpr int64_t operator[](int i) const { return values_[i < 0 ? i + rank_ : i]; }
  constexpr const int64_t* begin() const { return values_; }
  constexpr const int64_t* end() const { return values_ + rank_; }
  constexpr int64_t* begin() { return values_; }
  constexpr int64_t* end() { return values_ + rank_; }
  constexpr const int64_t* data() const { return values_; }

  constexpr void push_back(int64_t value) {
    if (rank_ == kMaxRank) throw_rank_overflow();
    values_[rank_++] = value;
  }

  constexpr bool operator==(const Dims& other) const {
    if (rank_ != other.rank_) return false;
    for (int i = 0; i < rank_; ++i)
      if (values_[i] != other.values_[i]) return false;
    return true;
  }

  /// Product of the extents; 1 for rank 0. Wraps where checked_numel() throws.
  constexpr int64_t numel() const {
    uint64_t product = 1;
    for (int i = 0; i < rank_; ++i) product *= uint64_t(values_[i]);
    return int64_t(product);
  }

 private:
  [[noreturn]] TREADLE_API static void throw_rank_overflow();

  int64_t values_[kMaxRank] = {};
  int rank_ = 0;
};

using Shape = Dims;
using Strides = Dims;

/// "[32, 1, 28, 28]"
TREADLE_API std::string to_string(const Dims& dims);

/// Row-major strides of `shape`, in elements.
TREADLE_API Strides contiguous_strides(const Shape& shape);

/// Strides of a [N,C,H,W] tensor whose channels are innermost; row-major for any other rank.
TREADLE_API Strides channels_last_strides(const Shape& shape);

/// Whether the elements lie row-major without gaps (extents of 1 are ignored).
TREADLE_API bool is_contiguous(const Shape& shape, const Strides& strides);

/// Whether a rank-4 tensor lies channels-last without gaps and that differs from row-major or is as good.
TREADLE_API bool is_channels_last(const Shape& shape, const Strides& strides);

/// Whether the elements fill one block of memory without gaps or overlap, in any order of axes.
TREADLE_API bool is_dense(const Shape& shape, const Strides& strides);

/// Elements from the first one to the last one reached (strides are never negative); 0 for an empty shape.
TREADLE_API int64_t reach(const Shape& shape, const Strides& strides);

/// Whether two places of a tensor may be one element: exactly for what views make (a stride of 0), and for
/// strides that do not nest, which only alias() makes, also where they happen to miss each other.
TREADLE_API bool may_overlap_itself(const Shape& shape, const Strides& strides);

/// Product of extents, throwing ShapeError on a negative extent or on overflow of int64.
TREADLE_API int64_t checked_numel(const Shape& shape);

/// NumPy's rule, aligned at the last axis. Throws ShapeError naming both shapes and `op`, also when the
/// result has too many elements.
TREADLE_API Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op);

/// Strides that read `shape` as `target` (0 along broadcast axes). Throws ShapeError.
TREADLE_API Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target);

/// Maps axis in [-rank, rank) to [0, rank). Throws ShapeError naming `op` and the rank.
TREADLE_API int normalize_axis(int64_t axis, int rank, const char* op);

}  // namespace treadle

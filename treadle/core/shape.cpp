#include "treadle/core/shape.h"

#include <algorithm>

#include "treadle/core/error.h"

namespace treadle {

void Dims::throw_rank_overflow() { throw ShapeError(fmt::format("a tensor has at most {} axes", kMaxRank)); }

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (int i = 0; i < dims.rank(); ++i) text += fmt::format("{}{}", i ? ", " : "", dims[i]);
  return text + "]";
}

namespace {

/// Strides are asked for before a shape is checked: what overflows is refused later, by checked_numel().
int64_t wrapping_product(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

}  // namespace

Strides contiguous_strides(const Shape& shape) {
  Strides strides = Dims::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i)
    strides[i] = wrapping_product(strides[i + 1], std::max<int64_t>(shape[i + 1], 1));
  return strides;
}

Strides channels_last_strides(const Shape& shape) {
  if (shape.rank() != 4) return contiguous_strides(shape);
  int64_t channels = std::max<int64_t>(shape[1], 1), width = std::max<int64_t>(shape[3], 1);
  const int64_t row = wrapping_product(width, channels);
  return {wrapping_product(std::max<int64_t>(shape[2], 1), row), 1, row, channels};
}

namespace {

/// Compares strides only where they matter: along axes of more than one element.
bool same_order(const Shape& shape, const Strides& strides, const Strides& wanted) {
  if (shape.numel() == 0) return true;
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != 1 && strides[i] != wanted[i]) return false;
  return true;
}

}  // namespace

bool is_contiguous(const Shape& shape, const Strides& strides) {
  return same_order(shape, strides, contiguous_strides(shape));
}

bool is_channels_last(const Shape& shape, const Strides& strides) {
  return shape.rank() == 4 && same_order(shape, strides, channels_last_strides(shape));
}

namespace {

/// Writes the axes in rising order of their strides: insertion sort, eight entries at most.
void sort_by_stride(const Strides& strides, int (&axes)[kMaxRank]) {
  for (int i = 0; i < strides.rank(); ++i) {
    int k = i;
    for (; k > 0 && strides[axes[k - 1]] > strides[i]; --k) axes[k] = axes[k - 1];
    axes[k] = i;
  }
}

}  // namespace

bool may_overlap_itself(const Shape& shape, const Strides& strides) {
  if (shape.numel() <= 1) return false;
  int axes[kMaxRank];
  sort_by_stride(strides, axes);
  int64_t last = 0;  // the furthest element along the axes so far
  for (int k = 0; k < shape.rank(); ++k) {
    if (shape[axes[k]] == 1) continue;
    if (strides[axes[k]] <= last) return true;
    last += (shape[axes[k]] - 1) * strides[axes[k]];
  }
  return false;
}

bool is_dense(const Shape& shape, const Strides& strides) {
  int axes[kMaxRank];
  sort_by_stride(strides, axes);
  int64_t expected = 1;
  for (int k = 0; k < shape.rank(); ++k) {
    int axis = axes[k];
    if (shape[axis] == 0) return true;
    if (shape[axis] == 1) continue;
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

int64_t reach(const Shape& shape, const Strides& strides) {
  if (shape.numel() == 0) return 0;
  int64_t last = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) last += (shape[axis] - 1) * strides[axis];
  return last + 1;
}

int64_t checked_numel(const Shape& shape) {
  // An extent of 0 counts as 1 here, so that strides cannot overflow either.
  int64_t product = 1;
  for (int64_t extent : shape) {
    require<ShapeError>(extent >= 0, "shape {} has a negative extent", shape);
    require<ShapeError>(!__builtin_mul_overflow(product, std::max<int64_t>(extent, 1), &product),
                        "shape {} has too many elements", shape);
  }
  return shape.numel();
}

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op) {
  int rank = std::max(a.rank(), b.rank());
  Shape result = Dims::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    int64_t x = i <= a.rank() ? a[-i] : 1, y = i <= b.rank() ? b[-i] : 1;
    require<ShapeError>(x == y || x == 1 || y == 1, "{}: shapes {} and {} do not broadcast", op, a, b);
    result[-i] = x == 1 ? y : x;
  }
  checked_numel(result);
  return result;
}

Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target) {
  require<ShapeError>(shape.rank() <= target.rank(), "shape {} does not expand to {}", shape, target);
  Strides result = Dims::filled(target.rank(), 0);
  for (int i = 1; i <= shape.rank(); ++i) {
    require<ShapeError>(shape[-i] == target[-i] || shape[-i] == 1, "shape {} does not expand to {}", shape,
                        target);
    result[-i] = shape[-i] == target[-i] ? strides[-i] : 0;
  }
  return result;
}

int normalize_axis(int64_t axis, int rank, const char* op) {
  require<ShapeError>(axis >= -rank && axis < rank, "{}: axis {} is out of range for {} axes", op, axis,
                      rank);
  return int(axis < 0 ? axis + rank : axis);
}

}  // namespace treadle

/// index_select and its gradient on the cpu device.
#include <algorithm>
#include <cstring>
#include <vector>

#include "treadle/core/data_mistake.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/layout/copy_elements.h"
#include "treadle/ops/layout/index_select_options.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {
namespace {

constexpr Nanoseconds kElement{0.25};

/// The indices as i64, checked against the extent they point into.
std::vector<int64_t> checked_indices(const TensorView& indices, int64_t extent) {
  std::vector<int64_t> result(size_t(indices.numel()));
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t at = int64_t(i) * indices.strides[0];
    result[i] = indices.dtype == DType::i32 ? indices.as<int32_t>()[at] : indices.as<int64_t>()[at];
    if (result[i] < 0 || result[i] >= extent)
      throw_data_mistake(kIndexOutOfRange, result[i], int64_t(i), extent);
  }
  return result;
}

template <class Word>
void select_row(Word* y, const Word* x, int64_t y_stride, int64_t x_stride, int64_t count) {
  if (y_stride == 1 && x_stride == 1)
    std::memcpy(y, x, size_t(count) * sizeof(Word));
  else
    for (int64_t i = 0; i < count; ++i) y[i * y_stride] = x[i * x_stride];
}

/// A nest over y, x without its indexed axis, and the indices along it.
void run_select(const Call& call) {
  const TensorView &x = call.input(0), &y = call.output();
  int axis = normalize_axis(call.options<IndexSelectOptions>().axis, x.shape.rank(), "index_select");
  auto indices = checked_indices(call.input(1), x.shape[axis]);
  auto nest = make_strided<3>(
      y.shape, {y.strides, without_axis(x.strides, axis), along_axis(y.shape.rank(), axis, 1)});
  const int64_t step = x.strides[axis];
  with_word_type(x.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::type;
    for_each_row(nest, kElement, [&](const auto& o, const auto& s, int64_t count) {
      Word* to = y.as<Word>() + o[0];
      const Word* from = x.as<Word>() + o[1];
      if (s[2] == 0)
        select_row(to, from + indices[o[2]] * step, s[0], s[1], count);
      else
        for (int64_t i = 0; i < count; ++i) to[i * s[0]] = from[indices[o[2] + i] * step];
    });
  });
}

/// For every position along the axis, the places that point to it, in order: places[first[j] … first[j + 1]).
struct PlacesByIndex {
  std::vector<int64_t> first, places;

  PlacesByIndex(const std::vector<int64_t>& indices, int64_t extent)
      : first(size_t(extent) + 1), places(indices.size()) {
    for (int64_t index : indices) ++first[index + 1];
    for (int64_t j = 0; j < extent; ++j) first[j + 1] += first[j];
    std::vector<int64_t> next(first.begin(), first.end() - 1);
    for (size_t i = 0; i < indices.size(); ++i) places[next[indices[i]]++] = int64_t(i);
  }
};

constexpr int64_t kChunk = 256;  ///< sums kept on the stack

/// Sums, for `count` neighbours of dx at one position along the axis, what the places give.
template <class T>
void gather_row(T* dx, int64_t dx_stride, const T* dy, int64_t dy_stride, int64_t step,
                std::span<const int64_t> places, int64_t count) {
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    const int64_t width = std::min(kChunk, count - begin);
    Accumulate<T> sums[kChunk] = {};
    for (int64_t place : places)
      for (int64_t i = 0; i < width; ++i) sums[i] += dy[place * step + (begin + i) * dy_stride];
    for (int64_t i = 0; i < width; ++i) dx[(begin + i) * dx_stride] = T(sums[i]);
  }
}

/// A nest over dx, dy without its indexed axis, and the position along the axis.
void run_gradient(const Call& call) {
  const TensorView &dy = call.input(0), &dx = call.output();
  const auto& options = call.options<IndexSelectGradientOptions>();
  int axis = normalize_axis(options.axis, dx.shape.rank(), "index_select_gradient");
  const PlacesByIndex by_index(checked_indices(call.input(1), options.extent), options.extent);
  auto nest = make_strided<3>(
      dx.shape, {dx.strides, without_axis(dy.strides, axis), along_axis(dx.shape.rank(), axis, 1)});
  with_floating_type(dy.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto places_of = [&](int64_t j) {
      return std::span(by_index.places).subspan(by_index.first[j], by_index.first[j + 1] - by_index.first[j]);
    };
    for_each_row(nest, kElement, [&](const auto& o, const auto& s, int64_t count) {
      T* to = dx.as<T>() + o[0];
      const T* from = dy.as<T>() + o[1];
      if (s[2] == 0) return gather_row(to, s[0], from, s[1], dy.strides[axis], places_of(o[2]), count);
      for (int64_t i = 0; i < count; ++i)
        gather_row(to + i * s[0], 0, from + i * s[1], 0, dy.strides[axis], places_of(o[2] + i), 1);
    });
  });
}

}  // namespace

namespace ops {

void register_layout_cpu_index_select(Registry& registry) {
  add_variant(registry, "index_select", {.name = "loop", .device = DeviceKind::cpu, .run = run_select});
  add_variant(registry, "index_select_gradient",
              {.name = "loop", .device = DeviceKind::cpu, .run = run_gradient});
}

}  // namespace ops
}  // namespace treadle

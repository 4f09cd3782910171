/// Inputs of a contract case: values, rounded to the dtype under test, laid out as the case asks.
#pragma once

#include <cstdint>
#include <vector>

#include "treadle/graph/op.h"

namespace treadle::contract {

/// How an input lies in memory: as cases declare it, and two ways more that slices leave behind.
enum class Layout : uint8_t {
  contiguous,
  channels_last,
  transposed,
  sliced,    ///< every second element of a block
  expanded,  ///< one row that all rows share
  stepped,   ///< cut with steps from a tensor no larger than that takes
  stray      ///< row-major, but along extents of 1 with strides that mean nothing
};
inline constexpr Layout kAllLayouts[] = {Layout::contiguous, Layout::channels_last, Layout::transposed,
                                         Layout::sliced,     Layout::expanded,      Layout::stepped,
                                         Layout::stray};

const char* name_of(Layout layout);
Layout layout_of(TestLayout declared);

/// Strides of `shape` in a layout, the first element's offset, and the elements of the block around it.
struct Placement {
  Strides strides;
  int64_t offset = 0, room = 0;
};
Placement place(const Shape& shape, Layout layout);

/// The dtype an input takes when `under_test` is tested.
DType dtype_of_input(const TestInput& input, DType under_test);

/// Row-major values of input number `index`, already rounded to `dtype`, as they are in `layout`.
ReferenceTensor fill_input(const TestInput& input, Layout layout, int index, DType dtype, uint64_t seed);

/// The same values as a tensor on `device`, in a layout.
Tensor to_tensor(const ReferenceTensor& values, Layout layout, DType dtype, Device device);

/// The smallest normal number of a floating dtype; of f32 for others.
double smallest_normal(DType dtype);

/// A value stored as `dtype` and read back.
double rounded(double value, DType dtype);

/// Seeded numbers in [-1.5, -0.5] or [0.5, 1.5]: an upstream gradient without zeros or a common value.
std::vector<double> uneven(int64_t count, uint64_t seed);

}  // namespace treadle::contract

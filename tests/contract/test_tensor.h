/// Inputs of a contract case: values, rounded to the dtype under test, laid out as the case asks.
#pragma once

#include <cstdint>
#include <vector>

#include "treadle/graph/op.h"

namespace treadle::contract {

/// The dtype an input takes when `under_test` is tested.
DType dtype_of_input(const TestInput& input, DType under_test);

/// Row-major values of input number `index`, already rounded to `dtype`.
ReferenceTensor fill_input(const TestInput& input, int index, DType dtype, uint64_t seed);

/// The same values as a tensor on `device`, in the input's layout.
Tensor to_tensor(const ReferenceTensor& values, TestLayout layout, DType dtype, Device device);

/// A value stored as `dtype` and read back.
double rounded(double value, DType dtype);

/// Seeded numbers in [-1.5, -0.5] or [0.5, 1.5]: an upstream gradient without zeros or a common value.
std::vector<double> uneven(int64_t count, uint64_t seed);

}  // namespace treadle::contract

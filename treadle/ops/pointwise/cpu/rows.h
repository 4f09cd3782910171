/// Pointwise calls on the cpu device, row by row: what does not depend on the function, compiled once.
#pragma once

#include <cstdint>
#include <span>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"

namespace treadle::function_rows {

inline constexpr Nanoseconds kElement{0.25};
inline constexpr int kMostOperands = 2;

/// `count` elements of the result and of the operands. Steps are counted in elements: 0 is the same number
/// for the whole row.
struct Row {
  void* result;
  int64_t result_step;
  const void* operands[kMostOperands];
  int64_t steps[kMostOperands];
  int64_t count;
};

/// Computes a row; `function` is the pointwise function with its options.
using RunRow = void (*)(const void* function, const Row& row);

/// All rows of a call, spread over threads. Operands of half types are given to `run` as floats, a few
/// hundred at a time, and results of half types are taken as floats: both are 4 bytes a step then.
void run_rows(const Call& call, const void* function, RunRow run);

/// One row of a chain: `operands` of type `dtype` and the result, of type `result_dtype`, lie close together.
void run_block(DType dtype, DType result_dtype, std::span<const void* const> operands, void* result,
               int64_t count, const void* function, RunRow run);

}  // namespace treadle::function_rows

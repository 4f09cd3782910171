#include "treadle/ops/pointwise/cpu/rows.h"

#include <algorithm>

#include "treadle/ops/strided_operands.h"
#include "treadle/simd/half_rows.h"

namespace treadle::function_rows {
namespace {

constexpr int64_t kBlock = 512;  ///< floats: operands and result fit the first cache

/// A function with the types of its operands and of its result.
struct TypedFunction {
  const void* function;
  RunRow run;
  DType operands;
  DType result;
  int count;  ///< of operands
};

/// A row of half types, in blocks of floats. Results of another type, those of comparisons, go where they
/// belong.
void run_half_row(const TypedFunction& f, const Row& row) {
  float operands[kMostOperands][kBlock], result[kBlock];
  Row floats = row;
  for (int k = 0; k < f.count; ++k) {
    floats.operands[k] = operands[k];
    floats.steps[k] = row.steps[k] == 0 ? 0 : 1;
    if (row.steps[k] == 0) halves_to_floats(f.operands, row.operands[k], 1, operands[k], 1);
  }
  const bool rounds = is_half(f.result);
  if (rounds) floats.result = result, floats.result_step = 1;
  for (int64_t begin = 0; begin < row.count; begin += kBlock) {
    floats.count = std::min(kBlock, row.count - begin);
    for (int k = 0; k < f.count; ++k)
      if (row.steps[k] != 0)
        halves_to_floats(f.operands, element_at(row.operands[k], begin * row.steps[k], f.operands),
                         row.steps[k], operands[k], floats.count);
    void* place = element_at(row.result, begin * row.result_step, f.result);
    if (!rounds) floats.result = place;
    f.run(f.function, floats);
    if (rounds) floats_to_halves(f.result, result, place, row.result_step, floats.count);
  }
}

void run_row(const TypedFunction& f, const Row& row) {
  if (is_half(f.operands)) return run_half_row(f, row);
  f.run(f.function, row);
}

template <int kOperands>
void run_nest(const Call& call, const TypedFunction& f) {
  const auto nest = make_strided<kOperands + 1>(call.output(), call.inputs);
  for_each_row(nest, kElement, [&](const auto& offsets, const auto& strides, int64_t count) {
    Row row{.result = call.output().element(offsets[0]),
            .result_step = strides[0],
            .operands = {},
            .steps = {},
            .count = count};
    for (int k = 0; k < kOperands; ++k) {
      row.operands[k] = call.input(k).element(offsets[k + 1]);
      row.steps[k] = strides[k + 1];
    }
    run_row(f, row);
  });
}

}  // namespace

void run_rows(const Call& call, const void* function, RunRow run) {
  const int count = int(call.inputs.size());
  const TypedFunction f{function, run, call.input(0).dtype, call.output().dtype, count};
  static_assert(kMostOperands == 2);
  count == 1 ? run_nest<1>(call, f) : run_nest<2>(call, f);
}

void run_block(DType dtype, DType result_dtype, std::span<const void* const> operands, void* result,
               int64_t count, const void* function, RunRow run) {
  Row row{.result = result, .result_step = 1, .operands = {}, .steps = {1, 1}, .count = count};
  std::copy(operands.begin(), operands.end(), row.operands);
  run_row({function, run, dtype, result_dtype, int(operands.size())}, row);
}

}  // namespace treadle::function_rows

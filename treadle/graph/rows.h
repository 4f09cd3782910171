/// Which rows of its operands a row of an op's results follows from: what lets a program go through a batch
/// in pieces.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "treadle/graph/attributes.h"
#include "treadle/graph/spec.h"

namespace treadle {

/// By number, the operands whose rows, along their first axis, are the rows of all outputs: some rows of
/// these, and all of the other operands, make those rows of the outputs, and what they add to outputs that
/// are sums (Op::sums). None where a row of an output follows from several, or there is no such axis.
using RowOperands = std::function<std::vector<int>(Specs inputs, const Attributes& attributes)>;

/// The first one, whose first axis is the batch.
inline std::vector<int> rows_of_first(Specs inputs, const Attributes&) {
  return inputs[0].shape.rank() > 0 ? std::vector{0} : std::vector<int>{};
}

/// The first one, unless the op works along the first axis: `axis` counts from the end where it is negative.
inline std::vector<int> rows_of_first_but_along(int64_t axis, Specs inputs) {
  const int rank = inputs[0].shape.rank();
  return rank > 0 && axis != 0 && axis != -rank ? std::vector{0} : std::vector<int>{};
}

/// The named ones, whose first axis is the batch.
inline RowOperands rows_of_operands(std::vector<int> operands) {
  return [operands = std::move(operands)](Specs, const Attributes&) { return operands; };
}

/// Those that are broadcast along all axes but the first.
inline std::vector<int> rows_of_broadcast(Specs inputs, const Attributes&) {
  int rank = 0;
  for (const TensorSpec& input : inputs) rank = std::max(rank, input.shape.rank());
  int64_t rows = 1;
  const auto reaches = [&](const TensorSpec& input) {
    return input.defined && input.shape.rank() == rank && rank > 0 && input.shape[0] == rows;
  };
  for (const TensorSpec& input : inputs)
    if (input.shape.rank() == rank && rank > 0 && input.shape[0] != 1) rows = input.shape[0];
  std::vector<int> operands;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (reaches(inputs[i])) operands.push_back(int(i));
  return operands;
}

}  // namespace treadle

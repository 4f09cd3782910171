/// Cost: the operations and bytes of a call, and the usual ways for an op to declare its own.
#pragma once

#include <functional>

#include "treadle/graph/variant.h"

namespace treadle {

inline double elements(const TensorView& view) { return double(view.numel()); }

/// Elements of all outputs.
inline double elements_out(const Call& call) {
  double count = 0;
  for (const TensorView& view : call.outputs) count += elements(view);
  return count;
}

using OperationCount = std::function<double(const Call& call)>;

/// For ops that only move elements.
inline OperationCount no_operations() {
  return [](const Call&) { return 0.0; };
}
/// So many operations for each element of all outputs.
inline OperationCount for_each_output(double operations) {
  return [operations](const Call& call) { return operations * elements_out(call); };
}
/// So many operations for each element of input i.
inline OperationCount for_each_of_input(int i, double operations) {
  return [i, operations](const Call& call) { return operations * elements(call.input(i)); };
}

/// For products: each output is a sum over the last axis of input 0.
inline OperationCount for_each_product() {
  return [](const Call& call) { return 2 * elements(call.output()) * double(call.input(0).shape[-1]); };
}
/// For gradients of weights: each element of input 0 [N, in] meets each column of input 1 [N, out].
inline OperationCount for_each_pair_of_columns() {
  return [](const Call& call) { return 2 * elements(call.input(0)) * double(call.input(1).shape[-1]); };
}

/// Bytes that one call must move at least: every operand once. Elements that an expanded operand repeats
/// count once.
TREADLE_API double bytes_of(const Call& call);

}  // namespace treadle

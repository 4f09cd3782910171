/// The one call below every typed function.
#pragma once

#include <vector>

#include "treadle/core/tensor.h"
#include "treadle/graph/attributes.h"

namespace treadle {

struct Op;

/// Runs an op: checks the operands, infers the outputs, picks a variant, runs it, and leaves a node when a
/// gradient is required. Throws ValueError for an operand that is
/// undefined or missing, DeviceError for operands on two devices, DTypeError, and what the op's infer throws.
TREADLE_API std::vector<Tensor> apply(const Op& op, std::vector<Tensor> inputs,
                                      const Attributes& attributes = {});

/// The same for an op that updates inputs in place; raises their version. Throws ValueError, too, where an
/// updated input may hold an element twice, as an expanded one does.
TREADLE_API void apply_in_place(const Op& op, std::vector<Tensor> inputs, const Attributes& attributes = {});

/// The inputs that an update in place overwrites, when it is given `input_count` of them.
TREADLE_API std::vector<int> mutated_inputs(const Op& op, int input_count);

}  // namespace treadle

/// Calls of ops made up for timing: inputs of given shapes, and the variants that take them.
#pragma once

#include <string>
#include <vector>

#include "treadle/core/tensor.h"
#include "treadle/graph/op.h"

namespace treadle::cli {

struct OpCase {
  std::string label;
  std::vector<Tensor> inputs;
  Attributes attributes;
};

/// Seeded values in [-1, 1).
Tensor random_input(const Shape& shape, DType dtype, Device device, bool channels_last);

/// Calls of the sizes that the op declares for benches, with seeded inputs; without any, its largest test
/// case.
std::vector<OpCase> timed_cases(const Op& op, DType dtype, Device device);

/// Variants that take the case and that the settings allow, most preferred first.
std::vector<const Variant*> variants_for(const Op& op, const OpCase& entry, Device device);

}  // namespace treadle::cli

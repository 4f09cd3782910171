/// Calls of ops on operands without memory, for what looks at shapes, layouts, dtypes, options and addresses
/// only.
#pragma once

#include <span>
#include <vector>

#include "treadle/graph/op.h"

namespace treadle {

/// The call of a test case, all operands contiguous. Inputs of no fixed dtype have `tested`.
class CallWithoutMemory {
 public:
  CallWithoutMemory(const Op& op, const TestCase& test_case, DType tested = DType::f32)
      : attributes_(test_case.attributes) {
    for (const TestInput& input : test_case.inputs) {
      specs_.push_back(TensorSpec::of(input.shape, input.dtype.empty() ? tested : input.dtype[0]));
      specs_.back().defined = input.defined;
    }
    inputs_ = specs_.size();
    for (const TensorSpec& spec : op.infer(specs_, attributes_)) specs_.push_back(spec);
  }

  /// With operands at addresses from `begin` on, far apart; valid until the next one.
  Call at(uintptr_t begin) {
    views_.clear();
    for (const TensorSpec& spec : specs_) {
      void* address = reinterpret_cast<void*>(begin + views_.size() * 65536);
      views_.push_back(spec.defined ? TensorView{address, spec.dtype, spec.shape, spec.strides}
                                    : TensorView{});
    }
    const std::span<const TensorView> all(views_);
    return {all.first(inputs_), all.subspan(inputs_), attributes_};
  }

 private:
  Attributes attributes_;
  std::vector<TensorSpec> specs_;  ///< of inputs, then outputs
  size_t inputs_ = 0;
  std::vector<TensorView> views_;
};

}  // namespace treadle

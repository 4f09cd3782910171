#include "treadle/graph/composition.h"

#include <algorithm>

#include "treadle/graph/op.h"
#include "treadle/graph/select.h"

namespace treadle {
namespace {

/// Scratch of a call inside another one. What it keeps is made of the outer call's operands, by their numbers
/// there; of results in between, and of several operands together, nothing is kept.
class InnerWorkspace final : public Workspace {
 public:
  InnerWorkspace(const Call& outer, std::span<const TensorView> inputs) : outer_(outer), inputs_(inputs) {}

  void* take(size_t bytes) override { return outer_.scratch->take(bytes); }
  KeptMemory keep(size_t bytes, std::initializer_list<int> inputs) override {
    const int operand = inputs.size() == 1 ? operand_of(inputs_[size_t(*inputs.begin())]) : -1;
    return operand < 0 ? KeptMemory{take(bytes), false} : outer_.scratch->keep(bytes, {operand});
  }

 private:
  /// The number of the outer call's input that lies there.
  int operand_of(const TensorView& view) const {
    auto lies_there = [&](const TensorView& input) { return input.data == view.data; };
    auto found = std::find_if(outer_.inputs.begin(), outer_.inputs.end(), lies_there);
    return found == outer_.inputs.end() ? -1 : int(found - outer_.inputs.begin());
  }

  const Call& outer_;
  std::span<const TensorView> inputs_;
};

bool is_empty(std::span<const TensorView> outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [](const TensorView& y) { return y.numel() == 0; });
}

}  // namespace

TensorView Composition::scratch(const Shape& shape, DType dtype) const {
  return {call_.scratch->take(size_t(shape.numel()) * size_of(dtype)), dtype, shape,
          contiguous_strides(shape)};
}

void Composition::run(const Op& op, Operands inputs, Operands outputs, const Attributes& attributes) const {
  if (is_empty(outputs)) return;
  InnerWorkspace workspace(call_, inputs);
  const Call inner{inputs, outputs, attributes, call_.stream, &workspace};
  select_variant(op, inner, device_).run(inner);
}

Variant composed_variant(const Op& op, DeviceKind device) {
  return {.name = "composed",
          .device = device,
          .run = [&op, device](const Call& call) { op.compose(Composition(call, device)); },
          .preference = 10};
}

}  // namespace treadle

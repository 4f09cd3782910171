#include "treadle/graph/widened_variant.h"

#include <array>

#include "treadle/core/error.h"
#include "treadle/graph/op.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/select.h"
#include "treadle/graph/settings.h"

namespace treadle {
namespace {

constexpr size_t kMostOperands = 8;
using Views = std::array<TensorView, kMostOperands>;

/// Laid out as the operand where that has no gaps.
TensorView widened(const Composition& call, const TensorView& view) {
  if (!view.defined() || !is_half(view.dtype)) return view;
  TensorView wide = call.scratch(view.shape, DType::f32);
  if (is_dense(view.shape, view.strides)) wide.strides = view.strides;
  return wide;
}

/// Scratch of the outer call; of what was widened nothing is kept.
class ScratchAlone final : public Workspace {
 public:
  explicit ScratchAlone(Workspace& outer) : outer_(outer) {}
  void* take(size_t bytes) override { return outer_.take(bytes); }

 private:
  Workspace& outer_;
};

/// The preferred one of those that evaluate directly, whichever the user has named for the call in the half
/// type: what turns an infinity into NaN is worth no name of its own here.
const Variant& variant_for(const Op& op, const Call& call, DeviceKind device) {
  for (const Variant& variant : op.variants)
    if (variant.device == device && variant.error_growth == 1 && is_allowed(variant, settings()) &&
        (!variant.when || variant.when(call)))
      return variant;
  throw DeviceError(fmt::format("{}: no variant on {} takes f32", op.name, name_of(device)));
}

void run(const Op& op, DeviceKind device, const Call& call) {
  const Composition outer(call, device);
  const size_t inputs = call.inputs.size(), outputs = call.outputs.size();
  require(inputs + outputs <= kMostOperands, "{}: more than {} operands", op.name, kMostOperands);
  Views views;
  for (size_t i = 0; i < inputs; ++i) {
    views[i] = widened(outer, call.inputs[i]);
    if (views[i].data != call.inputs[i].data) registry().convert(outer, call.inputs[i], views[i]);
  }
  for (size_t k = 0; k < outputs; ++k) views[inputs + k] = widened(outer, call.outputs[k]);
  ScratchAlone scratch(*call.scratch);
  const std::span<const TensorView> all(views);
  const Call wide{all.first(inputs), all.subspan(inputs, outputs), call.attributes, call.stream, &scratch};
  variant_for(op, wide, device).run(wide);
  for (size_t k = 0; k < outputs; ++k)
    if (wide.outputs[k].data != call.outputs[k].data)
      registry().convert(outer, wide.outputs[k], call.outputs[k]);
}

}  // namespace

Variant widened_variant(const Op& op, DeviceKind device) {
  return {.name = "widened",
          .device = device,
          .run = [&op, device](const Call& call) { run(op, device, call); },
          .when = [](const Call& call) { return is_half(call.input(0).dtype); },
          .preference = 2};
}

}  // namespace treadle

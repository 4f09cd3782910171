#include "treadle/engines/onednn/onednn.h"

#include <algorithm>

#include "treadle/core/error.h"
#include "treadle/core/plugin.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace onednn {
namespace {

const Plugin& plugin() {
  static const Plugin& opened = open_plugin("onednn", TREADLE_ONEDNN_ABI_VERSION);
  return opened;
}

}  // namespace

const TreadleOnednnApi* api() { return static_cast<const TreadleOnednnApi*>(plugin().table); }

namespace {

/// The view's strides; where an extent of 1 gives them no meaning, those of its layout, or more than any
/// other axis reaches.
Strides meaningful_strides(const TensorView& view) {
  if (view.contiguous()) return contiguous_strides(view.shape);
  if (view.channels_last()) return channels_last_strides(view.shape);
  Strides strides = view.strides;
  int64_t outermost = 1;
  for (int axis = 0; axis < view.shape.rank(); ++axis)
    if (view.shape[axis] > 1) outermost = std::max(outermost, view.shape[axis] * strides[axis]);
  for (int axis = 0; axis < view.shape.rank(); ++axis)
    if (view.shape[axis] == 1) strides[axis] = outermost;
  return strides;
}

}  // namespace

TreadleOnednnTensor describe(const TensorView& view) {
  TreadleOnednnTensor tensor{view.data, plugin_dtype(view.dtype), view.shape.rank(), {}, {}};
  const Strides strides = meaningful_strides(view);
  for (int axis = 0; axis < view.shape.rank(); ++axis)
    tensor.shape[axis] = view.shape[axis], tensor.strides[axis] = strides[axis];
  return tensor;
}

bool nests(const TensorView& view) {
  int axes[kMaxRank], count = 0;
  for (int axis = 0; axis < view.shape.rank(); ++axis) {  // insertion sort by stride
    if (view.shape[axis] <= 1) continue;
    int k = count++;
    for (; k > 0 && view.strides[axes[k - 1]] > view.strides[axis]; --k) axes[k] = axes[k - 1];
    axes[k] = axis;
  }
  int64_t least = 1;
  for (int k = 0; k < count; ++k) {
    if (view.strides[axes[k]] < least) return false;
    least = view.strides[axes[k]] * view.shape[axes[k]];
  }
  return true;
}

bool takes(std::initializer_list<const TensorView*> operands) {
  const DType dtype = (*operands.begin())->dtype;
  if (dtype != DType::f32 && dtype != DType::bf16) return false;
  for (const TensorView* operand : operands)
    if (operand->dtype != dtype || operand->numel() == 0 || operand->shape.rank() > TREADLE_ONEDNN_MAX_RANK)
      return false;
  return api() != nullptr && (dtype == DType::f32 || api()->multiplies_bf16());
}

void require_success(int status, const char* op, const char* message) {
  require(status == TREADLE_ONEDNN_OK, "{}: oneDNN: {}", op, message);
}

}  // namespace onednn

std::string onednn_absence() { return onednn::plugin().absence; }

std::string onednn_version() { return onednn::api() ? onednn::api()->onednn_version() : ""; }

namespace onednn {

void register_onednn(Registry& registry) { add_engine(registry, Engine::onednn, onednn_absence); }

}  // namespace onednn
}  // namespace treadle

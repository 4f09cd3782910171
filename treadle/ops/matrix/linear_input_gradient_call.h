/// What the variants of linear_input_gradient share on every device. Light: device files include it.
#pragma once

#include "treadle/graph/variant.h"

namespace treadle {

/// Writes dy·w, all of it, into the call's output, by the device's preferred matmul.
inline void run_whole_input_gradient(const Call& call, DeviceKind device) {
  const Attributes none;
  run_preferred("matmul", {call.inputs.first(2), call.outputs, none, call.stream, call.scratch}, device);
}

}  // namespace treadle

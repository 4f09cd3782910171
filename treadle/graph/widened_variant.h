/// The variant "widened" of ops that autocast has compute in a half type: what serves a machine, or a call,
/// for which nothing computes in that type.
#pragma once

#include "treadle/core/device.h"
#include "treadle/graph/variant.h"

namespace treadle {

struct Op;

/// Takes f16 and bf16: operands as f32, the op's own variant for f32, and results rounded once. `op` stays
/// where it is.
Variant widened_variant(const Op& op, DeviceKind device);

}  // namespace treadle

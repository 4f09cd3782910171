/// ComputeScope: around everything that runs variants.
#pragma once

#include "treadle/core/device.h"
#include "treadle/core/floating_point.h"
#include "treadle/graph/settings.h"

namespace treadle {

/// On `cpu` subnormal numbers are flushed unless the settings keep them; threads of parallel_for do as the
/// thread that calls it. `simt` keeps them, as the kernels do on `cuda` (nvcc's -ftz=false).
class ComputeScope : FloatingPointScope {
 public:
  explicit ComputeScope(DeviceKind kind)
      : FloatingPointScope(kind == DeviceKind::cpu && !settings().keep_subnormals ? Subnormals::flush
                                                                                  : Subnormals::keep) {}
};

}  // namespace treadle

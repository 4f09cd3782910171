#include "treadle/simd/dispatch.h"

#include <hwy/targets.h>

#include "treadle/core/simd_limit.h"

namespace treadle::cpu {

/// Of Highway's targets the better one has the lower bit.
void limit_dispatch() {
#if HWY_ARCH_X86
  if (simd_limit() == SimdLimit::avx2) hwy::DisableTargets(HWY_AVX2 - 1);
  if (simd_limit() == SimdLimit::sse4) hwy::DisableTargets(HWY_SSE4 - 1);
#endif
}

}  // namespace treadle::cpu

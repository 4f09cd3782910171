#include "treadle/simd/dispatch.h"

#include "treadle/simd/targets.h"

#include <hwy/highway.h>

#include "treadle/core/simd_limit.h"

namespace treadle::cpu {

/// Of Highway's targets the better one has the lower bit.
void limit_dispatch() {
#if HWY_ARCH_X86
  if (simd_limit() == SimdLimit::avx2) hwy::DisableTargets(HWY_AVX2 - 1);
  if (simd_limit() == SimdLimit::sse4) hwy::DisableTargets(HWY_SSE4 - 1);
#endif
}

int64_t compiled_targets() { return hwy::SupportedTargets() & HWY_TARGETS; }

}  // namespace treadle::cpu

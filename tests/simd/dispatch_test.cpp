/// TREADLE_SIMD keeps the kernels of this program to what it names: all of its tests then run so.
#include "treadle/simd/dispatch.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "treadle/core/runtime.h"
#include "treadle/core/simd_limit.h"
#include "treadle/graph/registry.h"
#include "treadle/simd/instruction_sets.h"

namespace treadle::cpu {
namespace {

/// Tests of kernels register no ops by themselves.
class Limited : public testing::Environment {
  void SetUp() override { registry(); }
};
[[maybe_unused]] const testing::Environment* const limited = testing::AddGlobalTestEnvironment(new Limited);

TEST(Dispatch, StaysWithinTheLimit) {
#if HWY_ARCH_X86
  const int64_t wide = simd_limit() == SimdLimit::sse4   ? HWY_SSE4 - 1
                       : simd_limit() == SimdLimit::avx2 ? HWY_AVX2 - 1
                                                         : 0;
  EXPECT_EQ(hwy::SupportedTargets() & wide, 0);
#endif
  EXPECT_TRUE(simd_limit() != SimdLimit::sse4 || !has_avx2());
  const std::string name = name_of(simd_limit());
  EXPECT_EQ(runtime(kCpu).description().ends_with(name.empty() ? " cores" : "at most " + name), true);
}

}  // namespace
}  // namespace treadle::cpu

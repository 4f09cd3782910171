/// The instruction sets that SIMD sources are compiled for. Include it before foreach_target.h, which
/// compiles a source once for each.
#pragma once

// Register tiles are arrays of vectors, which vectors without a fixed size cannot form. SSSE3: processors
// from before 2008 take the scalar code.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3)

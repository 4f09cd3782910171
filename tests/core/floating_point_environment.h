/// What a caller can see of a thread's floating-point environment.
#pragma once

#include <cfenv>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace treadle {

/// Rounding, flags and traps, and on x86-64 the control register as it is.
inline std::vector<unsigned> floating_point_environment() {
  std::vector<unsigned> state{unsigned(std::fegetround()), unsigned(std::fetestexcept(FE_ALL_EXCEPT))};
#if defined(__GLIBC__)
  state.push_back(unsigned(fegetexcept()));
#endif
#if defined(__x86_64__)
  state.push_back(_mm_getcsr());
#endif
  return state;
}

}  // namespace treadle

#include "treadle/core/floating_point.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace treadle {

#if defined(__x86_64__)

namespace {
constexpr uint32_t kNoTraps = 0x1f80;  ///< and rounding to nearest, no flags
constexpr uint32_t kFlushResults = 0x8000, kFlushOperands = 0x0040;
}  // namespace

FloatingPointState FloatingPointState::current() {
  FloatingPointState state;
  state.control_ = _mm_getcsr();
  return state;
}

FloatingPointState FloatingPointState::computing(Subnormals subnormals) {
  FloatingPointState state;
  state.control_ = kNoTraps | (subnormals == Subnormals::flush ? kFlushResults | kFlushOperands : 0);
  return state;
}

void FloatingPointState::apply() const { _mm_setcsr(control_); }

#elif defined(__aarch64__)

namespace {
constexpr uint64_t kFlush = uint64_t{1} << 24;  ///< FPCR.FZ; FZ16, which flushes half precision, stays off
}

FloatingPointState FloatingPointState::current() {
  FloatingPointState state;
  asm volatile("mrs %0, fpcr" : "=r"(state.control_));
  asm volatile("mrs %0, fpsr" : "=r"(state.flags_));
  return state;
}

FloatingPointState FloatingPointState::computing(Subnormals subnormals) {
  FloatingPointState state;
  state.control_ = subnormals == Subnormals::flush ? kFlush : 0;
  state.flags_ = 0;
  return state;
}

void FloatingPointState::apply() const {
  asm volatile("msr fpcr, %0" : : "r"(control_));
  asm volatile("msr fpsr, %0" : : "r"(flags_));
}

#else

FloatingPointState FloatingPointState::current() {
  FloatingPointState state;
  std::fegetenv(&state.environment_);
  return state;
}

/// Standard C++ cannot flush: here subnormal numbers are kept.
FloatingPointState FloatingPointState::computing(Subnormals) {
  const FloatingPointState before = current();
  std::fesetenv(FE_DFL_ENV);
  const FloatingPointState state = current();
  before.apply();
  return state;
}

void FloatingPointState::apply() const { std::fesetenv(&environment_); }

#endif

FloatingPointScope::FloatingPointScope(Subnormals subnormals) : before_(FloatingPointState::current()) {
  FloatingPointState::computing(subnormals).apply();
}

FloatingPointScope::~FloatingPointScope() { before_.apply(); }

}  // namespace treadle

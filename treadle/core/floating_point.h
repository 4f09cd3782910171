/// FloatingPointScope: the floating-point environment that Treadle computes in.
#pragma once  // public

#include <cstdint>

#include "treadle/core/export.h"

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <cfenv>
#endif

namespace treadle {

/// What becomes of numbers below the smallest normal one: 2^-126 in f32 and bf16, 2^-1022 in f64. A processor
/// takes some hundred cycles for each; flushed, they count as zero where they are read and become zero where
/// they would be written. The subnormal numbers of f16 are normal ones in f32, in which f16 is computed: they
/// stay.
enum class Subnormals : uint8_t { keep, flush };

/// A thread's floating-point environment: rounding, traps, exception flags, subnormal numbers.
class TREADLE_API FloatingPointState {
 public:
  FloatingPointState() = default;
  /// The calling thread's.
  static FloatingPointState current();
  /// What Treadle computes in, whatever the caller has set: rounding to nearest, no traps.
  static FloatingPointState computing(Subnormals subnormals);
  /// Makes it the calling thread's, flags included.
  void apply() const;

 private:
#if defined(__x86_64__)
  uint32_t control_;  ///< MXCSR
#elif defined(__aarch64__)
  uint64_t control_, flags_;  ///< FPCR, FPSR
#else
  std::fenv_t environment_;
#endif
};

/// While one lives, its thread computes as Treadle does; then everything is as it was, to the bit.
class TREADLE_API FloatingPointScope {
 public:
  explicit FloatingPointScope(Subnormals subnormals);
  ~FloatingPointScope();
  FloatingPointScope(const FloatingPointScope&) = delete;
  FloatingPointScope& operator=(const FloatingPointScope&) = delete;

 private:
  FloatingPointState before_;
};

}  // namespace treadle

#include "treadle/simt/toolkit/rounding.h"

#include <cfenv>

namespace treadle::TREADLE_TARGET::toolkit {
namespace {

int mode_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return FE_TOWARDZERO;
    case Rounding::down:
      return FE_DOWNWARD;
    case Rounding::up:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

/// Sets the processor's rounding for its lifetime.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : before_(std::fegetround()) {
    std::fesetround(mode_of(rounding));
  }
  ~RoundingScope() { std::fesetround(before_); }

 private:
  int before_;
};

/// The compiler knows nothing of the value, so that it neither computes beforehand nor moves the operation.
template <class T>
T opaque(T x) {
  volatile T copy = x;
  return copy;
}

}  // namespace

template <class T>
T sum(Rounding rounding, T a, T b) {
  const RoundingScope scope(rounding);
  return opaque(opaque(a) + opaque(b));
}

template <class T>
T product(Rounding rounding, T a, T b) {
  const RoundingScope scope(rounding);
  return opaque(opaque(a) * opaque(b));
}

template <class T>
T quotient(Rounding rounding, T a, T b) {
  const RoundingScope scope(rounding);
  return opaque(opaque(a) / opaque(b));
}

template <class T>
T fused(Rounding rounding, T a, T b, T c) {
  const RoundingScope scope(rounding);
  return opaque(std::fma(opaque(a), opaque(b), opaque(c)));
}

template <class T>
T root(Rounding rounding, T x) {
  const RoundingScope scope(rounding);
  return opaque(std::sqrt(opaque(x)));
}

template <class T, class From>
T floating(Rounding rounding, From x) {
  const RoundingScope scope(rounding);
  return opaque(static_cast<T>(opaque(x)));
}

template float sum(Rounding, float, float);
template double sum(Rounding, double, double);
template float product(Rounding, float, float);
template double product(Rounding, double, double);
template float quotient(Rounding, float, float);
template double quotient(Rounding, double, double);
template float fused(Rounding, float, float, float);
template double fused(Rounding, double, double, double);
template float root(Rounding, float);
template double root(Rounding, double);
template float floating<float>(Rounding, double);
template float floating<float>(Rounding, long long);
template float floating<float>(Rounding, unsigned long long);
template double floating<double>(Rounding, long long);
template double floating<double>(Rounding, unsigned long long);

}  // namespace treadle::TREADLE_TARGET::toolkit

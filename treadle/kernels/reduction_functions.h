/// Reductions as small structs: what is kept while reducing, how an element enters it, how two are merged.
///
/// `of(value, position)` makes a state of one element, `operator()` merges two states, `none()` is the state
/// of nothing. V is the type that values are computed in. Merging is commutative, so that all lanes of a
/// butterfly agree.
#pragma once

#include <cstdint>

#include "treadle/simt/function_qualifiers.h"

namespace treadle {

template <class V>
struct Addition {
  using Value = V;
  using State = V;
  TREADLE_DEVICE State none() const { return V(0); }
  TREADLE_DEVICE State of(V value, int64_t) const { return value; }
  TREADLE_DEVICE State operator()(State a, State b) const { return a + b; }
};

inline constexpr int64_t kNoPosition = INT64_MAX;

template <class V>
struct Extremum {
  V value;
  int64_t position;
};

/// The largest (or smallest) value and its position; the first NaN wins over everything, ties go to the lower
/// position.
template <class V>
struct FirstExtremum {
  using Value = V;
  using State = Extremum<V>;
  bool largest;

  TREADLE_DEVICE State none() const { return {V(0), kNoPosition}; }
  TREADLE_DEVICE State of(V value, int64_t position) const { return {value, position}; }
  TREADLE_DEVICE State operator()(State a, State b) const { return wins(b, a) ? b : a; }

 private:
  TREADLE_DEVICE bool wins(const State& b, const State& a) const {
    if (b.position == kNoPosition || a.position == kNoPosition) return a.position == kNoPosition;
    bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
    if (a_is_nan || b_is_nan) return b_is_nan && (!a_is_nan || b.position < a.position);
    if (a.value == b.value) return b.position < a.position;
    return largest == (b.value > a.value);
  }
};

}  // namespace treadle

/// Operations of convolutions, evaluated densely.
#pragma once

#include "treadle/graph/cost.h"

namespace treadle {

/// Terms of one output: channels of a group times filter elements. w [K,C/groups,R,S].
inline double filter_terms(const TensorView& w) { return w.shape[0] ? elements(w) / double(w.shape[0]) : 0; }

/// Of dw, the output, from x and dy [N,K,P,Q].
inline double weight_gradient_operations(const Call& call) {
  return 2 * elements(call.input(1)) * filter_terms(call.output());
}

}  // namespace treadle

/// How the operands of a chain lie beside one another: for every device's variant.
#pragma once

#include <array>

#include "treadle/graph/variant.h"
#include "treadle/ops/pointwise/pointwise_chain.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {

/// The output, then the inputs; what a chain does not have has strides of 0.
using ChainNest = Strided<PointwiseChain::kMostInputs + 1>;

inline ChainNest chain_nest(const Call& call) {
  std::array<Strides, PointwiseChain::kMostInputs + 1> strides;
  const Shape& shape = call.output().shape;
  strides.fill(Strides::filled(shape.rank(), 0));
  strides[0] = call.output().strides;
  for (size_t k = 0; k < call.inputs.size(); ++k)
    strides[k + 1] = broadcast_strides(call.inputs[k].shape, call.inputs[k].strides, shape);
  return make_strided<PointwiseChain::kMostInputs + 1>(shape, strides);
}

/// An input beside the output, whose elements follow each other in the order of the nest: with the same
/// strides, one element for all, or neither.
enum class Lie : uint8_t { alike, constant, otherwise };

inline Lie lie_of(const ChainNest& nest, int input) {
  bool alike = true, constant = true;
  for (int axis = 0; axis < nest.rank; ++axis) {
    alike = alike && nest.strides[input + 1][axis] == nest.strides[0][axis];
    constant = constant && nest.strides[input + 1][axis] == 0;
  }
  return constant ? Lie::constant : alike ? Lie::alike : Lie::otherwise;
}

}  // namespace treadle

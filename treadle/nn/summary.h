/// What torchinfo shows: each layer with its output shape, parameters and multiply-adds.
#pragma once  // public

#include <span>
#include <string>
#include <vector>

#include "treadle/nn/module.h"

namespace treadle {

struct LayerSummary {
  std::string name;         ///< the key under its parent; empty for the model itself
  std::string description;  ///< Module::describe()
  int depth = 0;
  std::vector<Shape> inputs, outputs;
  int64_t parameters = 0;  ///< of this layer and its children
  int64_t multiply_adds = 0;
};

struct ModelSummary {
  std::vector<LayerSummary> layers;  ///< in order of execution, parents before children
  int64_t parameters = 0, multiply_adds = 0;
  /// Bytes of the inputs, of all layers' outputs, and of the parameters.
  int64_t input_bytes = 0, activation_bytes = 0, parameter_bytes = 0;
};

/// Runs the model once, without gradients, on zeros of `input` shape and the first parameter's dtype and
/// device.
TREADLE_API ModelSummary summarize(Module& model, const Shape& input);
/// Runs it on these inputs.
TREADLE_API ModelSummary summarize(Module& model, std::span<const Tensor> inputs);

}  // namespace treadle

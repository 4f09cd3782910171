/// Losses and other figures that Python's functions define.
#pragma once

#include <nanobind/stl/pair.h>

#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/arguments.h"
#include "python/bindings/held_object.h"
#include "treadle/compile/compile.h"
#include "treadle/train/fit.h"

namespace treadle::python {

using NamedFunctions = std::vector<std::pair<std::string, nb::object>>;

/// function(prediction, target) as a function of a batch: the model takes all its tensors but the last, which
/// is the target; of a batch of one tensor that is both. Without a function: the cross-entropy of logits. The
/// model must outlive it.
std::function<Tensor(std::span<const Tensor> batch)> loss_of(Module& model, nb::object function);

/// The loss and figures of a model, means over examples. The model must outlive it.
class MeasuredFunction {
 public:
  MeasuredFunction(Module& model, nb::object loss, const NamedFunctions& figures);
  /// "loss" and the figures over the first `limit` examples (0: all), in order, in evaluation mode.
  Metrics over(const Examples& examples, int64_t batch_size, int64_t limit, std::stop_token stop);

 private:
  std::vector<std::string> names_;
  Module& model_;
  CompiledFunction figures_;
};

}  // namespace treadle::python

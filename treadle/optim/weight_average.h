/// Exponential moving average of weights.
#pragma once  // public

#include <string>
#include <vector>

#include "treadle/nn/module.h"

namespace treadle {

/// Keeps a shadow of each tensor: shadow ← decay·shadow + (1 − decay)·value at each update(), which is ops
/// alone, so that a compiled step may hold it; the first shadow is the value at the beginning. Polyak and
/// Juditsky, Acceleration of Stochastic Approximation by Averaging, 1992. Integers are copied.
class TREADLE_API WeightAverage {
 public:
  /// Of the model's parameters and buffers. Throws ValueError unless 0 <= decay < 1.
  WeightAverage(const Module& model, double decay);

  /// Once after each step of the optimizer. Where `proceeds`, a bool of rank 0, is given and false, the
  /// average stays as it was.
  void update(const Tensor& proceeds = {});

  /// Exchanges shadows and values: to evaluate the average, and again to train on.
  void swap();

  /// Under the names of the values. Between two calls of swap() these are the values.
  const std::vector<NamedTensor>& shadows() const { return shadows_; }
  /// Throws ValueError for a name that is missing, ShapeError and DTypeError; then nothing was changed.
  void load_shadows(const std::vector<NamedTensor>& saved);

 private:
  std::vector<NamedTensor> values_, shadows_;
  double decay_;
};

/// While one lives, the model has its average weights; its own where `average` is null.
class AveragedWeights {
 public:
  explicit AveragedWeights(WeightAverage* average) : average_(average) {
    if (average_) average_->swap();
  }
  ~AveragedWeights() {
    if (average_) average_->swap();
  }
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  WeightAverage* average_;
};

}  // namespace treadle

/// What training and evaluation take as examples: the library's data sets, tensors, and Python's own.
#pragma once

#include <memory>
#include <vector>

#include "python/bindings/held_object.h"
#include "python/bindings/interruption.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle::python {

/// Rows of tensors.
class TensorExamples final : public Examples {
 public:
  /// Throws ShapeError unless all have the same number of rows, ValueError without a tensor.
  TensorExamples(std::vector<Tensor> tensors, Device device);
  int64_t size() const override { return tensors_[0].shape()[0]; }
  std::vector<Tensor> batch(std::span<const int64_t> indices) const override;

 private:
  std::vector<Tensor> tensors_;
  Device device_;
};

/// What a function of Python's gives for a list of indices: a list of tensors.
class PythonExamples final : public Examples {
 public:
  PythonExamples(int64_t size, nb::object batch, Device device)
      : size_(size), batch_(std::move(batch)), device_(device) {}
  int64_t size() const override { return size_; }
  /// A ^C that falls into the function is kept for `interruption`, and the batch made once more: the run ends
  /// behind the step, with its state.
  std::vector<Tensor> batch(std::span<const int64_t> indices) const override;
  void watch(Interruption* interruption) { interruption_ = interruption; }

 private:
  std::vector<Tensor> call(std::span<const int64_t> indices) const;

  int64_t size_;
  HeldObject batch_;
  Device device_;
  Interruption* interruption_ = nullptr;
};

/// Of an ImageDataset, the training part of a text, or one of the classes above, as they are in Python; null
/// for None. `training`: made ahead and augmented. What it refers to must outlive it.
std::shared_ptr<const Examples> examples_in(nb::handle data, const ClassifierOptions& options, bool training,
                                            Interruption& interruption);

}  // namespace treadle::python

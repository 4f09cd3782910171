/// Examples that the benches' steps take, and what they are learnt by: each task of cli/tasks/ has its own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "treadle/core/device.h"
#include "treadle/models/model.h"
#include "treadle/nn/module.h"
#include "treadle/train/checkpoint.h"

namespace treadle::cli {

/// The training part of some data.
class StepExamples {
 public:
  virtual ~StepExamples() = default;

  /// "images", "windows"
  virtual std::string unit() const = 0;
  virtual int64_t size() const = 0;
  /// What a model of them is made for.
  virtual ModelTask model_task() const = 0;
  /// Those of the indices, as the arguments of a training step on the device; the model takes the first.
  virtual std::vector<Tensor> batch(std::span<const int64_t> indices, Device device) const = 0;
  /// Of such a batch, the mean over it. The model must outlive it.
  virtual std::function<Tensor(std::span<const Tensor> batch)> loss(Module& model) const = 0;
};

/// What benches ask for.
struct StepData {
  std::string model, data;
  const Checkpoint* checkpoint = nullptr;  ///< that of the model, which says how it sees the data; or null
};

}  // namespace treadle::cli

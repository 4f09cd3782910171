/// One training or inference step of a model on real images: what the benches time.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "treadle/compile/compile.h"
#include "treadle/data/batches.h"
#include "treadle/data/dataset.h"
#include "treadle/nn/module.h"
#include "treadle/optim/optimizer.h"
#include "treadle/train/evaluate.h"

namespace treadle::cli {

struct StepChoice {
  std::string model = "fashion_cnn", mode = "train", optimizer = "sgd", data = "fashion-mnist", checkpoint;
  int64_t batch = 32;
  double learning_rate = 1e-3;
};

void add_step_choice(CLI::App& app, StepChoice& choice);

/// Steps on shuffled batches of the training images. Each call gathers a batch, computes, and waits for the
/// result.
class StepWork {
 public:
  /// Starts from fresh weights, or from those of a checkpoint. Steps are compiled unless settings().eager.
  /// Throws ValueError when the checkpoint holds another model, or the batch is larger than the data set.
  StepWork(const StepChoice& choice, Device device);
  StepWork(const StepWork&) = delete;
  StepWork& operator=(const StepWork&) = delete;

  void operator()();
  /// Loss of the last training step.
  double loss() const { return loss_; }
  /// The most bytes one step has in use at a time, beyond parameters and optimizer state: activations,
  /// gradients, scratch.
  int64_t peak_bytes();
  /// Best seconds of each step of the compiled program; settings().eager must be off.
  treadle::StepTimes program_times(int replays);
  /// Arena, scratch and results of the compiled program used last; 0 before the first step and when eager.
  int64_t program_bytes() const;
  /// See pooled_gradient_density(); on weights as they are now.
  std::vector<double> density();

 private:
  Tensor infer(const Tensor& images);
  Batch next_batch();

  StepChoice choice_;
  Device device_;
  ImageDataset data_;
  PixelNormalization normalization_;
  std::shared_ptr<Module> model_;
  std::unique_ptr<Optimizer> optimizer_;
  BatchSampler sampler_;
  CompiledFunction step_;
  double loss_ = 0;
};

}  // namespace treadle::cli

/// One training or inference step of a model on real examples: what the benches time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/option_checks.h"
#include "cli/step_examples.h"
#include "treadle/compile/compile.h"
#include "treadle/data/batches.h"
#include "treadle/data/dataset.h"
#include "treadle/models/model.h"
#include "treadle/nn/module.h"
#include "treadle/optim/loss_scaler.h"
#include "treadle/optim/optimizer.h"

namespace treadle::cli {

struct StepChoice {
  std::string model = usual_model().name, mode = "train", optimizer = "sgd", data = dataset_names().front(),
              precision = "f32", checkpoint;
  int64_t batch = 32;
  double learning_rate = 1e-3;

  static void describe(auto& field) {
    using O = StepChoice;
    field("model", &O::model, "The model");
    field("mode", &O::mode, "train or inference", {.check = one_of({"train", "inference"})});
    field("batch", &O::batch, "Examples per step", {.check = whole_number(1)});
    field("optimizer", &O::optimizer, "Of training steps", {.check = one_of(known_optimizers())});
    field("learning_rate", &O::learning_rate, "Learning rate; small, so that the weights stay what they are",
          {.on_command_line = "--lr", .check = number_from(0)});
    field("precision", &O::precision,
          "What products are computed in, as `treadle train` has it; of inference, too",
          {.check = one_of({"f32", "bf16", "f16"})});
    field("data", &O::data, "Data set, or a file of text");
    field("checkpoint", &O::checkpoint,
          "Start from the weights of this file or run folder, and go on with its optimizer where it is the "
          "same");
  }
};

/// Steps on shuffled batches of the training examples. Each call gathers a batch, computes, and waits for the
/// result.
class StepWork {
 public:
  /// Starts from fresh weights, or from those of a checkpoint; and from its optimizer's state where the same
  /// optimizer made it, with one group of parameters. Steps are compiled unless settings().eager. Throws
  /// ValueError when the checkpoint holds another model, or the batch is larger than the data, and what the
  /// model's task throws for data that are not its own.
  StepWork(const StepChoice& choice, Device device);
  StepWork(const StepWork&) = delete;
  StepWork& operator=(const StepWork&) = delete;

  void operator()();
  /// What the examples are: "images".
  std::string unit() const { return examples_->unit(); }
  /// Whether it goes on from the optimizer's state of a checkpoint.
  bool resumes() const { return resumes_; }
  /// Loss of the last training step.
  double loss() const { return loss_; }
  /// The most bytes one step has in use at a time, beyond parameters and optimizer state: activations,
  /// gradients, scratch.
  int64_t peak_bytes();
  /// Best seconds of each step of the compiled program; settings().eager must be off.
  treadle::StepTimes program_times(int replays);
  /// The compiled program used last; none before the first step and when eager.
  std::optional<treadle::ProgramReport> program() const;
  /// See pooled_gradient_density(); on weights as they are now. Empty where examples are no images.
  std::vector<double> density();

 private:
  Tensor train(std::span<const Tensor> batch);
  Tensor infer(const Tensor& examples);
  /// The arguments of a step.
  std::vector<Tensor> next_batch();

  StepChoice choice_;
  Device device_;
  std::shared_ptr<Module> model_;
  std::unique_ptr<StepExamples> examples_;
  std::unique_ptr<Optimizer> optimizer_;
  LossScaler scaler_;
  std::optional<BatchSampler> sampler_;
  CompiledFunction step_;
  double loss_ = 0;
  bool resumes_ = false;
};

}  // namespace treadle::cli

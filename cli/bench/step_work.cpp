#include "cli/bench/step_work.h"

#include <algorithm>
#include <utility>

#include "cli/bench/pooled_density.h"
#include "cli/learning_tasks.h"
#include "treadle/core/allocator.h"
#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/autocast.h"
#include "treadle/graph/autograd.h"
#include "treadle/train/load_model.h"
#include "treadle/train/training_step.h"

namespace treadle::cli {
namespace {

/// Whether a checkpoint's state is that of the optimizer that a bench makes, which has one group of
/// parameters.
bool was_trained_by(const Checkpoint& checkpoint, const std::string& optimizer) {
  const auto found = checkpoint.training.find("--optimizer");
  const bool of_groups = std::any_of(checkpoint.optimizer_state.begin(), checkpoint.optimizer_state.end(),
                                     [](const NamedTensor& one) { return one.name.ends_with(".group"); });
  return found != checkpoint.training.end() && found->second == optimizer && !of_groups;
}

}  // namespace

StepWork::StepWork(const StepChoice& choice, Device device)
    : choice_(choice), device_(device), scaler_({}, device), step_([this](std::span<const Tensor> batch) {
        return std::vector{choice_.mode == "train" ? train(batch) : infer(batch[0])};
      }) {
  const auto examples = learning_task_of(choice.model).examples;
  std::vector<NamedTensor> optimizer_state;
  if (choice.checkpoint.empty()) {
    examples_ = examples({choice.model, choice.data});
    model_ = make_model(choice.model, examples_->model_task());
  } else {
    const LoadedModel loaded = load_model(choice.checkpoint);
    require<ValueError>(loaded.checkpoint.model == choice.model, "{} holds the model {}, not {}",
                        choice.checkpoint, loaded.checkpoint.model, choice.model);
    examples_ = examples({choice.model, choice.data, &loaded.checkpoint});
    model_ = loaded.module;
    if (was_trained_by(loaded.checkpoint, choice.optimizer))
      optimizer_state = loaded.checkpoint.optimizer_state;
  }
  require<ValueError>(choice.batch <= examples_->size(), "{} has {} training {}, fewer than a batch of {}",
                      choice.data, examples_->size(), unit(), choice.batch);
  sampler_.emplace(examples_->size(), choice.batch, 0);
  model_->to(device);
  model_->train(choice.mode == "train");
  optimizer_ = make_optimizer(choice.optimizer, model_->named_parameters(), choice.learning_rate);
  resumes_ = !optimizer_state.empty() && choice.mode == "train";
  if (resumes_) optimizer_->load_state(optimizer_state);
}

/// Of inference the model's input alone.
std::vector<Tensor> StepWork::next_batch() {
  std::vector<Tensor> batch = examples_->batch(sampler_->next(), device_);
  if (choice_.mode != "train") batch.resize(1);
  return batch;
}

Tensor StepWork::train(std::span<const Tensor> batch) {
  const DType precision = dtype_named(choice_.precision);
  return training_step(
      *optimizer_, examples_->loss(*model_),
      {.precision = precision, .scaler = precision == DType::f16 ? &scaler_ : nullptr})(batch);
}

Tensor StepWork::infer(const Tensor& examples) {
  const NoGrad no_grad;
  const Autocast scope(dtype_named(choice_.precision));
  return (*model_)(examples);
}

void StepWork::operator()() {
  Tensor result;
  step_.call(next_batch(), {&result, 1});
  if (choice_.mode == "train")
    loss_ = result.item();
  else
    runtime(device_).synchronize();
}

int64_t StepWork::peak_bytes() {
  optimizer_->zero_grad();
  CachingAllocator& memory = allocator(device_);
  const size_t before = memory.statistics().allocated_bytes;
  memory.reset_peak();
  (*this)();
  return int64_t(memory.statistics().peak_bytes - before);
}

treadle::StepTimes StepWork::program_times(int replays) { return step_.time_steps(next_batch(), replays); }

std::optional<treadle::ProgramReport> StepWork::program() const {
  auto programs = step_.programs();
  return programs.empty() ? std::nullopt : std::optional(std::move(programs.back()));
}

std::vector<double> StepWork::density() {
  if (!learning_task_of(choice_.model).of_images) return {};
  const std::vector<Tensor> batch = examples_->batch(sampler_->next(), device_);
  return pooled_gradient_density(*model_, {batch[0], batch[1]});
}

}  // namespace treadle::cli

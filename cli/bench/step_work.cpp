#include "cli/bench/step_work.h"

#include <array>

#include "cli/bench/pooled_density.h"
#include "cli/learning_tasks.h"
#include "treadle/core/allocator.h"
#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/autocast.h"
#include "treadle/graph/autograd.h"
#include "treadle/train/classification/classifier_loss.h"
#include "treadle/train/load_model.h"
#include "treadle/train/training_step.h"

namespace treadle::cli {

namespace {

const StepChoice& with_images(const StepChoice& choice) {
  require_task_of_images(choice.model, "bench");
  return choice;
}

}  // namespace

StepWork::StepWork(const StepChoice& choice, Device device)
    : choice_(with_images(choice)),
      device_(device),
      data_(load_dataset(choice.data).train),
      scaler_({}, device),
      sampler_(data_.size(), choice.batch, 0),
      step_([this](std::span<const Tensor> batch) {
        return std::vector{choice_.mode == "train" ? train(batch) : infer(batch[0])};
      }) {
  if (choice.checkpoint.empty()) {
    model_ = make_model(choice.model, {data_.image_shape, int64_t(data_.classes.size())});
  } else {
    LoadedModel loaded = load_model(choice.checkpoint);
    require<ValueError>(loaded.checkpoint.model == choice.model, "{} holds the model {}, not {}",
                        choice.checkpoint, loaded.checkpoint.model, choice.model);
    model_ = loaded.module, normalization_ = loaded.checkpoint.normalization;
  }
  require<ValueError>(choice.batch <= data_.size(), "{} has {} training images, fewer than a batch of {}",
                      choice.data, data_.size(), choice.batch);
  model_->to(device);
  model_->train(choice.mode == "train");
  optimizer_ = make_optimizer(choice.optimizer, model_->named_parameters(), choice.learning_rate);
}

Batch StepWork::next_batch() { return make_batch(data_, sampler_.next(), normalization_, device_); }

Tensor StepWork::train(std::span<const Tensor> batch) {
  const DType precision = dtype_named(choice_.precision);
  return training_step(
      *optimizer_, classifier_loss(*model_),
      {.precision = precision, .scaler = precision == DType::f16 ? &scaler_ : nullptr})(batch);
}

Tensor StepWork::infer(const Tensor& images) {
  const NoGrad no_grad;
  const Autocast scope(dtype_named(choice_.precision));
  return (*model_)(images);
}

void StepWork::operator()() {
  Batch batch = next_batch();
  const std::array<Tensor, 2> arguments{batch.images, batch.labels};
  Tensor result;
  step_.call(std::span(arguments).first(choice_.mode == "train" ? 2 : 1), {&result, 1});
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

treadle::StepTimes StepWork::program_times(int replays) {
  Batch batch = next_batch();
  const std::array<Tensor, 2> arguments{batch.images, batch.labels};
  return step_.time_steps(std::span(arguments).first(choice_.mode == "train" ? 2 : 1), replays);
}

int64_t StepWork::program_bytes() const {
  const auto programs = step_.programs();
  return programs.empty() ? 0 : int64_t(programs.back().memory_bytes);
}

std::vector<double> StepWork::density() { return pooled_gradient_density(*model_, next_batch()); }

}  // namespace treadle::cli

#include "treadle/train/fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/train/training_step.h"

namespace treadle {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Divides the 10,000 test images of the usual data sets, so that no second program is recorded for a rest.
constexpr int64_t kValidationBatch = 250;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  auto middle = values.begin() + int64_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// One run of fit(): the loop's state, from the first step to the last.
class Loop {
 public:
  Loop(Module& model, Optimizer& optimizer, const Schedule& schedule, const DatasetSplits& data,
       const FitOptions& options)
      : model_(model),
        optimizer_(optimizer),
        schedule_(schedule),
        data_(data),
        options_(options),
        step_(compile(TrainingStep{model, optimizer})),
        evaluate_(model),
        sampler_(data.train.size(), options.batch_size, options.seed),
        steps_in_epoch_(options.limit_batches > 0
                            ? std::min(options.limit_batches, sampler_.batches_per_epoch())
                            : sampler_.batches_per_epoch()) {
    if (options.resume) restore(*options.resume);
  }

  FitResult run() {
    while (!finished() && !result_.interrupted) run_epoch();
    if (result_.validation.total.empty() && !result_.interrupted)
      result_.validation = validate();  // nothing was left
    result_.images_per_second = median(rates_);
    return std::move(result_);
  }

 private:
  /// Takes up where a checkpoint left off. What does not fit is the file's fault: FormatError.
  void restore(const Checkpoint& from) {
    try {
      model_.load_state_dict(from.parameters);
      optimizer_.load_state(from.optimizer_state);
      sampler_.restore(from.sampler);
      auto best = from.training.find("best_accuracy");
      if (best != from.training.end()) result_.best_accuracy = std::stod(best->second);
    } catch (const std::exception& error) {
      throw FormatError(fmt::format("the checkpoint to resume does not fit: {}", error.what()));
    }
    result_.epochs_done = from.epoch;
    result_.steps_done = from.step;
    step_in_epoch_ = from.step - from.epoch * steps_in_epoch_;
    if (out_of_steps()) step_in_epoch_ = std::max<int64_t>(step_in_epoch_, 0);  // the last epoch was cut
    require<FormatError>(from.epoch >= 0 && step_in_epoch_ >= 0 && step_in_epoch_ <= steps_in_epoch_,
                         "the checkpoint to resume says step {} of epoch {}, with {} steps per epoch",
                         from.step, from.epoch + 1, steps_in_epoch_);
  }

  bool out_of_steps() const { return options_.max_steps > 0 && result_.steps_done >= options_.max_steps; }
  bool finished() const {
    return result_.epochs_done >= options_.epochs || (out_of_steps() && step_in_epoch_ == 0);
  }

  void run_epoch() {
    model_.train();
    EpochReport report{result_.epochs_done, options_.epochs, 0, {}, 0, 0, false};
    double loss_sum = 0;
    int64_t images = 0;
    for (; step_in_epoch_ < steps_in_epoch_ && !out_of_steps(); ++step_in_epoch_) {
      if (options_.stop.stop_requested()) return interrupt();
      StepReport step = run_step(images);
      report.seconds += step.seconds;
      loss_sum += step.loss * double(step.images_done - images);
      images = step.images_done;
      if (options_.on_step) options_.on_step(step);
    }
    report.train_loss = images ? loss_sum / double(images) : 0;
    finish_epoch(report);
  }

  StepReport run_step(int64_t images_before) {
    auto start = std::chrono::steady_clock::now();
    auto indices = sampler_.next();
    int64_t count = int64_t(indices.size());
    Batch batch = make_batch(data_.train, indices, options_.description.normalization, options_.device);
    optimizer_.set_learning_rate(schedule_.at(result_.steps_done));
    double value = step_(batch.images, batch.labels).item();
    require<TrainingError>(std::isfinite(value),
                           "the loss is {} at step {} (epoch {}); training stopped and saved nothing more. A "
                           "lower learning rate may help",
                           value, result_.steps_done + 1, result_.epochs_done + 1);
    double seconds = seconds_since(start);
    ++result_.steps_done;
    result_.losses.push_back(value);
    result_.train_seconds += seconds;
    rates_.push_back(double(count) / seconds);
    return {result_.epochs_done,
            options_.epochs,
            step_in_epoch_ + 1,
            steps_in_epoch_,
            images_before + count,
            value,
            seconds};
  }

  Evaluation validate() {
    int64_t limit = options_.limit_batches > 0 ? options_.limit_batches * options_.batch_size : 0;
    return evaluate_(data_.test, options_.description.normalization, options_.device, kValidationBatch, limit,
                     options_.stop);
  }

  void finish_epoch(EpochReport& report) {
    skip_rest_of_epoch();
    bool last = result_.epochs_done + 1 == options_.epochs || out_of_steps();
    bool validated = last || !options_.validate_last_only;
    if (validated) validate_epoch(report);
    if (options_.stop.stop_requested()) return interrupt();  // the epoch is finished when the run goes on
    report.epoch = ++result_.epochs_done;
    step_in_epoch_ = 0;
    report.learning_rate = optimizer_.learning_rate();
    if (validated) compare_with_best(report);
    // The best one first: last.safetensors says that it exists.
    if (report.best) save("best.safetensors");
    save("last.safetensors");
    if (options_.on_epoch) options_.on_epoch(report);
  }

  void validate_epoch(EpochReport& report) {
    report.validation = validate();
    if (options_.stop.stop_requested()) return;
    require<TrainingError>(std::isfinite(report.validation.loss),
                           "the test loss is {} after epoch {} (step {}); nothing of this epoch was saved. A "
                           "lower learning rate "
                           "may help",
                           report.validation.loss, result_.epochs_done + 1, result_.steps_done);
    result_.validation = report.validation;
  }

  void compare_with_best(EpochReport& report) {
    double accuracy = report.validation.accuracy;
    report.best = accuracy > result_.best_accuracy || result_.best_accuracy == 0;
    result_.best_accuracy = std::max(result_.best_accuracy, accuracy);
  }

  /// With limit_batches the sampler must still begin the next epoch with a new order.
  void skip_rest_of_epoch() {
    while (!sampler_.epoch_finished()) sampler_.next();
  }

  void interrupt() {
    result_.interrupted = true;
    save("last.safetensors");
  }

  void save(const char* name) {
    if (options_.folder.empty()) return;
    Checkpoint checkpoint = options_.description;
    checkpoint.seed = options_.seed;
    checkpoint.epoch = result_.epochs_done;
    checkpoint.step = result_.steps_done;
    checkpoint.parameters = model_.state_dict();
    checkpoint.optimizer_state = optimizer_.state();
    checkpoint.sampler = sampler_.state();
    checkpoint.training["best_accuracy"] = fmt::format("{}", result_.best_accuracy);
    save_checkpoint(options_.folder / name, checkpoint);
  }

  Module& model_;
  Optimizer& optimizer_;
  const Schedule& schedule_;
  const DatasetSplits& data_;
  const FitOptions& options_;
  Compiled<TrainingStep> step_;
  Evaluator evaluate_;
  BatchSampler sampler_;
  int64_t steps_in_epoch_, step_in_epoch_ = 0;
  std::vector<double> rates_;
  FitResult result_;
};

}  // namespace

FitResult fit(Module& model, Optimizer& optimizer, const Schedule& schedule, const DatasetSplits& data,
              const FitOptions& options) {
  return Loop(model, optimizer, schedule, data, options).run();
}

}  // namespace treadle

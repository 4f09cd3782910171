#include "treadle/train/fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/train/training_step.h"

namespace treadle {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Divides the 10,000 test images of the usual data sets, so that no second program is recorded for a rest.
constexpr int64_t kEvaluationBatch = 250;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  auto middle = values.begin() + int64_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void add_evaluation(nlohmann::json& line, const std::string& part, const Evaluation& evaluation) {
  if (evaluation.total.empty()) return;
  line[part + "_loss"] = evaluation.loss;
  line[part + "_accuracy"] = evaluation.accuracy;
}

/// A line of metrics.jsonl.
std::string metrics_of(const EpochReport& report) {
  nlohmann::json line = {{"epoch", report.epoch},
                         {"train_loss", report.train_loss},
                         {"seconds", report.seconds},
                         {"learning_rate", report.learning_rate}};
  add_evaluation(line, "validation", report.validation);
  add_evaluation(line, "test", report.test);
  return line.dump();
}

std::vector<NamedTensor> copies_of(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> copies;
  for (auto& [name, tensor] : tensors) copies.push_back({name, clone(tensor.detach())});
  return copies;
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
    if (!result_.interrupted) conclude();
    result_.images_per_second = median(rates_);
    result_.best_epoch = progress_.best_epoch;
    return std::move(result_);
  }

 private:
  /// Takes up where a checkpoint left off. What does not fit is the file's fault: FormatError.
  void restore(const Checkpoint& from) {
    try {
      model_.load_state_dict(from.parameters);
      optimizer_.load_state(from.optimizer_state);
      sampler_.restore(from.sampler);
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
    restore_progress(from);
  }

  void restore_progress(Checkpoint from) {
    if (!validates()) from.progress.best_epoch = 0;
    progress_ = from.progress;
    std::optional<Checkpoint> best;
    if (options_.folder) best = options_.folder->restore(from);
    if (best)
      best_parameters_ = best->parameters;
    else
      progress_.best_epoch = 0;
    result_.saved = options_.folder != nullptr;
  }

  bool validates() const { return data_.validation.size() > 0; }

  bool out_of_steps() const { return options_.max_steps > 0 && result_.steps_done >= options_.max_steps; }
  bool finished() const {
    return result_.epochs_done >= options_.epochs || (out_of_steps() && step_in_epoch_ == 0);
  }

  void run_epoch() {
    model_.train();
    int64_t images = 0;
    for (; step_in_epoch_ < steps_in_epoch_ && !out_of_steps(); ++step_in_epoch_) {
      if (options_.stop.stop_requested()) return interrupt();
      StepReport step = run_step(images);
      progress_.seconds += step.seconds;
      progress_.loss_sum += step.loss * double(step.images_done - images);
      progress_.images += step.images_done - images;
      images = step.images_done;
      if (options_.on_step) options_.on_step(step);
    }
    finish_epoch();
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
    result_.saved = false;
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

  /// The part's `name` is for the message when its loss is not finite.
  Evaluation evaluate_on(const ImageDataset& part, const char* name) {
    int64_t limit = options_.limit_batches > 0 ? options_.limit_batches * options_.batch_size : 0;
    Evaluation evaluation = evaluate_(part, options_.description.normalization, options_.device,
                                      kEvaluationBatch, limit, options_.stop);
    require<TrainingError>(std::isfinite(evaluation.loss),
                           "the {} loss is {} after epoch {} (step {}); nothing of this epoch was saved. A "
                           "lower learning rate may help",
                           name, evaluation.loss, result_.epochs_done + 1, result_.steps_done);
    return evaluation;
  }

  void finish_epoch() {
    skip_rest_of_epoch();
    EpochReport report = report_epoch();
    if (options_.stop.stop_requested()) return interrupt();  // the epoch is finished when the run goes on
    report.epoch = ++result_.epochs_done;
    step_in_epoch_ = 0;
    if (validates()) compare_with_best(report);
    progress_.metrics = metrics_of(report);
    progress_.images = 0, progress_.loss_sum = 0, progress_.seconds = 0;
    save(report.best);
    if (options_.on_epoch) options_.on_epoch(report);
  }

  EpochReport report_epoch() {
    bool last = result_.epochs_done + 1 == options_.epochs || out_of_steps();
    EpochReport report;
    report.epochs = options_.epochs;
    report.images = progress_.images;
    report.train_loss = progress_.images ? progress_.loss_sum / double(progress_.images) : 0;
    report.seconds = progress_.seconds;
    report.learning_rate = optimizer_.learning_rate();
    if (validates()) report.validation = evaluate_on(data_.validation, "validation");
    if (last || !options_.test_last_only) report.test = evaluate_on(data_.test, "test");
    if (!validates()) result_.test = report.test;
    return report;
  }

  void compare_with_best(EpochReport& report) {
    double accuracy = report.validation.accuracy;
    report.best = progress_.best_epoch == 0 || accuracy > progress_.best_accuracy;
    if (!report.best) return;
    progress_.best_epoch = report.epoch;
    progress_.best_accuracy = accuracy;
    best_parameters_ = copies_of(model_.state_dict());
    result_.validation = report.validation;
    result_.test = report.test;
  }

  /// The model takes the best weights, and what was not evaluated with the weights it has now is evaluated.
  void conclude() {
    if (progress_.best_epoch > 0) model_.load_state_dict(best_parameters_);
    if (validates() && result_.validation.total.empty())
      result_.validation = evaluate_on(data_.validation, "validation");
    if (result_.test.total.empty()) result_.test = evaluate_on(data_.test, "test");
    result_.interrupted = options_.stop.stop_requested();
  }

  /// With limit_batches the sampler must still begin the next epoch with a new order.
  void skip_rest_of_epoch() {
    while (!sampler_.epoch_finished()) sampler_.next();
  }

  /// Before the first step there is nothing that the folder does not have.
  void interrupt() {
    result_.interrupted = true;
    if (!result_.losses.empty()) save(false);
  }

  void save(bool best) {
    std::string wrong = find_non_finite(model_.state_dict());
    require<TrainingError>(wrong.empty(),
                           "{} after step {} (epoch {}); training stopped and saved nothing more. A lower "
                           "learning rate may help",
                           wrong, result_.steps_done, result_.epochs_done + (progress_.images > 0));
    if (!options_.folder) return;
    Checkpoint checkpoint = options_.description;
    checkpoint.seed = options_.seed;
    checkpoint.epoch = result_.epochs_done;
    checkpoint.step = result_.steps_done;
    checkpoint.parameters = model_.state_dict();
    checkpoint.optimizer_state = optimizer_.state();
    checkpoint.sampler = sampler_.state();
    checkpoint.progress = progress_;
    options_.folder->save(checkpoint, best);
    result_.saved = true;
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
  RunProgress progress_;
  std::vector<NamedTensor> best_parameters_;
  std::vector<double> rates_;
  FitResult result_;
};

}  // namespace

FitResult fit(Module& model, Optimizer& optimizer, const Schedule& schedule, const DatasetSplits& data,
              const FitOptions& options) {
  return Loop(model, optimizer, schedule, data, options).run();
}

}  // namespace treadle

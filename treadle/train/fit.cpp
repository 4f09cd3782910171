#include "treadle/train/fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/core/timing.h"
#include "treadle/train/copied_state.h"

namespace treadle {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// In a checkpoint of a run with an average, before the names of the weights that are trained.
constexpr std::string_view kTrained = "trained.";
/// Before the names of the loss scaler's state.
constexpr std::string_view kScaler = "loss_scaler.";

std::vector<NamedTensor> with_prefix(const std::vector<NamedTensor>& state, std::string_view prefix) {
  std::vector<NamedTensor> found;
  for (const auto& [name, tensor] : state)
    if (name.starts_with(prefix)) found.push_back({name.substr(prefix.size()), tensor});
  return found;
}

/// A sampler's batches by Examples::batch().
class PlainStream final : public BatchStream {
 public:
  PlainStream(const Examples& examples, const BatchSampler& sampler)
      : examples_(examples), sampler_(sampler) {}
  std::vector<Tensor> next() override { return examples_.batch(sampler_.next()); }

 private:
  const Examples& examples_;
  BatchSampler sampler_;
};

/// One run of fit(): the loop's state, from the first step to the last.
class Loop {
 public:
  Loop(const FitTask& task, const FitOptions& options)
      : task_(task),
        options_(options),
        schedule_(task.schedule),
        average_(options.average),
        step_([&task](std::span<const Tensor> batch) { return std::vector{task.step(batch)}; }),
        sampler_(task.examples.size(), options.batch_size, options.seed),
        steps_in_epoch_(options.limit_batches > 0
                            ? std::min(options.limit_batches, sampler_.batches_per_epoch())
                            : sampler_.batches_per_epoch()) {
    require<ValueError>(validates() || !schedule_.follows_figure(),
                        "the schedule follows a figure of the validation part, which the run does not have");
    if (options.resume) restore(*options.resume);
  }

  FitResult run() {
    begin();
    while (!finished() && !result_.interrupted) run_epoch();
    if (!result_.interrupted) conclude();
    result_.examples_per_second = median(rates_);
    result_.best_epoch = progress_.best_epoch;
    tell([&](Callback& callback) { callback.end_fit(result_); });
    return std::move(result_);
  }

 private:
  /// Takes up where a checkpoint left off. What does not fit is the file's fault: FormatError.
  void restore(const Checkpoint& from) {
    try {
      task_.model.load_state_dict(from.parameters);
      task_.optimizer.load_state(from.optimizer_state);
      sampler_.restore(from.sampler);
      schedule_.set_kept(from.progress.schedule);
      if (average_) restore_average(from.optimizer_state);
      if (options_.scaler) options_.scaler->load_state(with_prefix(from.optimizer_state, kScaler));
    } catch (const std::exception& error) {
      throw FormatError(fmt::format("the checkpoint to resume does not fit: {}", error.what()));
    }
    default_generator() = from.random;
    result_.epochs_done = from.epoch;
    result_.steps_done = from.step;
    if (taken_steps() > 0) task_.optimizer.set_learning_rate(schedule_.at(taken_steps() - 1));
    step_in_epoch_ = from.step - from.epoch * steps_in_epoch_;
    if (out_of_steps()) step_in_epoch_ = std::max<int64_t>(step_in_epoch_, 0);  // the last epoch was cut
    require<FormatError>(from.epoch >= 0 && step_in_epoch_ >= 0 && step_in_epoch_ <= steps_in_epoch_,
                         "the checkpoint to resume says step {} of epoch {}, with {} steps per epoch",
                         from.step, from.epoch + 1, steps_in_epoch_);
    restore_progress(from);
  }

  /// The file's parameters are the average; the weights that are trained stand beside the optimizer's state.
  void restore_average(const std::vector<NamedTensor>& state) {
    average_->load_shadows(with_prefix(state, kTrained));
    average_->swap();
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

  template <class Event>
  void tell(Event event) const {
    for (Callback* callback : options_.callbacks) event(*callback);
  }

  void begin() {
    FitStart start{task_.model,         options_.epochs,    steps_in_epoch_,
                   result_.epochs_done, result_.steps_done, {}};
    if (options_.folder && options_.resume) start.earlier = RunFolder::epochs_in(options_.folder->path());
    tell([&](Callback& callback) { callback.begin_fit(start); });
  }

  bool validates() const { return task_.validate != nullptr; }

  /// Those that the scaler has not left out.
  int64_t taken_steps() const {
    return result_.steps_done - (options_.scaler ? options_.scaler->skipped_steps() : 0);
  }

  bool out_of_steps() const { return options_.max_steps > 0 && result_.steps_done >= options_.max_steps; }
  bool finished() const {
    if (result_.epochs_done >= options_.epochs) return true;
    return step_in_epoch_ == 0 &&
           (out_of_steps() || std::any_of(options_.callbacks.begin(), options_.callbacks.end(),
                                          [](const Callback* callback) { return callback->wants_end(); }));
  }

  void run_epoch() {
    task_.model.train();
    tell([&](Callback& callback) { callback.begin_epoch(result_.epochs_done); });
    int64_t examples = 0;
    for (; step_in_epoch_ < steps_in_epoch_ && !out_of_steps(); ++step_in_epoch_) {
      if (options_.stop.stop_requested()) return interrupt();
      StepReport step = run_step(examples);
      progress_.seconds += step.seconds;
      progress_.loss_sum += step.loss * double(step.examples_done - examples);
      progress_.examples += step.examples_done - examples;
      examples = step.examples_done;
      tell([&](Callback& callback) { callback.end_step(step); });
      if (save_is_due()) save(false);
    }
    finish_epoch();
  }

  bool save_is_due() const {
    const SaveInterval& every = options_.save_every;
    return (every.steps > 0 && result_.steps_done % every.steps == 0) ||
           (every.seconds > 0 && seconds_since(last_save_) >= every.seconds);
  }

  StepReport run_step(int64_t examples_before) {
    auto start = std::chrono::steady_clock::now();
    if (!batches_) batches_ = task_.examples.batches(sampler_);
    const int64_t count = sampler_.skip();
    const std::vector<Tensor> batch = batches_->next();
    task_.optimizer.set_learning_rate(schedule_.at(taken_steps()));
    Tensor loss;
    step_.call(batch, {&loss, 1});
    double value = loss.item();
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
            examples_before + count,
            value,
            seconds};
  }

  /// The part's name is for the message when a figure is not finite.
  Metrics measure(const Measure& part, const char* part_name) {
    const AveragedWeights averaged(average_);
    Metrics metrics = part(options_.stop);
    for (const auto& [name, value] : metrics.values)
      require<TrainingError>(std::isfinite(value),
                             "the {} {} is {} after epoch {} (step {}); nothing of this epoch was saved. A "
                             "lower learning rate may help",
                             part_name, name, value, result_.epochs_done + 1, result_.steps_done);
    return metrics;
  }

  void finish_epoch() {
    skip_rest_of_epoch();
    EpochReport report = report_epoch();
    if (options_.stop.stop_requested()) return interrupt();  // the epoch is finished when the run goes on
    report.epoch = ++result_.epochs_done;
    step_in_epoch_ = 0;
    if (validates()) judge(report);
    progress_.metrics = report.figures().line();
    progress_.examples = 0, progress_.loss_sum = 0, progress_.seconds = 0;
    save(report.best);
    tell([&](Callback& callback) { callback.end_epoch(report); });
  }

  EpochReport report_epoch() {
    bool last = result_.epochs_done + 1 == options_.epochs || out_of_steps();
    EpochReport report;
    report.epochs = options_.epochs;
    report.steps = result_.steps_done;
    report.examples = progress_.examples;
    report.train_loss = progress_.examples ? progress_.loss_sum / double(progress_.examples) : 0;
    report.seconds = progress_.seconds;
    report.learning_rate = task_.optimizer.learning_rate();
    if (validates()) report.validation = measure(task_.validate, "validation");
    if (task_.test && (last || !options_.test_last_only)) report.test = measure(task_.test, "test");
    if (!validates()) result_.test = report.test;
    return report;
  }

  /// Tells the schedule how good the epoch is, and compares it with the best.
  void judge(EpochReport& report) {
    const double score = report.validation[task_.best_by], best = progress_.best_score;
    schedule_.observe(score, task_.higher_is_better);
    progress_.schedule = schedule_.kept();
    report.best = progress_.best_epoch == 0 || (task_.higher_is_better ? score > best : score < best);
    if (!report.best) return;
    progress_.best_epoch = report.epoch;
    progress_.best_score = score;
    const AveragedWeights averaged(average_);
    best_parameters_ = copies_of(task_.model.state_dict());
    result_.validation = report.validation;
    result_.test = report.test;
  }

  /// The model takes the best weights or the average, and what was not evaluated with the weights it has now
  /// is evaluated.
  void conclude() {
    if (average_) std::exchange(average_, nullptr)->swap();
    if (progress_.best_epoch > 0) task_.model.load_state_dict(best_parameters_);
    if (validates() && result_.validation.empty()) result_.validation = measure(task_.validate, "validation");
    if (task_.test && result_.test.empty()) result_.test = measure(task_.test, "test");
    result_.interrupted = options_.stop.stop_requested();
  }

  /// With limit_batches the sampler must still begin the next epoch with a new order.
  void skip_rest_of_epoch() {
    if (!sampler_.epoch_finished()) batches_.reset();
    while (!sampler_.epoch_finished()) sampler_.skip();
  }

  /// Before the first step there is nothing that the folder does not have.
  void interrupt() {
    result_.interrupted = true;
    if (!result_.losses.empty()) save(false);
  }

  void save(bool best) {
    const AveragedWeights averaged(average_);
    std::string wrong = find_non_finite(task_.model.state_dict());
    require<TrainingError>(wrong.empty(),
                           "{} after step {} (epoch {}); training stopped and saved nothing more. A lower "
                           "learning rate may help",
                           wrong, result_.steps_done, result_.epochs_done + (progress_.examples > 0));
    if (!options_.folder) return;
    Checkpoint checkpoint = options_.description;
    checkpoint.seed = options_.seed;
    checkpoint.epoch = result_.epochs_done;
    checkpoint.step = result_.steps_done;
    checkpoint.parameters = task_.model.state_dict();
    checkpoint.optimizer_state = task_.optimizer.state();
    if (average_)
      for (const auto& [name, trained] : average_->shadows())
        checkpoint.optimizer_state.push_back({std::string(kTrained) + name, trained});
    if (options_.scaler)
      for (const auto& [name, value] : options_.scaler->state())
        checkpoint.optimizer_state.push_back({std::string(kScaler) + name, value});
    checkpoint.sampler = sampler_.state();
    checkpoint.random = default_generator();
    checkpoint.progress = progress_;
    options_.folder->save(checkpoint, best);
    last_save_ = std::chrono::steady_clock::now();
    result_.saved = true;
  }

  const FitTask& task_;
  const FitOptions& options_;
  Schedule schedule_;
  WeightAverage* average_;  ///< null once the model has it for good
  CompiledFunction step_;
  BatchSampler sampler_;
  std::unique_ptr<BatchStream> batches_;  ///< from where the sampler stands; null: not begun
  int64_t steps_in_epoch_, step_in_epoch_ = 0;
  RunProgress progress_;
  std::vector<NamedTensor> best_parameters_;
  std::vector<double> rates_;
  std::chrono::steady_clock::time_point last_save_ = std::chrono::steady_clock::now();
  FitResult result_;
};

}  // namespace

std::unique_ptr<BatchStream> Examples::batches(const BatchSampler& sampler) const {
  return std::make_unique<PlainStream>(*this, sampler);
}

FitResult fit(const FitTask& task, const FitOptions& options) { return Loop(task, options).run(); }

}  // namespace treadle

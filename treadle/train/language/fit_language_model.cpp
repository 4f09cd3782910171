#include "treadle/train/language/fit_language_model.h"

#include "treadle/train/class_loss.h"
#include "treadle/train/language/text_windows.h"

namespace treadle {
namespace {

constexpr int64_t kEvaluationWindows = 32;

Measure measure_on(std::span<const int32_t> part, int64_t block, TextEvaluator& evaluator,
                   const TaskOptions& options) {
  return [part, block, &evaluator, &options](std::stop_token stop) -> Metrics {
    const TextEvaluation found = evaluator(part, block, options.device, kEvaluationWindows,
                                           options.limit_batches * options.batch_size, stop);
    return {{{"loss", found.loss}, {"perplexity", found.perplexity()}}, found};
  };
}

/// What training needs; the model is judged by nothing yet.
FitTask task_of_language(Module& model, Optimizer& optimizer, const Schedule& schedule,
                         const TextWindows& windows, const StepOptions& step) {
  FitTask task{model, optimizer, schedule, windows};
  auto loss = [&model](std::span<const Tensor> batch) { return class_loss(model(batch[0]), batch[1]); };
  task.step = training_step(optimizer, loss, step);
  return task;
}

}  // namespace

FitResult fit_language_model(Module& model, Optimizer& optimizer, const Schedule& schedule,
                             const TextDataset& text, const TaskOptions& options) {
  TextEvaluator evaluator(model);
  TextWindows windows(text.train, text.block, options.seed, options.device);
  TaskOptions own = options;
  own.step.average = options.average, own.step.scaler = options.scaler;
  FitTask task = task_of_language(model, optimizer, schedule, windows, own.step);
  if (!text.validation.empty()) task.validate = measure_on(text.validation, text.block, evaluator, own);
  task.test = measure_on(text.test, text.block, evaluator, own);
  return fit(task, own);
}

LearningRateCurve find_language_learning_rate(Module& model, Optimizer& optimizer, const TextDataset& text,
                                              const TaskOptions& options, LearningRateSearch search) {
  const Schedule schedule = Schedule::named("constant", search.lowest);
  const TextWindows windows(text.train, text.block, options.seed, options.device);
  search.batch_size = options.batch_size, search.seed = options.seed, search.stop = options.stop;
  return find_learning_rate(task_of_language(model, optimizer, schedule, windows, options.step), search);
}

TextEvaluation text_evaluation_of(const Metrics& metrics) {
  const auto* found = std::any_cast<TextEvaluation>(&metrics.details);
  return found ? *found : TextEvaluation();
}

}  // namespace treadle

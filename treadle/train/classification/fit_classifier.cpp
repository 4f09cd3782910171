#include "treadle/train/classification/fit_classifier.h"

#include "treadle/ops/loss/cross_entropy.h"

namespace treadle {
namespace {

/// Divides the 10,000 test images of the usual data sets, so that no second program is recorded for a rest.
constexpr int64_t kEvaluationBatch = 250;

/// Images and labels.
class LabelledImages final : public Examples {
 public:
  LabelledImages(const ImageDataset& dataset, const ClassifierOptions& options)
      : dataset_(dataset), options_(options) {}
  int64_t size() const override { return dataset_.size(); }
  std::vector<Tensor> batch(std::span<const int64_t> indices) const override {
    Batch batch = make_batch(dataset_, indices, options_.description.normalization, options_.device);
    return {batch.images, batch.labels};
  }

 private:
  const ImageDataset& dataset_;
  const ClassifierOptions& options_;
};

Measure measure_on(const ImageDataset& part, Evaluator& evaluator, const ClassifierOptions& options) {
  return [&](std::stop_token stop) -> Metrics {
    Evaluation found = evaluator(part, options.description.normalization, options.device, kEvaluationBatch,
                                 options.limit_batches * options.batch_size, stop);
    return {{{"loss", found.loss}, {"accuracy", found.accuracy}}, found};
  };
}

/// What training needs; the model is judged by nothing yet.
FitTask task_of_classifier(Module& model, Optimizer& optimizer, const Schedule& schedule,
                           const LabelledImages& images, const StepOptions& step) {
  FitTask task{model, optimizer, schedule, images};
  auto loss = [&model](std::span<const Tensor> batch) { return cross_entropy(model(batch[0]), batch[1]); };
  task.step = training_step(optimizer, loss, step);
  return task;
}

}  // namespace

LearningRateCurve find_classifier_learning_rate(Module& model, Optimizer& optimizer,
                                                const ImageDataset& images, const ClassifierOptions& options,
                                                LearningRateSearch search) {
  const Schedule schedule = Schedule::named("constant", search.lowest);
  const LabelledImages examples(images, options);
  search.batch_size = options.batch_size, search.seed = options.seed, search.stop = options.stop;
  return find_learning_rate(task_of_classifier(model, optimizer, schedule, examples, options.step), search);
}

FitResult fit_classifier(Module& model, Optimizer& optimizer, const Schedule& schedule,
                         const DatasetSplits& data, const ClassifierOptions& options) {
  Evaluator evaluator(model);
  LabelledImages images(data.train, options);
  StepOptions step = options.step;
  step.average = options.average;
  FitTask task = task_of_classifier(model, optimizer, schedule, images, step);
  if (data.validation.size() > 0) task.validate = measure_on(data.validation, evaluator, options);
  task.test = measure_on(data.test, evaluator, options);
  task.best_by = "accuracy", task.higher_is_better = true;
  return fit(task, options);
}

Evaluation evaluation_of(const Metrics& metrics) {
  const auto* found = std::any_cast<Evaluation>(&metrics.details);
  return found ? *found : Evaluation();
}

}  // namespace treadle

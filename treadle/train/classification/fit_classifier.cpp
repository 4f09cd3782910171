#include "treadle/train/classification/fit_classifier.h"

#include "treadle/train/classification/classifier_loss.h"
#include "treadle/train/classification/plain_images.h"
#include "treadle/train/classification/tensors_on.h"

namespace treadle {
namespace {

/// Divides the 10,000 test images of the usual data sets, so that no second program is recorded for a rest.
constexpr int64_t kEvaluationBatch = 250;

/// What a loader makes, on the step's device.
class LoadedImages final : public BatchStream {
 public:
  LoadedImages(const ImageDataset& dataset, const BatchSampler& sampler, const LoaderOptions& options,
               Device device)
      : loader_(dataset, sampler, options), device_(device) {}
  std::vector<Tensor> next() override { return tensors_on(device_, loader_.next()); }

 private:
  Loader loader_;
  Device device_;
};

/// Images and labels, or mixtures of both.
class LabelledImages final : public Examples {
 public:
  LabelledImages(const ImageDataset& dataset, const ClassifierOptions& options)
      : dataset_(dataset), options_(options) {}
  int64_t size() const override { return dataset_.size(); }
  /// As in the first epoch.
  std::vector<Tensor> batch(std::span<const int64_t> indices) const override {
    const LoaderOptions o = loader_options();
    const AugmentedBatches batches(dataset_, o.augmentations, o.normalization, o.seed);
    return tensors_on(options_.device, batches.batch(0, indices));
  }
  std::unique_ptr<BatchStream> batches(const BatchSampler& sampler) const override {
    return std::make_unique<LoadedImages>(dataset_, sampler, loader_options(), options_.device);
  }

 private:
  LoaderOptions loader_options() const {
    return {.augmentations = options_.augmentations,
            .normalization = options_.description.normalization,
            .seed = options_.seed,
            .threads = loader_threads()};
  }
  /// A step on a GPU leaves all cores to the loader.
  std::optional<int> loader_threads() const {
    const bool free = options_.device.kind == DeviceKind::cuda;
    return free && !options_.loader_threads ? default_loader_threads() : options_.loader_threads;
  }

  const ImageDataset& dataset_;
  const ClassifierOptions& options_;
};

Measure measure_on(const Examples& part, int64_t classes, Evaluator& evaluator,
                   const ClassifierOptions& options) {
  return [&, classes](std::stop_token stop) -> Metrics {
    Evaluation found =
        evaluator(part, classes, kEvaluationBatch, options.limit_batches * options.batch_size, stop);
    return {{{"loss", found.loss}, {"accuracy", found.accuracy}}, found};
  };
}

/// What training needs; the model is judged by nothing yet.
FitTask task_of_classifier(Module& model, Optimizer& optimizer, const Schedule& schedule,
                           const Examples& images, const StepOptions& step, double label_smoothing) {
  FitTask task{model, optimizer, schedule, images};
  task.step = training_step(optimizer, classifier_loss(model, label_smoothing), step);
  return task;
}

}  // namespace

LearningRateCurve find_classifier_learning_rate(Module& model, Optimizer& optimizer,
                                                const ImageDataset& images, const ClassifierOptions& options,
                                                LearningRateSearch search) {
  const Schedule schedule = Schedule::named("constant", search.lowest);
  const LabelledImages examples(images, options);
  search.batch_size = options.batch_size, search.seed = options.seed, search.stop = options.stop;
  return find_learning_rate(
      task_of_classifier(model, optimizer, schedule, examples, options.step, options.label_smoothing),
      search);
}

std::unique_ptr<Examples> training_images(const ImageDataset& dataset, const ClassifierOptions& options) {
  return std::make_unique<LabelledImages>(dataset, options);
}

FitResult fit_classifier(Module& model, Optimizer& optimizer, const Schedule& schedule,
                         const ClassifierParts& parts, const ClassifierOptions& options) {
  Evaluator evaluator(model);
  StepOptions step = options.step;
  step.average = options.average, step.scaler = options.scaler;
  FitTask task = task_of_classifier(model, optimizer, schedule, parts.train, step, options.label_smoothing);
  if (parts.validation) task.validate = measure_on(*parts.validation, parts.classes, evaluator, options);
  if (parts.test) task.test = measure_on(*parts.test, parts.classes, evaluator, options);
  task.best_by = "accuracy", task.higher_is_better = true;
  return fit(task, options);
}

FitResult fit_classifier(Module& model, Optimizer& optimizer, const Schedule& schedule,
                         const DatasetSplits& data, const ClassifierOptions& options) {
  const PixelNormalization& normalization = options.description.normalization;
  const LabelledImages images(data.train, options);
  const PlainImages validation(data.validation, normalization, options.device);
  const PlainImages test(data.test, normalization, options.device);
  return fit_classifier(
      model, optimizer, schedule,
      {images, data.validation.size() > 0 ? &validation : nullptr, &test, int64_t(data.test.classes.size())},
      options);
}

Evaluation evaluation_of(const Metrics& metrics) {
  const auto* found = std::any_cast<Evaluation>(&metrics.details);
  return found ? *found : Evaluation();
}

}  // namespace treadle

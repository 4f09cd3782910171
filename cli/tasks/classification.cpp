#include <fmt/core.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "cli/class_figures.h"
#include "cli/class_table.h"
#include "cli/data_options.h"
#include "cli/format.h"
#include "cli/learning_tasks.h"
#include "treadle/core/error.h"
#include "treadle/data/fingerprint.h"
#include "treadle/data/hold_out.h"
#include "treadle/data/pixel_statistics.h"
#include "treadle/train/classification/classifier_loss.h"
#include "treadle/train/classification/evaluate.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle::cli {
namespace {

std::string accuracy_text(double accuracy) { return fmt::format("{} ({:.4f})", percent(accuracy), accuracy); }

/// Fewer than the test set has when --limit-batches cuts it.
int64_t test_images(const Metrics& metrics) {
  const Evaluation test = evaluation_of(metrics);
  return std::accumulate(test.total.begin(), test.total.end(), int64_t(0));
}

/// Images, or numbers, with a label each.
class Classification final : public TrainTask {
 public:
  void load(const TrainOptions& o) override {
    const ModelInfo& info = model_info(o.model);
    data_ = load_dataset(o.data, dataset_options(o, info, o.seed));
    if (!info.follows_data) require_data_of_model(o, info);
    augmentations_ = Augmentations::parse(o.augment);
    augmentations_.require_fit(data_.train.image_shape, !data_.train.has_values());
    label_smoothing_ = o.label_smoothing;
    loader_threads_ = loader_threads_in(o.loader_threads);
  }

  std::string fingerprint() const override { return treadle::fingerprint(data_); }
  void hold_out(double share, uint64_t seed) override { treadle::hold_out(data_, share, seed); }
  void take_classes(const std::vector<std::string>& classes) override {
    if (classes.size() == data_.train.classes.size()) data_.train.classes = data_.test.classes = classes;
  }

  void describe(const TrainOptions& options, Checkpoint& description) const override {
    description.classes = data_.train.classes;
    description.input = data_.train.image_shape;
    if (options.normalize) description.normalization = measure_normalization(data_.train);
  }

  int64_t training_examples() const override { return data_.train.size(); }
  DataUnit unit() const override { return {"images"}; }
  std::string sizes() const override {
    const int64_t held_out = data_.validation.size();
    return fmt::format("{} training{} and {} test images", with_commas(data_.train.size()),
                       held_out > 0 ? fmt::format(", {} validation", with_commas(held_out)) : "",
                       with_commas(data_.test.size()));
  }
  BestBy best_by() const override { return {"accuracy", true}; }
  const DatasetSplits* images() const override { return &data_; }

  FitResult fit(Module& model, Optimizer& optimizer, const Schedule& schedule,
                const TaskOptions& options) override {
    return fit_classifier(model, optimizer, schedule, data_, with_own(options));
  }
  LearningRateCurve find_learning_rate(Module& model, Optimizer& optimizer, const TaskOptions& options,
                                       LearningRateSearch search) override {
    return find_classifier_learning_rate(model, optimizer, data_.train, with_own(options), std::move(search));
  }

  std::string report(const FitResult& result) const override {
    std::string text = class_table(data_.test.classes, evaluation_of(result.test)) + "\n";
    if (result.best_epoch > 0)
      text += fmt::format("validation accuracy {}, the best, after epoch {}\n",
                          accuracy_text(result.validation["accuracy"]), result.best_epoch);
    return text + fmt::format("test accuracy {}, test loss {:.4f}{}\n",
                              accuracy_text(result.test["accuracy"]), result.test["loss"],
                              share_of_test_set(test_images(result.test), data_.test.size()));
  }

  void add_figures(Json& object, const FitResult& result) const override {
    Json validation_accuracy;
    if (result.best_epoch > 0) validation_accuracy = result.validation["accuracy"];
    object.add("validation_accuracy", validation_accuracy);
    object.add("test_accuracy", result.test["accuracy"]);
    object.add("test_loss", result.test["loss"]);
    object.add("test_images", test_images(result.test));
    object.add("images_in_test_set", data_.test.size());
    object.add("images_per_second", result.examples_per_second);
  }

 private:
  void require_data_of_model(const TrainOptions& o, const ModelInfo& info) const {
    require<ShapeError>(data_.train.image_shape == info.input, "images of {} have shape {}, {} expects {}",
                        o.data, to_string(data_.train.image_shape), o.model, to_string(info.input));
    require<FormatError>(int64_t(data_.train.classes.size()) == info.classes, "{} has {} classes, {} has {}",
                         o.data, data_.train.classes.size(), o.model, info.classes);
  }

  ClassifierOptions with_own(const TaskOptions& options) const {
    ClassifierOptions all;
    static_cast<TaskOptions&>(all) = options;
    all.augmentations = augmentations_;
    all.label_smoothing = label_smoothing_;
    all.loader_threads = loader_threads_;
    return all;
  }

  DatasetSplits data_;
  Augmentations augmentations_;
  double label_smoothing_ = 0;
  std::optional<int> loader_threads_;
};

EvalAnswer evaluate_classifier(LoadedModel& model, const EvalRequest& request) {
  const Checkpoint& c = model.checkpoint;
  const ImageDataset test = load_dataset(request.data, dataset_options(c)).test;
  require_fit(test, request.data, c);
  model.module->to(request.device);
  const auto result = evaluate(*model.module, test, c.normalization, request.device, request.batch_size,
                               request.limit_batches * request.batch_size);
  const int64_t images = std::accumulate(result.total.begin(), result.total.end(), int64_t(0));
  require<FormatError>(std::isfinite(result.loss), "{}: the loss on {} is {}; its weights are too large",
                       model.file.string(), request.data, result.loss);
  Json object = {{"checkpoint", request.checkpoint},  {"model", c.model},          {"data", request.data},
                 {"test_accuracy", result.accuracy},  {"test_loss", result.loss},  {"test_images", images},
                 {"images_in_test_set", test.size()}, {"correct", result.correct}, {"total", result.total}};
  add_class_figures(object, result);
  std::string text = class_figures_table(test.classes, result);
  if (request.confusion) text += fmt::format("\n{}\n", confusion_table(test.classes, result));
  text += fmt::format("test accuracy {} ({:.4f}), test loss {:.4f}{}\n", percent(result.accuracy),
                      result.accuracy, result.loss, share_of_test_set(images, test.size()));
  return {text, object};
}

/// Images gathered by their indices, without augmentations.
class ClassifiedExamples final : public StepExamples {
 public:
  explicit ClassifiedExamples(const StepData& request) : data_(load_dataset(request.data).train) {
    if (request.checkpoint) normalization_ = request.checkpoint->normalization;
  }

  std::string unit() const override { return "images"; }
  int64_t size() const override { return data_.size(); }
  ModelTask model_task() const override { return {data_.image_shape, int64_t(data_.classes.size())}; }
  std::vector<Tensor> batch(std::span<const int64_t> indices, Device device) const override {
    const Batch batch = make_batch(data_, indices, normalization_, device);
    return {batch.images, batch.labels};
  }
  std::function<Tensor(std::span<const Tensor>)> loss(Module& model) const override {
    return classifier_loss(model);
  }

 private:
  ImageDataset data_;
  PixelNormalization normalization_;
};

}  // namespace

void register_tasks_classification(LearningTasks& tasks) {
  tasks.add(
      {.name = "classification",
       .train = [] { return std::make_unique<Classification>(); },
       .evaluate = evaluate_classifier,
       .examples = [](const StepData& request) { return std::make_unique<ClassifiedExamples>(request); },
       .of_images = true});
}

}  // namespace treadle::cli

/// What `treadle train`, `eval`, `plot` and the benches do differently by what a model learns: each file of
/// cli/tasks/ registers one under the name that ModelInfo::task has, and the build finds it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/json.h"
#include "cli/step_examples.h"
#include "cli/train_options.h"
#include "treadle/data/dataset.h"
#include "treadle/train/learning_rate_finder.h"
#include "treadle/train/load_model.h"
#include "treadle/train/task_options.h"

namespace treadle::cli {

/// How parts of the data are counted: "images", "characters"; and what a step is made of, by the number of
/// those in an example.
struct DataUnit {
  std::string name;
  int64_t in_example = 1;
};

/// The figure of the validation part that chooses the best epoch.
struct BestBy {
  std::string figure;
  bool higher_is_better;
};

/// One run of `train`: its data, and what depends on their kind.
class TrainTask {
 public:
  virtual ~TrainTask() = default;

  /// Loads what options.data names, whole. Throws as load_dataset(), and ValueError, ShapeError or
  /// FormatError for data that the model does not take.
  virtual void load(const TrainOptions& options) = 0;
  /// Of what was loaded.
  virtual std::string fingerprint() const = 0;
  virtual void hold_out(double share, uint64_t seed) = 0;
  /// A run that is resumed has these.
  virtual void take_classes(const std::vector<std::string>&) {}
  /// Input, classes, and normalization where the options ask for it.
  virtual void describe(const TrainOptions& options, Checkpoint& description) const = 0;

  virtual int64_t training_examples() const = 0;
  virtual DataUnit unit() const = 0;
  /// "60,000 training and 10,000 test images"
  virtual std::string sizes() const = 0;
  virtual BestBy best_by() const = 0;
  /// Null where the examples are of another kind.
  virtual const DatasetSplits* images() const { return nullptr; }

  virtual FitResult fit(Module& model, Optimizer& optimizer, const Schedule& schedule,
                        const TaskOptions& options) = 0;
  virtual LearningRateCurve find_learning_rate(Module& model, Optimizer& optimizer,
                                               const TaskOptions& options, LearningRateSearch search) = 0;
  /// The figures of a run that is done, as lines.
  virtual std::string report(const FitResult& result) const = 0;
  /// The same in the object of --json.
  virtual void add_figures(Json& object, const FitResult& result) const = 0;
};

/// What `eval` was asked for.
struct EvalRequest {
  std::string checkpoint, data;
  Device device;
  int64_t batch_size = 0, limit_batches = 0;
  bool confusion = false;
};

/// What it answers, in both forms.
struct EvalAnswer {
  std::string text;
  Json object;
};

struct LearningTask {
  std::string name;
  std::function<std::unique_ptr<TrainTask>()> train;
  std::function<EvalAnswer(LoadedModel& model, const EvalRequest& request)> evaluate;
  /// Throws as TrainTask::load().
  std::function<std::unique_ptr<StepExamples>(const StepData& request)> examples;
  bool of_images = false;  ///< or other examples with a label each
};

class LearningTasks {
 public:
  void add(LearningTask task) { tasks_.push_back(std::move(task)); }
  const LearningTask& of(const ModelInfo& model) const;

 private:
  std::vector<LearningTask> tasks_;
};

/// All that are registered.
const LearningTasks& learning_tasks();

/// That of a model by its name.
const LearningTask& learning_task_of(const std::string& model);

/// Throws ValueError unless the model's examples are images or the like: `use` says what cannot be done.
void require_task_of_images(const std::string& model, const std::string& use);

}  // namespace treadle::cli

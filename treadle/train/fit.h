/// The training loop: shuffled batches, evaluations, checkpoints, and a clean stop. It knows neither what is
/// learnt nor of what.
#pragma once  // public

#include <any>
#include <functional>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "treadle/nn/module.h"
#include "treadle/optim/optimizer.h"
#include "treadle/optim/schedule.h"
#include "treadle/train/checkpoint.h"
#include "treadle/train/run_folder.h"

namespace treadle {

/// Examples to train on, in batches.
class TREADLE_API Examples {
 public:
  virtual ~Examples() = default;
  virtual int64_t size() const = 0;
  /// Those of the indices, as the arguments of a step, on its device.
  virtual std::vector<Tensor> batch(std::span<const int64_t> indices) const = 0;
};

/// Figures of a model on a part of the data.
struct Metrics {
  std::map<std::string, double> values;  ///< "loss", "accuracy", …; none: it was not looked at
  std::any details = {};                 ///< what else the one who measured knows, for whom it may concern

  bool empty() const { return values.empty(); }
  /// Throws std::out_of_range for a figure that was not measured.
  double operator[](const std::string& name) const { return values.at(name); }
};

/// Looks at a part of the data with the model as it is; ends early when a stop is requested.
using Measure = std::function<Metrics(std::stop_token stop)>;

/// What fit() trains, on what, and how it is judged. All that is referred to must outlive the call.
struct FitTask {
  Module& model;
  Optimizer& optimizer;
  const Schedule& schedule;  ///< of the learning rate; may follow the figure best_by
  const Examples& examples;
  /// One step on a batch: gradients and update; gives the mean loss of its examples. fit() compiles it.
  std::function<Tensor(std::span<const Tensor> batch)> step = {};
  Measure validate = {};          ///< on a part that chooses the best epoch; absent: the last epoch counts
  Measure test = {};              ///< chooses nothing; may be absent
  std::string best_by = "loss";   ///< the figure of validate() that decides
  bool higher_is_better = false;  ///< whether a larger one is better
};

/// The usual step: drops gradients, takes those of loss(batch), and updates.
TREADLE_API std::function<Tensor(std::span<const Tensor>)> training_step(
    Optimizer& optimizer, std::function<Tensor(std::span<const Tensor> batch)> loss);

/// Told after every step.
struct StepReport {
  int64_t epoch = 0, epochs = 0;
  int64_t step_in_epoch = 0, steps_in_epoch = 0;  ///< steps done
  int64_t examples_done = 0;                      ///< in this epoch, by this call
  double loss = 0;
  double seconds = 0;  ///< of this step
};

/// Told after every epoch, once its checkpoint is written.
struct EpochReport {
  int64_t epoch = 0, epochs = 0;  ///< epochs done
  int64_t examples = 0;           ///< trained on in this epoch
  double train_loss = 0;          ///< mean over the epoch's examples
  Metrics validation;             ///< empty without a validation part
  Metrics test;                   ///< empty after an epoch without a test
  double seconds = 0;             ///< training steps of this epoch
  double learning_rate = 0;
  bool best = false;  ///< the best so far on the validation part
};

/// How often a run is saved between the ends of its epochs, whatever comes first; 0: not by that measure.
struct SaveInterval {
  int64_t steps = 0;
  double seconds = 0;
};

struct FitOptions {
  int64_t epochs = 5, batch_size = 32;
  uint64_t seed = 0;
  /// Stops each epoch after so many batches; 0: no limit.
  int64_t limit_batches = 0;
  /// The run ends after so many steps, in the middle of the last epoch or at an earlier one; 0: no limit.
  int64_t max_steps = 0;
  /// Whether the test is made after the last epoch only. It chooses nothing either way.
  bool test_last_only = false;
  SaveInterval save_every;
  /// Where checkpoints and metrics go; null: nothing is saved. It must outlive the call.
  RunFolder* folder = nullptr;
  /// Model name and the like: what checkpoints say besides the state.
  Checkpoint description;
  /// Continues from this state instead of the beginning.
  const Checkpoint* resume = nullptr;
  /// Checked after each step: state is saved and fit() returns.
  std::stop_token stop;
  std::function<void(const StepReport&)> on_step;
  std::function<void(const EpochReport&)> on_epoch;
};

struct FitResult {
  std::vector<double> losses;  ///< of every step
  Metrics validation, test;    ///< of the weights that the model has now; empty where there is no such part
  int64_t best_epoch = 0;      ///< with a validation part: the epoch after which the model was as it is now
  double train_seconds = 0;    ///< training steps only
  double examples_per_second = 0;  ///< median over steps
  int64_t epochs_done = 0, steps_done = 0;
  bool interrupted =
      false;           ///< validation and test are then incomplete, and the weights those of the last step
  bool saved = false;  ///< whether the folder has the state of the last step
};

/// Trains. With a validation part the model ends with the weights of the epoch that was best on it, which are
/// also those of best.safetensors; without, with those of the last step. Throws TrainingError when a loss, a
/// figure or a weight is not finite: it names the step, and the files in the folder are those of the last
/// epoch. Nothing is written before the first epoch is finished, a stop requested or options.save_every over.
///
/// A run that is resumed from any of its files takes the steps that it would have taken: default_generator()
/// goes on where it was. Its weights are the same to the bit where the same variants run, see
/// Settings::deterministic.
TREADLE_API FitResult fit(const FitTask& task, const FitOptions& options);

}  // namespace treadle

/// The training loop: shuffled batches, evaluations, checkpoints, and a clean stop. It knows neither what is
/// learnt nor of what.
#pragma once  // public

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "treadle/data/batches.h"
#include "treadle/nn/module.h"
#include "treadle/optim/loss_scaler.h"
#include "treadle/optim/optimizer.h"
#include "treadle/optim/schedule.h"
#include "treadle/optim/weight_average.h"
#include "treadle/train/callback.h"
#include "treadle/train/checkpoint.h"
#include "treadle/train/run_folder.h"

namespace treadle {

/// Batches one after another, each the arguments of a step.
class TREADLE_API BatchStream {
 public:
  virtual ~BatchStream() = default;
  virtual std::vector<Tensor> next() = 0;
};

/// Examples to train on, in batches.
class TREADLE_API Examples {
 public:
  virtual ~Examples() = default;
  virtual int64_t size() const = 0;
  /// Those of the indices, as the arguments of a step, on its device.
  virtual std::vector<Tensor> batch(std::span<const int64_t> indices) const = 0;
  /// The batches of a sampler from where it stands, each as batch() gives it. Whoever makes them ahead, or
  /// otherwise in each epoch, has them come from elsewhere. The examples must outlive them.
  virtual std::unique_ptr<BatchStream> batches(const BatchSampler& sampler) const;
};

/// Looks at a part of the data with the model as it is; ends early when a stop is requested.
using Measure = std::function<Metrics(std::stop_token stop)>;

/// What fit() trains, on what, and how it is judged. All that is referred to must outlive the call.
struct FitTask {
  Module& model;
  Optimizer& optimizer;
  const Schedule& schedule;  ///< of the learning rate; may follow the figure best_by
  const Examples& examples;
  /// One step on a batch, mostly a training_step(): gradients and update; gives the mean loss of its
  /// examples. fit() compiles it.
  std::function<Tensor(std::span<const Tensor> batch)> step = {};
  Measure validate = {};          ///< on a part that chooses the best epoch; absent: the last epoch counts
  Measure test = {};              ///< chooses nothing; may be absent
  std::string best_by = "loss";   ///< the figure of validate() that decides
  bool higher_is_better = false;  ///< whether a larger one is better
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
  /// The average that the step updates: evaluated, saved and at the end left in the model in place of the
  /// weights. It must outlive the call.
  WeightAverage* average = nullptr;
  /// The scaler that the step uses: saved and restored, and steps that it leaves out are none for the
  /// schedule. It must outlive the call.
  LossScaler* scaler = nullptr;
  /// Where checkpoints and metrics go; null: nothing is saved. It must outlive the call.
  RunFolder* folder = nullptr;
  /// Model name and the like: what checkpoints say besides the state.
  Checkpoint description;
  /// Continues from this state instead of the beginning.
  const Checkpoint* resume = nullptr;
  /// Checked after each step: state is saved and fit() returns.
  std::stop_token stop;
  /// Told of the run in this order; they must outlive the call.
  std::vector<Callback*> callbacks;
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

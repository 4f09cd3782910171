/// The training loop: shuffled batches, evaluations, checkpoints, and a clean stop.
#pragma once  // public

#include <functional>
#include <stop_token>
#include <vector>

#include "treadle/data/batches.h"
#include "treadle/data/dataset.h"
#include "treadle/nn/module.h"
#include "treadle/optim/optimizer.h"
#include "treadle/optim/schedule.h"
#include "treadle/train/checkpoint.h"
#include "treadle/train/evaluate.h"
#include "treadle/train/run_folder.h"

namespace treadle {

/// Told after every step.
struct StepReport {
  int64_t epoch = 0, epochs = 0;
  int64_t step_in_epoch = 0, steps_in_epoch = 0;  ///< steps done
  int64_t images_done = 0;                        ///< in this epoch, by this call
  double loss = 0;
  double seconds = 0;  ///< of this step
};

/// Told after every epoch, once its checkpoint is written.
struct EpochReport {
  int64_t epoch = 0, epochs = 0;  ///< epochs done
  int64_t images = 0;             ///< trained on in this epoch
  double train_loss = 0;          ///< mean over the epoch's images
  Evaluation validation;          ///< its `total` is empty without a validation part
  Evaluation test;                ///< its `total` is empty after an epoch without a test
  double seconds = 0;             ///< training steps of this epoch
  double learning_rate = 0;
  bool best = false;  ///< the best so far on the validation part
};

struct FitOptions {
  int64_t epochs = 5, batch_size = 32;
  uint64_t seed = 0;
  Device device = kCpu;
  /// Stops each epoch after so many batches; 0: no limit. Evaluations are then cut to as many images.
  int64_t limit_batches = 0;
  /// The run ends after so many steps, in the middle of the last epoch or at an earlier one; 0: no limit.
  int64_t max_steps = 0;
  /// Whether the test images are looked at after the last epoch only. They choose nothing either way.
  bool test_last_only = false;
  /// Where checkpoints and metrics go; null: nothing is saved. It must outlive the call.
  RunFolder* folder = nullptr;
  /// Model name, classes and the like: what checkpoints say besides the state.
  Checkpoint description;
  /// Continues from this state instead of the beginning.
  const Checkpoint* resume = nullptr;
  /// Checked after each step: state is saved and fit() returns.
  std::stop_token stop;
  std::function<void(const StepReport&)> on_step;
  std::function<void(const EpochReport&)> on_epoch;
};

struct FitResult {
  std::vector<double> losses;    ///< of every step
  Evaluation validation, test;   ///< of the weights that the model has now; validation.total may be empty
  int64_t best_epoch = 0;        ///< with a validation part: the epoch after which the model was as it is now
  double train_seconds = 0;      ///< training steps only
  double images_per_second = 0;  ///< median over steps
  int64_t epochs_done = 0, steps_done = 0;
  bool interrupted =
      false;           ///< validation and test are then incomplete, and the weights those of the last step
  bool saved = false;  ///< whether the folder has the state of the last step
};

/// Trains a classifier with cross-entropy. With images in data.validation (see hold_out()) the model ends
/// with the weights of the epoch that was best on them, which are also those of best.safetensors; without,
/// with those of the last step. Throws TrainingError when a loss or a weight is not finite: it names the
/// step, and the files in the folder are those of the last epoch. Nothing is written before the first epoch
/// is finished or a stop requested.
TREADLE_API FitResult fit(Module& model, Optimizer& optimizer, const Schedule& schedule,
                          const DatasetSplits& data, const FitOptions& options);

}  // namespace treadle

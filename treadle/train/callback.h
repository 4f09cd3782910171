/// Callback: what is told of a training as it goes, and may end it. Logs, progress and early stopping are
/// such.
#pragma once  // public

#include <any>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "treadle/nn/module.h"
#include "treadle/train/epoch_figures.h"

namespace treadle {

/// Figures of a model on a part of the data.
struct Metrics {
  std::map<std::string, double> values;  ///< "loss", "accuracy", …; none: it was not looked at
  std::any details = {};                 ///< what else the one who measured knows, for whom it may concern

  bool empty() const { return values.empty(); }
  /// Throws std::out_of_range for a figure that was not measured.
  double operator[](const std::string& name) const { return values.at(name); }
};

/// Before the first step.
struct FitStart {
  Module& model;
  int64_t epochs = 0, steps_in_epoch = 0;
  int64_t epochs_done = 0, steps_done = 0;  ///< by the run that is resumed
  std::vector<EpochFigures> earlier;        ///< of its epochs, where it has a folder
};

/// After a step.
struct StepReport {
  int64_t epoch = 0, epochs = 0;
  int64_t step_in_epoch = 0, steps_in_epoch = 0;  ///< steps done
  int64_t examples_done = 0;                      ///< in this epoch, by this call
  double loss = 0;
  double seconds = 0;  ///< of this step
};

/// After an epoch, once its checkpoint is written.
struct EpochReport {
  int64_t epoch = 0, epochs = 0;  ///< epochs done
  int64_t steps = 0;              ///< of the run, done
  int64_t examples = 0;           ///< trained on in this epoch
  double train_loss = 0;          ///< mean over the epoch's examples
  Metrics validation;             ///< empty without a validation part
  Metrics test;                   ///< empty after an epoch without a test
  double seconds = 0;             ///< training steps of this epoch
  double learning_rate = 0;
  bool best = false;  ///< the best so far on the validation part

  TREADLE_API EpochFigures figures() const;
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

/// Each function is called in the thread of fit(), which ends with what one throws.
class TREADLE_API Callback {
 public:
  virtual ~Callback() = default;
  virtual void begin_fit(const FitStart&) {}
  /// Also at an epoch that goes on where a resumed run ended. `epoch` counts from 0.
  virtual void begin_epoch(int64_t /*epoch*/) {}
  virtual void end_step(const StepReport&) {}
  virtual void end_epoch(const EpochReport&) {}
  /// Not where fit() ends with an exception.
  virtual void end_fit(const FitResult&) {}
  /// Asked before each epoch: whether the run ends here. A run that is resumed must give the same answer,
  /// from FitStart::earlier.
  virtual bool wants_end() const { return false; }
};

}  // namespace treadle

/// What `treadle train` prints before and after a run.
#pragma once

#include <string>

#include "cli/json.h"
#include "cli/learning_tasks.h"
#include "cli/train_options.h"
#include "treadle/core/device.h"
#include "treadle/train/fit.h"

namespace treadle::cli {

/// A run as it stands in reports.
struct TrainingRun {
  const TrainOptions& options;
  const TrainTask& task;
  Device device;
  int64_t parameters;
  std::string folder;

  /// The file whose weights the figures are about.
  std::string checkpoint() const;
};

/// The lines before the first epoch.
void announce(const TrainingRun& run);
/// Figures of the test part, totals, and where the model was saved. `seconds` count from the start of the
/// process.
void report(const TrainingRun& run, const FitResult& result, double seconds);
/// The object of --json.
Json json_of(const TrainingRun& run, const FitResult& result, double seconds);
/// How far an interrupted run came and how to go on; one sentence.
std::string interruption_text(const TrainingRun& run, const FitResult& result);

}  // namespace treadle::cli

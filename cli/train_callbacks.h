/// What `treadle train` tells of a run: each file of cli/callbacks/ registers one, and the build finds it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cli/learning_tasks.h"
#include "cli/train_options.h"
#include "treadle/data/dataset.h"
#include "treadle/train/callback.h"
#include "treadle/train/run_folder.h"

namespace treadle::cli {

/// What is known of a run before it begins.
struct TrainContext {
  const TrainOptions& options;
  const RunFolder& folder;
  BestBy best_by;
  const DatasetSplits* images;  ///< null where the examples are of another kind
  const PixelNormalization& normalization;
  Device device;
};

class TrainCallbacks {
 public:
  /// Null where the options ask for none.
  using Make = std::function<std::unique_ptr<Callback>(const TrainContext& run)>;
  void add(Make make) { makers_.push_back(std::move(make)); }
  std::vector<std::unique_ptr<Callback>> make(const TrainContext& run) const;

 private:
  std::vector<Make> makers_;
};

/// All that are registered.
TrainCallbacks train_callbacks();

}  // namespace treadle::cli

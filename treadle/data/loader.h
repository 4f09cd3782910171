/// Loader: shuffled batches of a data set, augmented and made ahead of the training step on threads.
#pragma once  // public

#include <memory>
#include <optional>

#include "treadle/core/export.h"
#include "treadle/data/augmented_batches.h"
#include "treadle/data/batches.h"
#include "treadle/data/prefetcher.h"

namespace treadle {

/// Threads that make batches beside a step that leaves a core free: none where parallel_for has one thread or
/// the process one core, as there they could only take turns with it; else one for each eight cores, one at
/// least.
TREADLE_API int default_loader_threads();

struct LoaderOptions {
  Augmentations augmentations = {};
  PixelNormalization normalization = {};
  uint64_t seed = 0;  ///< of the augmentations
  /// 0: next() makes each batch itself, on the threads of parallel_for. Empty: that where handing over what
  /// is made ahead costs more than it saves, else default_loader_threads().
  std::optional<int> threads = {};
  int64_t ahead = 8;  ///< batches that may wait, where they are not so small that threads make many at once
};

/// The batches of a sampler, one after another. The same ones for any number of threads.
class TREADLE_API Loader {
 public:
  /// From where the sampler stands; a copy of it goes on. The data set must outlive the loader. Throws
  /// ValueError as AugmentedBatches and Prefetcher do.
  Loader(const ImageDataset& dataset, const BatchSampler& sampler, const LoaderOptions& options);

  /// The next batch. Throws ValueError for labels that are no classes, where augmentations mix them, and does
  /// so again in every later call; threads may find such a label some batches ahead.
  AugmentedBatch next() { return prefetcher_ ? take() : make(); }
  /// Where the sampler stands that has given out the batches so far: a loader made of one that is restored to
  /// it goes on behind them.
  BatchSampler::State state() const { return state_; }
  /// That make batches ahead.
  int threads() const { return threads_; }

 private:
  /// Batches of one epoch that follow each other.
  struct Plan {
    int64_t epoch = 0, begin = 0;  ///< of the first index
    std::vector<int64_t> indices = {};
  };
  struct Part {
    AugmentedBatch rows;
    int64_t epoch = 0, begin = 0, count = 0;
  };

  AugmentedBatch make();
  AugmentedBatch take();
  std::vector<Plan> plan_group();
  std::vector<Part> make_group(const std::vector<Plan>& plans) const;

  AugmentedBatches batches_;
  BatchSampler sampler_;  ///< stands where the next batch to make begins
  BatchSampler::State state_;
  int64_t group_;  ///< batches that a thread makes at once
  int threads_;
  AugmentedBatch last_;  ///< the memory of the next one, unless it is still in use
  std::vector<Part> group_taken_;
  size_t part_ = 0;  ///< of those, the one that batches are taken from
  int64_t row_ = 0;  ///< of that, where the next one begins
  /// Last: its threads use the others.
  std::unique_ptr<Prefetcher<std::vector<Plan>, std::vector<Part>>> prefetcher_;
};

}  // namespace treadle

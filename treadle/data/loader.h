/// Loader: shuffled batches of a data set, augmented and made ahead of the training step on threads.
#pragma once  // public

#include <memory>
#include <optional>

#include "treadle/core/export.h"
#include "treadle/data/augmented_batches.h"
#include "treadle/data/batches.h"
#include "treadle/data/prefetcher.h"

namespace treadle {

/// Threads that make batches where nobody says how many: none where parallel_for has one thread or the
/// process one core, as there they could only take turns with the step; else one for each eight cores, one at
/// least.
TREADLE_API int default_loader_threads();

struct LoaderOptions {
  Augmentations augmentations = {};
  PixelNormalization normalization = {};
  uint64_t seed = 0;                ///< of the augmentations
  std::optional<int> threads = {};  ///< empty: default_loader_threads(); 0: next() makes each batch itself
  int64_t ahead = 8;                ///< batches that may wait
};

/// The batches of a sampler, one after another. The same ones for any number of threads.
class TREADLE_API Loader {
 public:
  /// From where the sampler stands; a copy of it goes on. The data set must outlive the loader. Throws
  /// ValueError as AugmentedBatches and Prefetcher do.
  Loader(const ImageDataset& dataset, const BatchSampler& sampler, const LoaderOptions& options);

  /// The next batch. Throws ValueError for labels that are no classes, where augmentations mix them.
  AugmentedBatch next();
  /// Where the sampler stands that has given out the batches so far: a loader made of one that is restored to
  /// it goes on behind them.
  BatchSampler::State state() const { return taken_.state(); }

 private:
  struct Job {
    int64_t epoch;
    std::vector<int64_t> indices;
  };

  AugmentedBatches batches_;
  BatchSampler planned_, taken_;
  Prefetcher<Job, AugmentedBatch> prefetcher_;  ///< last: its threads use the others
};

}  // namespace treadle

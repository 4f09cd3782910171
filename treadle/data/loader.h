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
  /// 0: next() makes each batch itself, on the threads of parallel_for. Empty: that where a batch takes less
  /// than handing it over is worth, else default_loader_threads().
  std::optional<int> threads = {};
  int64_t ahead = 8;  ///< batches that may wait
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
  BatchSampler::State state() const { return state_; }
  /// That make batches ahead.
  int threads() const { return threads_; }

 private:
  struct Job {
    BatchSampler::State after;  ///< of the sampler that has given out the indices
    std::span<const int64_t> indices;
    std::vector<int64_t> kept = {};  ///< where the indices lie if other threads read them
  };
  Job plan();
  struct Made {
    AugmentedBatch batch;
    BatchSampler::State after;
  };
  Made make(const Job& job);

  AugmentedBatches batches_;
  BatchSampler sampler_;  ///< stands where the next batch to make begins
  BatchSampler::State state_;
  int threads_;
  AugmentedBatch last_;  ///< without threads: the memory of the next one, unless it is still in use
  Prefetcher<Job, Made> prefetcher_;  ///< last: its threads use the others
};

}  // namespace treadle

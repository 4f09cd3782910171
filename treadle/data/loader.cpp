#include "treadle/data/loader.h"

#include <algorithm>

#include "treadle/core/affinity.h"
#include "treadle/core/parallel_for.h"

namespace treadle {
namespace {

constexpr int kCoresForAThread = 8;

}  // namespace

int default_loader_threads() {
  const int cores = thread_limit().threads;
  return cores == 1 || num_threads() == 1 ? 0 : std::max(cores / kCoresForAThread, 1);
}

Loader::Loader(const ImageDataset& dataset, const BatchSampler& sampler, const LoaderOptions& options)
    : batches_(dataset, options.augmentations, options.normalization, options.seed),
      planned_(sampler),
      taken_(sampler),
      prefetcher_(
          [this] {
            const auto indices = planned_.next();
            return Job{planned_.state().epoch, {indices.begin(), indices.end()}};
          },
          [this](const Job& job) { return batches_.batch(job.epoch, job.indices); },
          options.threads.value_or(default_loader_threads()), options.ahead) {}

AugmentedBatch Loader::next() {
  AugmentedBatch batch = prefetcher_.next();
  taken_.next();
  return batch;
}

}  // namespace treadle

#include "treadle/data/loader.h"

#include <algorithm>

#include "treadle/core/affinity.h"
#include "treadle/core/parallel_for.h"

namespace treadle {
namespace {

constexpr int kCoresForAThread = 8;
/// What a batch must take for a thread to make it: several times what it is to wake one and to fetch from
/// another core's cache what it wrote.
constexpr Nanoseconds kWorthHandingOver{100e3};

int threads_for(const AugmentedBatches& batches, const BatchSampler& sampler, const LoaderOptions& options) {
  if (options.threads) return *options.threads;
  const double batch = batches.example_time().count * double(sampler.batch_size());
  return batch < kWorthHandingOver.count ? 0 : default_loader_threads();
}

}  // namespace

int default_loader_threads() {
  const int cores = thread_limit().threads;
  return cores == 1 || num_threads() == 1 ? 0 : std::max(cores / kCoresForAThread, 1);
}

Loader::Loader(const ImageDataset& dataset, const BatchSampler& sampler, const LoaderOptions& options)
    : batches_(dataset, options.augmentations, options.normalization, options.seed),
      sampler_(sampler),
      state_(sampler.state()),
      threads_(threads_for(batches_, sampler, options)),
      prefetcher_([this] { return plan(); }, [this](const Job& job) { return make(job); }, threads_,
                  options.ahead) {}

Loader::Job Loader::plan() {
  const auto indices = sampler_.next();
  Job job{sampler_.state(), indices};
  if (threads_ > 0) job.kept.assign(indices.begin(), indices.end()), job.indices = job.kept;
  return job;
}

Loader::Made Loader::make(const Job& job) {
  if (threads_ > 0) return {batches_.batch(job.after.epoch, job.indices, false), job.after};
  batches_.replace(last_, job.after.epoch, job.indices);
  return {last_, job.after};
}

AugmentedBatch Loader::next() {
  Made made = prefetcher_.next();
  state_ = made.after;
  return std::move(made.batch);
}

}  // namespace treadle

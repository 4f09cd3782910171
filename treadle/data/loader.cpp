#include "treadle/data/loader.h"

#include <algorithm>

#include "treadle/core/affinity.h"
#include "treadle/core/parallel_for.h"

namespace treadle {
namespace {

constexpr int kCoresForAThread = 8;
/// What one batch must take for a thread to make it: several times what it is to wake one and to fetch from
/// another core's cache what it wrote.
constexpr Nanoseconds kWorthHandingOver{100e3};
/// Smaller batches are handed over in groups of at least so many, so that this is little for each; a group
/// stays in a second-level cache. The step copies its batch from there: a few hundred bytes or values are
/// copied in less than making them takes, an image is not.
constexpr int64_t kLeastGroup = 64, kGroupBytes = 256 << 10, kGroupsAhead = 2;

int64_t group_size(const ImageDataset& dataset, const BatchSampler& sampler, const LoaderOptions& options) {
  const auto targets = options.augmentations.mixes() ? int64_t(dataset.classes.size() * sizeof(float))
                                                     : int64_t(sizeof(int64_t));
  const int64_t example = dataset.image_shape.numel() * int64_t(sizeof(float)) + targets;
  const int64_t group = kGroupBytes / example / sampler.batch_size();
  return group < kLeastGroup ? 1 : group;
}

int threads_for(const AugmentedBatches& batches, const BatchSampler& sampler, int64_t group,
                const LoaderOptions& options) {
  if (options.threads) return *options.threads;
  const double batch = batches.example_time().count * double(sampler.batch_size());
  return group == 1 && batch < kWorthHandingOver.count ? 0 : default_loader_threads();
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
      group_(group_size(dataset, sampler, options)),
      threads_(threads_for(batches_, sampler, group_, options)) {
  require<ValueError>(options.ahead > 0, "a loader needs room for a batch, not {}", options.ahead);
  if (threads_ != 0)
    prefetcher_ = std::make_unique<Prefetcher<std::vector<Plan>, std::vector<Part>>>(
        [this] { return plan_group(); }, [this](const std::vector<Plan>& plans) { return make_group(plans); },
        threads_, group_ == 1 ? options.ahead : kGroupsAhead);
}

/// Where nobody else makes batches there is nothing to lock or to keep.
AugmentedBatch Loader::make() {
  try {
    const auto indices = sampler_.next();
    batches_.replace(last_, sampler_.state().epoch, indices);
  } catch (...) {
    sampler_.restore(state_);
    throw;
  }
  state_ = sampler_.state();
  return last_;
}

std::vector<Loader::Plan> Loader::plan_group() {
  std::vector<Plan> plans;
  for (int64_t i = 0; i < group_; ++i) {
    const auto indices = sampler_.next();
    const BatchSampler::State after = sampler_.state();
    if (plans.empty() || plans.back().epoch != after.epoch)
      plans.push_back({after.epoch, after.position - int64_t(indices.size())});
    plans.back().indices.insert(plans.back().indices.end(), indices.begin(), indices.end());
  }
  return plans;
}

std::vector<Loader::Part> Loader::make_group(const std::vector<Plan>& plans) const {
  std::vector<Part> parts;
  for (const Plan& plan : plans)
    parts.push_back({batches_.batch(plan.epoch, plan.indices, false), plan.epoch, plan.begin,
                     int64_t(plan.indices.size())});
  return parts;
}

AugmentedBatch Loader::take() {
  if (part_ == group_taken_.size()) group_taken_ = prefetcher_->next(), part_ = 0;
  Part& part = group_taken_[part_];
  const int64_t first = row_, count = std::min(sampler_.batch_size(), part.count - first);
  row_ += count;
  state_ = {part.epoch, part.begin + row_};
  if (row_ == part.count) ++part_, row_ = 0;
  if (count == part.count) return std::move(part.rows);
  copy_rows(part.rows, first, count, last_);
  return last_;
}

}  // namespace treadle

#include "cli/bench/ceilings.h"

#include "cli/bench/ceiling_loops.h"

#include <fmt/core.h>
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "cli/bench/timing.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle::cli {
namespace {

constexpr double kTrySeconds = 0.004;  ///< long against a clock read, short against a neighbour's disturbance
constexpr double kLongestTry = 0.2;

std::atomic<uint32_t> sink;  ///< results go here, so that no loop is dropped as useless

double least_seconds_of(int tries, const std::function<void()>& work) {
  return quantile(time_repeatedly(work, 0, tries), 0);
}

/// The best rate of units per second of work(repetitions), which does `units` in each repetition.
double best_rate(double units, const std::function<void(int64_t)>& work) {
  double best = 0;
  for (int64_t repetitions = 1;; repetitions *= 2) {
    const double seconds = least_seconds_of(4, [&] { work(repetitions); });
    const double rate = units * double(repetitions) / seconds;
    // A short run that another process interrupts looks long: only a rate that no longer rises ends the
    // search.
    const bool settled = seconds >= kTrySeconds && rate < 1.05 * best;
    best = std::max(best, rate);
    if (settled || seconds >= kLongestTry) break;
  }
  return best;
}

/// Calls f(thread) on each of so many threads at once.
template <class F>
void on_threads(int threads, F f) {
  if (threads == 1) return f(0);
  parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t thread = begin; thread < end; ++thread) f(thread);
  });
}

double multiply_add_rate(int threads) {
  const auto loops = ceiling_loops();
  return best_rate(double(loops.operations_per_round) * threads, [&](int64_t rounds) {
    on_threads(threads, [&](int64_t) { sink += uint32_t(loops.multiply_add(rounds)); });
  });
}

/// One memory buffer, cut into equal parts for the threads.
class Traffic {
 public:
  Traffic(int threads, int64_t bytes)
      : threads_(threads),
        part_(bytes / threads / int64_t(sizeof(float)) / kBlock * kBlock),
        data_(hwy::AllocateAligned<float>(size_t(part_ * threads))) {
    std::fill_n(data_.get(), part_ * threads, 1.0f);
  }

  MemoryLevel measure(const char* name, int64_t capacity) {
    const auto loops = ceiling_loops();
    const double bytes = double(part_ * threads_) * sizeof(float);
    auto each = [&](auto work) {
      return best_rate(bytes, [&](int64_t repetitions) {
        on_threads(threads_, [&](int64_t thread) {
          for (int64_t i = 0; i < repetitions; ++i) work(data_.get() + thread * part_);
        });
      });
    };
    return {name, capacity, each([&](float* part) { sink += loops.read(part, part_); }),
            each([&](float* part) { loops.write(part, part_, 1.0f); })};
  }

 private:
  static constexpr int64_t kBlock = 256;  ///< floats that every loop's step divides
  int threads_;
  int64_t part_;
  hwy::AlignedFreeUniquePtr<float[]> data_;
};

/// Size of the data cache of a level as Linux describes the first core; `otherwise` where it does not.
int64_t cache_bytes(int level, int64_t otherwise) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    std::ifstream level_file(folder + "level"), type_file(folder + "type"), size_file(folder + "size");
    int found = 0;
    std::string type;
    int64_t kibibytes = 0;
    if (level_file >> found && type_file >> type && size_file >> kibibytes && found == level &&
        type != "Instruction")
      return kibibytes << 10;
  }
  return otherwise;
}

/// A part of each cache is touched, so that other data do not push it out; of memory, more than the last
/// cache.
std::vector<MemoryLevel> memory_levels(int threads) {
  const int64_t l1 = threads * cache_bytes(1, 32 << 10);
  const int64_t l2_of_one = cache_bytes(2, 512 << 10), l2 = threads * l2_of_one;
  const int64_t l3 = cache_bytes(3, 0);
  std::vector<MemoryLevel> levels{Traffic(threads, l1 / 2).measure("L1", l1),
                                  Traffic(threads, l2 / 2).measure("L2", l2)};
  if (l3 > 4 * num_threads() * l2_of_one) levels.push_back(Traffic(threads, l3 / 4).measure("L3", l3));
  levels.push_back(Traffic(threads, std::clamp<int64_t>(4 * l3, 64 << 20, 256 << 20)).measure("memory", 0));
  return levels;
}

ThreadCeilings measure(int threads) { return {threads, multiply_add_rate(threads), memory_levels(threads)}; }

}  // namespace

Ceilings measure_ceilings() {
  NoGrad no_grad;
  Ceilings ceilings;
  ceilings.vectors = ceiling_loops().vectors;
  ceilings.one = measure(1);
  ceilings.all = measure(num_threads());
  ceilings.region_seconds = quantile(
      time_repeatedly([] { parallel_for(num_threads(), 1, [](int64_t, int64_t) {}); }, 0.02, 1000), 0.1);
  const Tensor x = Tensor::zeros({1});
  ceilings.op_call_seconds = quantile(time_repeatedly([&] { relu(x); }, 0.02, 1000), 0.1);
  return ceilings;
}

const MemoryLevel& level_for(const ThreadCeilings& ceilings, double bytes) {
  for (const MemoryLevel& level : ceilings.levels)
    if (level.capacity == 0 || bytes <= double(level.capacity)) return level;
  return ceilings.levels.back();
}

}  // namespace treadle::cli

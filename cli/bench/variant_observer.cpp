#include "cli/bench/variant_observer.h"

#include <array>
#include <atomic>
#include <chrono>
#include <utility>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/graph/registry.h"

namespace treadle::cli {
namespace {

using Run = void (*)(const Call&);

/// A variant whose function was exchanged for one of the watching ones below.
struct Watched {
  const Op* op;
  Variant* variant;
  Run run;
};

constexpr size_t kMost = 1024;
std::vector<Watched> watched;
VariantObserver current;
std::atomic<bool> running =
    false;  ///< a variant may call others, on any thread: only the outermost is told of

void run_watched(size_t index, const Call& call) {
  const Watched& entry = watched[index];
  if (running.exchange(true)) return entry.run(call);
  const auto start = std::chrono::steady_clock::now();
  try {
    entry.run(call);
  } catch (...) {
    running = false;
    throw;
  }
  running = false;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  current(*entry.op, *entry.variant, call, seconds.count());
}

/// A variant's function is a plain pointer and cannot know which variant it belongs to: hence one for each.
template <size_t... Index>
constexpr std::array<Run, sizeof...(Index)> watching_functions(std::index_sequence<Index...>) {
  return {[](const Call& call) { run_watched(Index, call); }...};
}
constexpr auto kWatching = watching_functions(std::make_index_sequence<kMost>());

}  // namespace

ObserveVariants::ObserveVariants(VariantObserver observer) {
  require<ValueError>(watched.empty(), "variants are being watched already");
  current = std::move(observer);
  for (const Op* op : registry().ops())
    for (const Variant& variant : op->variants) {
      if (variant.device != DeviceKind::cpu) continue;
      require<ValueError>(watched.size() < kMost, "there are more than {} variants to watch", kMost);
      auto& changed = const_cast<Variant&>(variant);  // the registry made it, not const
      watched.push_back({op, &changed, std::exchange(changed.run, kWatching[watched.size()])});
    }
}

ObserveVariants::~ObserveVariants() {
  for (const Watched& entry : watched) entry.variant->run = entry.run;
  watched.clear();
}

}  // namespace treadle::cli

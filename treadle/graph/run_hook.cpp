#include "treadle/graph/run_hook.h"

#include <chrono>
#include <utility>

#include "treadle/core/runtime.h"

namespace treadle {
namespace {

thread_local RunHook* current = nullptr;

/// No hook while one lives.
class Unhooked {
 public:
  Unhooked() : before_(std::exchange(current, nullptr)) {}
  ~Unhooked() { current = before_; }
  Unhooked(const Unhooked&) = delete;
  Unhooked& operator=(const Unhooked&) = delete;

 private:
  RunHook* before_;
};

}  // namespace

RunHook* run_hook() { return current; }

HookRuns::HookRuns(RunHook& hook) : before_(std::exchange(current, &hook)) {}

HookRuns::~HookRuns() { current = before_; }

void ObserveRuns::around(const VariantRun& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  runtime(run.device).synchronize();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  observer_(run, seconds.count());
}

namespace detail {

/// Threads that a variant works with have hooks of their own, or none: they tell nothing.
void run_in(RunHook& hook, const VariantRun& run) {
  Unhooked unhooked;
  hook.around(run);
}

}  // namespace detail
}  // namespace treadle

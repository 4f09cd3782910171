/// RunHook: something around each run of a variant, such as a profiler or a checker.
#pragma once

#include <functional>
#include <utility>

#include "treadle/core/export.h"
#include "treadle/graph/op.h"

namespace treadle {

/// One run of a variant: which, on what, and where.
struct VariantRun {
  const Op& op;
  const Variant& variant;
  const Call& call;
  Device device;

  void operator()() const { variant.run(call); }
};

class TREADLE_API RunHook {
 public:
  /// Calls `run()` once, in this thread, between whatever it does before and after. Work on a device may not
  /// be done yet when `run()` returns. What this throws, whoever called the op or the program gets.
  virtual void around(const VariantRun& run) = 0;

 protected:
  ~RunHook() = default;
};

/// While one lives, `hook` is around each variant that its thread runs, in eager calls and in replays, which
/// run step by step then and not as captured graphs; of several the newest. A variant that another one calls
/// belongs to that run, and so does what the hook itself runs. Measurements of variants are not told of.
class TREADLE_API HookRuns {
 public:
  explicit HookRuns(RunHook& hook);
  ~HookRuns();
  HookRuns(const HookRuns&) = delete;
  HookRuns& operator=(const HookRuns&) = delete;

 private:
  RunHook* before_;
};

/// Told after each such run, when the device has done it: its seconds.
using RunObserver = std::function<void(const VariantRun& run, double seconds)>;

/// While one lives, `observer` is told of each run.
class TREADLE_API ObserveRuns final : RunHook {
 public:
  explicit ObserveRuns(RunObserver observer) : observer_(std::move(observer)), hooked_(*this) {}

 private:
  void around(const VariantRun& run) override;

  RunObserver observer_;
  HookRuns hooked_;
};

/// The hook of this thread; null when there is none, and while it is around a run.
RunHook* run_hook();

namespace detail {
void run_in(RunHook& hook, const VariantRun& run);
}  // namespace detail

/// Runs a variant, inside the thread's hook where there is one.
inline void run_variant(const VariantRun& run) {
  if (RunHook* hook = run_hook(); hook) [[unlikely]]
    return detail::run_in(*hook, run);
  run();
}

}  // namespace treadle

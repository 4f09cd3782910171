#include <fmt/core.h>

#include <optional>

#include "cli/profile_table.h"
#include "cli/standard_output.h"
#include "cli/train_callbacks.h"
#include "treadle/formats/file.h"
#include "treadle/train/callbacks/profiler.h"

namespace treadle::cli {
namespace {

/// What the columns mean, for whoever has not seen such a table.
constexpr const char* kLegend =
    "Of one step, in the mean: how often each op ran, its milliseconds and their share, its floating-point\n"
    "operations and the bytes of its operands in millions, and both by the second. Outside of ops lie "
    "waiting\n"
    "for the batch, the host's own work and, with --eager, autograd.\n";
constexpr const char* kOfTheLimit =
    "The limit is the least time for so many operations or bytes, whichever takes longer, at the rates "
    "measured\n"
    "just now (`treadle bench roofline --ceilings` shows them). An op that skips zeros may be faster than "
    "that.\n";

/// Leaves the trace in the run folder, and prints where the time of steps goes unless the run is interrupted.
class Profile final : public Callback {
 public:
  explicit Profile(const TrainContext& run)
      : profiler_({.steps = run.options.profile_steps}),
        trace_(run.folder.path() / "trace.json"),
        device_(run.device),
        quiet_(run.options.quiet) {}

  void begin_epoch(int64_t epoch) override { profiler_.begin_epoch(epoch); }
  void end_step(const StepReport& report) override { profiler_.end_step(report); }

  /// A folder without a state of this run may have one of another, whose trace stays.
  void end_fit(const FitResult& result) override {
    profiler_.end_fit(result);
    if (result.saved) replace_text(trace_, trace_of(profiler_.steps(), profiler_.runs()));
    if (quiet_ || result.interrupted) return;
    if (profiler_.steps().empty())
      fmt::print("no step was profiled: the first {} of a run, which record and measure, are passed over\n",
                 ProfilerOptions{}.skip);
    else
      print(result.saved);
  }

 private:
  void print(bool is_saved) const {
    std::optional<Ceilings> ceilings;
    if (device_ == kCpu) ceilings = measure_ceilings();
    fmt::print("\nprofile of {} steps on {}\n\n{}\n", profiler_.steps().size(), to_string(device_),
               profile_table(profiler_.steps(), profiler_.runs(), ceilings ? &ceilings->all : nullptr));
    fmt::print("{}{}", kLegend, ceilings ? kOfTheLimit : "");
    if (is_saved)
      fmt::print("Every run by its time is in {}, for ui.perfetto.dev or chrome://tracing\n",
                 trace_.string());
  }

  Profiler profiler_;
  std::filesystem::path trace_;
  Device device_;
  bool quiet_;
};

}  // namespace

void register_callbacks_profile(TrainCallbacks& callbacks) {
  callbacks.add([](const TrainContext& run) -> std::unique_ptr<Callback> {
    return run.options.profile ? std::make_unique<Profile>(run) : nullptr;
  });
}

}  // namespace treadle::cli

/// Profiler: where the time of training steps goes, op by op, as rows and as a trace to look at.
#pragma once  // public

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "treadle/train/callback.h"

namespace treadle {

/// One run of a variant within a step; those that it calls itself are part of it.
struct ProfiledRun {
  std::string op, variant;
  std::string operands;  ///< shapes of the inputs, as "[16, 128] [128, 64]"
  int64_t step = 0;      ///< of the profile, from 0
  double begin = 0;      ///< seconds since the profile began
  double seconds = 0;
  double bytes = 0;       ///< every operand once
  double operations = 0;  ///< floating-point operations as the op declares them; 0: it declares none
};

/// A step: from where its batch was taken to its loss.
struct ProfiledStep {
  int64_t number = 0;  ///< within its epoch, from 1
  int64_t epoch = 0;   ///< from 1
  double begin = 0, seconds = 0;
  double loss = 0;
};

struct ProfilerOptions {
  int64_t skip = 2;    ///< steps of this call that are passed over: the first records and measures variants
  int64_t steps = 20;  ///< that are profiled then; they bound the trace
};

/// Follows steps of training, and nothing else: not evaluations. Times are those of the host around each run,
/// which on another device than cpu waits for it to be done, so that a run takes longer than in a step whose
/// kernels queue up. While a step is profiled a program runs step by step, not as a captured graph. Outside
/// of these steps it costs nothing.
class TREADLE_API Profiler final : public Callback {
 public:
  /// Throws ValueError for a number below 0, and for no steps.
  explicit Profiler(const ProfilerOptions& options = {});
  ~Profiler() override;

  void begin_epoch(int64_t epoch) override;
  void end_step(const StepReport& report) override;
  void end_fit(const FitResult&) override { stop_watching(); }

  const std::vector<ProfiledStep>& steps() const { return steps_; }
  /// In their order, those of the steps alone.
  const std::vector<ProfiledRun>& runs() const { return runs_; }

 private:
  struct Watch;
  bool wants_step() const;
  void watch();
  void stop_watching();
  double now() const;

  ProfilerOptions options_;
  int64_t passed_ = 0;
  std::chrono::steady_clock::time_point start_{};
  std::vector<ProfiledStep> steps_;
  std::vector<ProfiledRun> runs_;
  std::vector<ProfiledRun> pending_;  ///< of what may be a step
  std::unique_ptr<Watch> watch_;
};

/// The trace as JSON that chrome://tracing and ui.perfetto.dev show: complete events ("ph": "X"), in
/// microseconds, a step around its runs. Google, Trace Event Format, 2016.
TREADLE_API std::string trace_of(const std::vector<ProfiledStep>& steps,
                                 const std::vector<ProfiledRun>& runs);

}  // namespace treadle

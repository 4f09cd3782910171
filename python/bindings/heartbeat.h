/// What fit() tells Python as it goes, without calling it after each step.
#pragma once

#include <chrono>

#include "python/bindings/held_object.h"
#include "python/bindings/interruption.h"
#include "treadle/train/callback.h"

namespace treadle::python {

/// Ten times a second, after a step: has Python handle signals, and calls tick(report, smooth loss, seconds
/// and steps of this epoch so far), unless that is None.
class Heartbeat final : public Callback {
 public:
  Heartbeat(Interruption& interruption, nb::object tick)
      : interruption_(interruption), wanted_(!tick.is_none()), tick_(std::move(tick)) {}
  void begin_epoch(int64_t) override { steps_ = 0, seconds_ = 0; }
  void end_step(const StepReport& report) override;

 private:
  Interruption& interruption_;
  bool wanted_;
  HeldObject tick_;
  int64_t steps_ = 0;
  double seconds_ = 0, smooth_loss_ = 0;
  std::chrono::steady_clock::time_point last_{};
};

/// A callback of Python's: a ^C that falls into it ends the run as one between steps does, with its state.
class GuardedCallback final : public Callback {
 public:
  GuardedCallback(Callback& inner, Interruption& interruption) : inner_(inner), interruption_(interruption) {}
  void begin_fit(const FitStart& start) override;
  void begin_epoch(int64_t epoch) override;
  void end_step(const StepReport& report) override;
  void end_epoch(const EpochReport& report) override;
  void end_fit(const FitResult& result) override;
  bool wants_end() const override;

 private:
  template <class Call>
  void guard(Call call) const;

  Callback& inner_;
  Interruption& interruption_;
};

}  // namespace treadle::python

#include "python/bindings/heartbeat.h"

namespace treadle::python {
namespace {

constexpr auto kBeat = std::chrono::milliseconds(100);
constexpr double kNewShare = 0.02;  ///< of a step in the smooth loss: about the last fifty count

}  // namespace

void Heartbeat::end_step(const StepReport& report) {
  smooth_loss_ = steps_ == 0 ? report.loss : smooth_loss_ + kNewShare * (report.loss - smooth_loss_);
  ++steps_, seconds_ += report.seconds;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kBeat) return;
  last_ = now;
  interruption_.check_signals();
  if (!wanted_) return;
  nb::gil_scoped_acquire acquired;
  tick_.get()(report, smooth_loss_, seconds_, steps_);
}

template <class Call>
void GuardedCallback::guard(Call call) const {
  try {
    call();
  } catch (nb::python_error& error) {
    nb::gil_scoped_acquire acquired;
    if (!error.matches(PyExc_KeyboardInterrupt)) throw;
    interruption_.stop_with(std::current_exception());
  }
}

void GuardedCallback::begin_fit(const FitStart& start) {
  guard([&] { inner_.begin_fit(start); });
}
void GuardedCallback::begin_epoch(int64_t epoch) {
  guard([&] { inner_.begin_epoch(epoch); });
}
void GuardedCallback::end_step(const StepReport& report) {
  guard([&] { inner_.end_step(report); });
}
void GuardedCallback::end_epoch(const EpochReport& report) {
  guard([&] { inner_.end_epoch(report); });
}
void GuardedCallback::end_fit(const FitResult& result) {
  guard([&] { inner_.end_fit(result); });
}
bool GuardedCallback::wants_end() const {
  bool wants = false;
  guard([&] { wants = inner_.wants_end(); });
  return wants;
}

}  // namespace treadle::python

#include "treadle/train/callbacks/profiler.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/op.h"
#include "treadle/graph/run_hook.h"

namespace treadle {
namespace {

std::string operands_of(const Call& call) {
  std::string text;
  for (const TensorView& view : call.inputs)
    if (view.data) text += fmt::format("{}{}", text.empty() ? "" : " ", view.shape);
  return text;
}

nlohmann::json event(const std::string& name, const char* category, double begin, double seconds) {
  return {{"name", name}, {"cat", category},   {"ph", "X"},           {"pid", 1},
          {"tid", 1},     {"ts", 1e6 * begin}, {"dur", 1e6 * seconds}};
}

nlohmann::json event_of(const ProfiledStep& step) {
  auto json =
      event(fmt::format("step {} of epoch {}", step.number, step.epoch), "step", step.begin, step.seconds);
  json["args"] = {{"loss", step.loss}};
  return json;
}

nlohmann::json event_of(const ProfiledRun& run) {
  auto json = event(run.op, "op", run.begin, run.seconds);
  json["args"] = {{"variant", run.variant},
                  {"operands", run.operands},
                  {"MFLOP", run.operations / 1e6},
                  {"kB", run.bytes / 1e3}};
  return json;
}

}  // namespace

struct Profiler::Watch {
  explicit Watch(RunObserver observer) : observe(std::move(observer)) {}
  ObserveRuns observe;
};

Profiler::Profiler(const ProfilerOptions& options) : options_(options) {
  require<ValueError>(options.skip >= 0 && options.steps > 0, "{} steps cannot be profiled behind {}",
                      options.steps, options.skip);
}

Profiler::~Profiler() = default;

double Profiler::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Profiler::wants_step() const {
  return passed_ >= options_.skip && int64_t(steps_.size()) < options_.steps;
}

void Profiler::watch() {
  if (steps_.empty()) start_ = std::chrono::steady_clock::now();
  pending_.clear();
  watch_ = std::make_unique<Watch>([this](const VariantRun& run, double seconds) {
    const double operations = run.op.operations ? run.op.operations(run.call) : 0;
    pending_.push_back({run.op.name, run.variant.name, operands_of(run.call), int64_t(steps_.size()),
                        std::max(now() - seconds, 0.0), seconds, bytes_of(run.call), operations});
  });
}

void Profiler::stop_watching() {
  watch_.reset();
  pending_.clear();
}

void Profiler::begin_epoch(int64_t) {
  stop_watching();
  if (wants_step()) watch();
}

/// What ran since the step before belongs to this one; what runs behind the last of an epoch does not.
void Profiler::end_step(const StepReport& report) {
  const double end = now();
  ++passed_;
  if (watch_) {
    double begin =
        std::max(end - report.seconds, steps_.empty() ? 0.0 : steps_.back().begin + steps_.back().seconds);
    if (!pending_.empty()) begin = std::min(begin, pending_.front().begin);
    steps_.push_back({report.step_in_epoch, report.epoch + 1, begin, end - begin, report.loss});
    std::move(pending_.begin(), pending_.end(), std::back_inserter(runs_));
  }
  const bool goes_on = wants_step() && report.step_in_epoch < report.steps_in_epoch;
  if (!goes_on)
    stop_watching();
  else if (watch_)
    pending_.clear();
  else
    watch();
}

std::string trace_of(const std::vector<ProfiledStep>& steps, const std::vector<ProfiledRun>& runs) {
  nlohmann::json events = nlohmann::json::array();
  for (const ProfiledStep& step : steps) events.push_back(event_of(step));
  for (const ProfiledRun& run : runs) events.push_back(event_of(run));
  const nlohmann::json trace = {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
  return trace.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace treadle

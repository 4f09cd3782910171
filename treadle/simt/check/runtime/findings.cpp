#include "treadle/simt/check/runtime/findings.h"

#include <chrono>
#include <map>
#include <mutex>
#include <tuple>

namespace treadle::checker {
namespace {

using Key = std::tuple<std::string, uint64_t, uint64_t>;

Launch& the_launch() {
  static auto* launch = new Launch;
  return *launch;
}

}  // namespace

struct Findings::State {
  std::mutex mutex;
  std::map<Key, uint64_t> counts;
  std::vector<std::pair<Key, simt::Report>> reports;
  simt::RunReport run;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

Findings::Findings() : state_(*new State) {}

Findings& Findings::all() {
  static auto* findings = new Findings;
  return *findings;
}

bool Findings::is_new(const char* kind, uint64_t place, uint64_t other) {
  const std::lock_guard lock(state_.mutex);
  return ++state_.counts[{kind, place, other}] == 1;
}

void Findings::add(simt::Report report, uint64_t place, uint64_t other) {
  report.launch = the_launch().number;
  if (report.kernel.empty()) report.kernel = the_launch().kernel;
  const std::lock_guard lock(state_.mutex);
  Key key{report.kind, place, other};
  state_.reports.emplace_back(std::move(key), std::move(report));
}

void Findings::begin_launch(Launch launch, const std::string& schedule, uint64_t seed) {
  const std::lock_guard lock(state_.mutex);
  launch.number = ++state_.run.launches;
  state_.run.schedule = schedule;
  state_.run.seed = seed;
  the_launch() = std::move(launch);
}

simt::RunReport Findings::take() {
  const std::lock_guard lock(state_.mutex);
  simt::RunReport result = state_.run;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - state_.start;
  result.seconds = seconds.count();
  for (auto& [key, report] : state_.reports) {
    report.count = state_.counts[key];
    result.reports.push_back(std::move(report));
  }
  state_.reports.clear();
  state_.counts.clear();
  return result;
}

const Launch& current_launch() { return the_launch(); }

}  // namespace treadle::checker

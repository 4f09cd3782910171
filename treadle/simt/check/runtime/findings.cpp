#include "treadle/simt/check/runtime/findings.h"

#include <chrono>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

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
  std::set<std::string> kernels;
  bool news = false, failed = false;
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
  const std::lock_guard lock(state_.mutex);
  Key key{report.kind, place, other};
  state_.news = true;
  state_.reports.emplace_back(std::move(key), std::move(report));
}

void Findings::forget(const char* kind, uint64_t place, uint64_t other) {
  const std::lock_guard lock(state_.mutex);
  state_.counts.erase({kind, place, other});
}

void Findings::begin_launch(Launch launch, const std::string& schedule, uint64_t seed) {
  const std::lock_guard lock(state_.mutex);
  launch.number = ++state_.run.launches;
  state_.run.schedule = schedule;
  state_.run.seed = seed;
  state_.kernels.insert(launch.kernel);
  the_launch() = std::move(launch);
}

std::set<std::string> Findings::take_kernels() {
  const std::lock_guard lock(state_.mutex);
  return std::exchange(state_.kernels, {});
}

void Findings::note_failure() {
  const std::lock_guard lock(state_.mutex);
  state_.failed = true;
}

bool Findings::failed() {
  const std::lock_guard lock(state_.mutex);
  return state_.failed;
}

bool Findings::has_news() {
  const std::lock_guard lock(state_.mutex);
  return state_.news;
}

simt::RunReport Findings::so_far() {
  const std::lock_guard lock(state_.mutex);
  simt::RunReport result = state_.run;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - state_.start;
  result.seconds = seconds.count();
  for (const auto& [key, report] : state_.reports) {
    result.reports.push_back(report);
    result.reports.back().count = state_.counts[key];
  }
  state_.news = false;
  return result;
}

simt::RunReport Findings::take() {
  simt::RunReport result = so_far();
  const std::lock_guard lock(state_.mutex);
  state_.reports.clear();
  state_.counts.clear();
  return result;
}

const Launch& current_launch() { return the_launch(); }

}  // namespace treadle::checker

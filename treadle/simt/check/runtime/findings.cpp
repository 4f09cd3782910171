#include "treadle/simt/check/runtime/findings.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace treadle::checker {
namespace {

using Key = std::tuple<std::string, uint64_t, uint64_t>;

struct Seen {
  uint64_t count = 0;
  uint64_t launch = 0, block = 0;  ///< of the report that is kept, or will be
};

/// In the order of their numbers.
bool is_before(const simt::Coordinates& a, const simt::Coordinates& b) {
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

Launch& the_launch() {
  static auto* launch = new Launch;
  return *launch;
}

}  // namespace

struct Findings::State {
  std::mutex mutex;
  std::map<Key, Seen> seen;
  std::vector<std::pair<Key, simt::Report>> reports;

  simt::Report* find(const Key& key) {
    for (auto& [of, report] : reports)
      if (of == key) return &report;
    return nullptr;
  }
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

bool Findings::is_new(const char* kind, uint64_t place, uint64_t other, uint64_t block) {
  const std::lock_guard lock(state_.mutex);
  Seen& seen = state_.seen[{kind, place, other}];
  const uint64_t launch = the_launch().number;
  if (++seen.count > 1 && (seen.launch != launch || seen.block <= block)) return false;
  seen.launch = launch;
  seen.block = block;
  return true;
}

void Findings::add(simt::Report report, uint64_t place, uint64_t other) {
  report.launch = the_launch().number;
  const std::lock_guard lock(state_.mutex);
  Key key{report.kind, place, other};
  state_.news = true;
  simt::Report* known = state_.find(key);
  if (known == nullptr)
    state_.reports.emplace_back(std::move(key), std::move(report));
  else if (known->launch == report.launch && is_before(report.block, known->block))
    *known = std::move(report);
}

void Findings::forget(const char* kind, uint64_t place, uint64_t other) {
  const std::lock_guard lock(state_.mutex);
  const auto found = state_.seen.find({kind, place, other});
  if (found == state_.seen.end()) return;
  if (state_.find(found->first) == nullptr)
    state_.seen.erase(found);
  else
    --found->second.count;
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
    result.reports.back().count = state_.seen[key].count;
  }
  state_.news = false;
  return result;
}

simt::RunReport Findings::take() {
  simt::RunReport result = so_far();
  const std::lock_guard lock(state_.mutex);
  state_.reports.clear();
  state_.seen.clear();
  return result;
}

const Launch& current_launch() { return the_launch(); }

}  // namespace treadle::checker

#include "treadle/compile/variant_choice.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "treadle/compile/drawn_operands.h"
#include "treadle/compile/measuring.h"
#include "treadle/core/error.h"
#include "treadle/core/log.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/runtime.h"
#include "treadle/core/timing.h"
#include "treadle/core/version.h"
#include "treadle/formats/file.h"
#include "treadle/graph/select.h"

namespace treadle {
namespace {

double now() {
  const MeasuringObserver* observer = measuring_observer();
  if (observer && observer->clock) return observer->clock();
  return steady_seconds();
}

/// A preference from which on a variant stands for more than the general form, which has 0.
constexpr int kFastPreference = 10;

/// What the settings allow, most preferred first. The general form of an op takes every call and is slow (the
/// first run may last a second): it is left out where a fast variant applies. Rungs of a ladder below the
/// general form are there to be compared with, not to be chosen.
std::vector<const Variant*> allowed_variants(const Op& op, const Call& call, Device device) {
  auto list = applicable_variants(op, call, device.kind);
  std::erase_if(list, [](const Variant* variant) {
    return !is_allowed(*variant, settings()) || (variant->rung > 0 && variant->preference < 0);
  });
  if (!list.empty() && list[0]->preference >= kFastPreference)
    std::erase_if(list, [](const Variant* variant) { return variant->preference <= 0; });
  return list;
}

constexpr int kFewestRounds = 4, kFewestLongRounds = 2, kMostRunsInARound = 8;
constexpr double kSecondsInARound = 0.001;  ///< of each variant
constexpr double kShortest = 0.01;          ///< of all rounds: a disturbance of some milliseconds is shorter
constexpr double kMostSecondsPerVariant = 0.2;  ///< of all rounds
/// A run so long finds its data where it finds it: it needs none before it, and is alone in its round.
constexpr double kLongRun = 0.005;
constexpr double kSettled = 1.1;  ///< between the best of a variant's rounds and the second
/// So many times the best, and settled: it is left out, of less only when a disturbance would be over. One
/// run decides nothing, however long it was: the process may have been stopped.
constexpr double kHopeless = 4, kFarSlower = 2;

double seconds_of(const Variant& variant, Device device, const VariantRunner& runner) {
  if (runner.prepare) runner.prepare();
  const double start = now();
  runner.run(variant);
  runtime(device).synchronize();
  return now() - start;
}

/// A variant's part in the measurement.
struct Trial {
  const Variant* variant;
  double best = INFINITY, second = INFINITY;  ///< of its rounds
  int rounds = 0;
  bool ended = false;

  void add_round(double seconds) {
    second = std::min(second, std::max(best, seconds));
    best = std::min(best, seconds);
    ++rounds;
  }
  bool settled() const { return second <= kSettled * best; }
};

/// The fastest run of a round; the first one finds other variants' data in the caches, and may load a
/// library.
double time_of_round(const Trial& trial, Device device, const VariantRunner& run) {
  const double first = seconds_of(*trial.variant, device, run);
  if (first >= kLongRun && trial.rounds > 0) return first;
  double shortest = INFINITY, total = 0;
  for (int i = 0; i < kMostRunsInARound && total < kSecondsInARound; ++i) {
    const double seconds = seconds_of(*trial.variant, device, run);
    shortest = std::min(shortest, seconds), total += seconds;
  }
  return shortest;
}

double best_of(const std::vector<Trial>& trials) {
  double best = INFINITY;
  for (const Trial& trial : trials) best = std::min(best, trial.best);
  return best;
}

bool may_go_on(const Op& op) {
  const MeasuringObserver* observer = measuring_observer();
  return !observer || !observer->go_on || observer->go_on(op.name);
}

void tell_end() {
  const MeasuringObserver* observer = measuring_observer();
  if (observer && observer->ended) observer->ended();
}

/// One round of all whose part has not ended; false when it was given up.
bool run_round(const Op& op, std::vector<Trial>& trials, Device device, const VariantRunner& run,
               double start) {
  for (Trial& trial : trials) {
    if (!may_go_on(op)) return false;
    if (!trial.ended) trial.add_round(time_of_round(trial, device, run));
  }
  const double most = best_of(trials) * (now() - start > kShortest ? kFarSlower : kHopeless);
  for (Trial& trial : trials) trial.ended = trial.ended || (trial.best > most && trial.settled());
  return true;
}

bool are_settled(const std::vector<Trial>& trials) {
  return std::all_of(trials.begin(), trials.end(), [](const Trial& trial) { return trial.settled(); });
}

/// Empty when the measurement was given up.
VariantTimes measure(const Op& op, const std::vector<const Variant*>& variants, Device device,
                     const VariantRunner& run) {
  std::vector<Trial> trials;
  for (const Variant* variant : variants) trials.push_back({variant});
  const double start = now(), longest = kMostSecondsPerVariant * double(variants.size());
  for (int round = 1;; ++round) {
    if (!run_round(op, trials, device, run, start)) return {};
    const double elapsed = now() - start;
    if (round >= kFewestLongRounds && elapsed > longest) break;
    if (round >= kFewestRounds && elapsed > kShortest && are_settled(trials)) break;
  }
  VariantTimes times;
  for (const Trial& trial : trials) times[trial.variant->name] = trial.best;
  return times;
}

std::string describe(const TensorView& view) {
  return view.defined() ? fmt::format("{} {} {}", name_of(view.dtype), view.shape, view.strides) : "none";
}

/// The file's content in memory; guarded by its mutex.
struct Store {
  std::mutex mutex;
  std::filesystem::path path;
  std::map<std::string, VariantTimes> entries;
};

Store& the_store() {
  static auto& instance = *new Store;
  return instance;
}

void warn(const std::filesystem::path& path, const std::exception& error) {
  log_once(LogLevel::warning,
           fmt::format("measured variants are not kept in {}: {}", path.string(), error.what()));
}

std::map<std::string, VariantTimes> read_entries(const std::filesystem::path& path) {
  try {
    if (!std::filesystem::exists(path)) return {};
    auto bytes = read_file(path);
    auto text = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return nlohmann::json::parse(text).get<std::map<std::string, VariantTimes>>();
  } catch (const nlohmann::json::exception&) {
    log_once(LogLevel::warning, fmt::format("{} is damaged; it is written anew", path.string()));
  } catch (const std::exception& error) {
    warn(path, error);
  }
  return {};
}

/// The folder that a variable of the environment names; empty when it is unset or empty.
std::filesystem::path folder_in(const char* variable) {
  const char* folder = std::getenv(variable);
  return folder ? folder : "";
}

/// Reads the file when it was not read yet, or another one is asked for.
void load(Store& current) {
  auto path = VariantCache::path();
  if (current.path == path) return;
  current.path = path;
  current.entries = read_entries(path);
}

/// What other processes have measured meanwhile stays in the file.
void save(Store& current) {
  try {
    std::filesystem::create_directories(current.path.parent_path());
    current.entries.merge(read_entries(current.path));
    auto text = nlohmann::json(current.entries).dump(1);
    write_file_atomically(current.path, [&](FileWriter& writer) { writer.write(text + "\n"); });
  } catch (const std::exception& error) {
    warn(current.path, error);
  }
}

}  // namespace

std::filesystem::path VariantCache::path() {
  if (auto folder = folder_in("TREADLE_CACHE"); !folder.empty()) return folder / "variants.json";
  if (auto folder = folder_in("XDG_CACHE_HOME"); !folder.empty()) return folder / "treadle" / "variants.json";
  const auto home = folder_in("HOME");
  return (home.empty() ? "/tmp" : home) / ".cache" / "treadle" / "variants.json";
}

VariantTimes VariantCache::find(const std::string& key) {
  std::lock_guard lock(the_store().mutex);
  load(the_store());
  auto found = the_store().entries.find(key);
  return found == the_store().entries.end() ? VariantTimes{} : found->second;
}

void VariantCache::store(const std::string& key, const VariantTimes& times) {
  Store& current = the_store();
  std::lock_guard lock(current.mutex);
  load(current);
  for (auto& [name, seconds] : times) current.entries[key][name] = seconds;
  save(current);
}

std::map<std::string, VariantTimes> VariantCache::entries() {
  std::lock_guard lock(the_store().mutex);
  load(the_store());
  return the_store().entries;
}

void VariantCache::clear() {
  std::lock_guard lock(the_store().mutex);
  the_store().entries.clear();
  the_store().path.clear();
  std::error_code ignored;
  std::filesystem::remove(path(), ignored);
}

std::string variant_key(const Op& op, const Call& call, Device device) {
  std::string key = fmt::format("{}, {} threads, {} | {}", runtime(device).description(), num_threads(),
                                version(), op.name);
  for (const TensorView& view : call.inputs) key += " | " + describe(view);
  for (const TensorView& view : call.outputs) key += " | → " + describe(view);
  if (op.options && call.attributes) key += " | " + op.options->describe(call.attributes);
  return key;
}

bool needs_choice(const Op& op, const Call& call, Device device) {
  const Settings& current = settings();
  if (current.deterministic || current.variants.count(op.name)) return false;
  return allowed_variants(op, call, device).size() > 1;
}

VariantTimes measured_times(const Op& op, const Call& call, Device device, const VariantRunner& runner) {
  auto variants = allowed_variants(op, call, device);
  auto key = variant_key(op, call, device);
  if (const std::string zeros = device == kCpu ? describe_zeros(op, call) : ""; !zeros.empty())
    key += " | " + zeros;
  auto times = VariantCache::find(key);
  auto known = [&](const Variant* variant) { return times.count(variant->name) > 0; };
  if (std::all_of(variants.begin(), variants.end(), known)) return times;
  times = measure(op, variants, device, runner);
  tell_end();
  if (!times.empty()) VariantCache::store(key, times);
  return times;
}

const Variant& fastest_variant(const Op& op, const Call& call, Device device, const VariantTimes& times) {
  auto variants = allowed_variants(op, call, device);
  auto time = [&](const Variant* variant) { return times.at(variant->name); };
  return **std::min_element(variants.begin(), variants.end(),
                            [&](const Variant* a, const Variant* b) { return time(a) < time(b); });
}

}  // namespace treadle

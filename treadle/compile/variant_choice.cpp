#include "treadle/compile/variant_choice.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "treadle/core/error.h"
#include "treadle/core/log.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/runtime.h"
#include "treadle/core/version.h"
#include "treadle/formats/file.h"
#include "treadle/graph/select.h"

namespace treadle {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A preference from which on a variant stands for more than the general form, which has 0.
constexpr int kFastPreference = 10;

/// What the settings allow, most preferred first. The general form of an op takes every call and is slow (the
/// first run may last a second): it is left out where a fast variant applies.
std::vector<const Variant*> allowed_variants(const Op& op, const Call& call, Device device) {
  auto list = applicable_variants(op, call, device.kind);
  std::erase_if(list, [](const Variant* variant) { return !is_allowed(*variant, settings()); });
  if (!list.empty() && list[0]->preference >= kFastPreference)
    std::erase_if(list, [](const Variant* variant) { return variant->preference <= 0; });
  return list;
}

constexpr int kFewestRuns = 3, kMostRuns = 30;
constexpr double kSecondsPerVariant = 0.02;
/// A run so many times the best so far ends a variant's trial. The first run may load a library or fill
/// caches: it ends the trial only where waiting for a second one would be long.
constexpr double kHopeless = 4, kHopelessFirst = 20, kLongFirst = 0.1;

/// The best of several runs; one that falls far behind `best` is not run again.
double best_time(const Variant& variant, Device device, double best, const VariantRunner& run_variant) {
  double shortest = INFINITY, total = 0;
  for (int run = 0; run < kMostRuns; ++run) {
    double start = now();
    run_variant(variant);
    runtime(device).synchronize();
    double seconds = now() - start;
    if (run == 0 && (seconds < kLongFirst || seconds < kHopelessFirst * best)) continue;
    shortest = std::min(shortest, seconds), total += seconds;
    if (seconds > kHopeless * best || (run >= kFewestRuns && total > kSecondsPerVariant)) break;
    if (run == 0) break;
  }
  return shortest;
}

VariantTimes measure(const std::vector<const Variant*>& variants, Device device, const VariantRunner& run) {
  VariantTimes times;
  double best = INFINITY;
  for (const Variant* variant : variants) {
    double seconds = best_time(*variant, device, best, run);
    times[variant->name] = seconds;
    best = std::min(best, seconds);
  }
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
  } catch (const std::exception& error) {
    warn(path, error);
    return {};
  }
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
  if (const char* folder = std::getenv("TREADLE_CACHE"))
    return std::filesystem::path(folder) / "variants.json";
  if (const char* folder = std::getenv("XDG_CACHE_HOME"))
    return std::filesystem::path(folder) / "treadle" / "variants.json";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home ? home : "/tmp") / ".cache" / "treadle" / "variants.json";
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

VariantTimes measured_times(const Op& op, const Call& call, Device device, const VariantRunner& run) {
  auto variants = allowed_variants(op, call, device);
  auto key = variant_key(op, call, device);
  auto times = VariantCache::find(key);
  auto known = [&](const Variant* variant) { return times.count(variant->name) > 0; };
  if (std::all_of(variants.begin(), variants.end(), known)) return times;
  times = measure(variants, device, run);
  VariantCache::store(key, times);
  return times;
}

const Variant& fastest_variant(const Op& op, const Call& call, Device device, const VariantTimes& times) {
  auto variants = allowed_variants(op, call, device);
  return **std::min_element(variants.begin(), variants.end(), [&](const Variant* a, const Variant* b) {
    return times.at(a->name) < times.at(b->name);
  });
}

}  // namespace treadle

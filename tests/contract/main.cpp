/// Runs the op contract over every op × variant × device × dtype × case and prints what was checked.
///
///     treadle_contract_test [--op NAME]… [--variant NAME]… [--device cpu|simt|cuda]… [--once] [--forward]
///                           [--part K/N] [--stop] [--list]
///
/// With --once each call runs as often as it takes to reach its code, which is what sanitizers look at: no
/// second run that must give the same bits, two numbers of threads instead of six. With --forward only the
/// calls themselves run, which reaches every kernel: gradients are ops, too. With --part each N-th op is
/// checked, from the K-th: N processes share the work. With --stop the first failure ends the run.
/// Exit code 0 when all checks passed, 1 when one failed, 2 for wrong usage.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/contract/contract.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/registry.h"

namespace treadle::contract {

int (*failures_seen_elsewhere)(bool at_end) = nullptr;
void (*variant_has_run)(const Op& op, const Variant& variant) = nullptr;

void Tally::failed(const std::string& message) {
  constexpr int kShown = 100;
  if (++failures_ <= kShown) fmt::print("FAILED {}\n", message);
  if (stop_) end_now();
  if (failures_ == kShown) fmt::print("… more failures are counted, not shown\n");
}

void Tally::variant_ran(const Op& op, const Variant& variant) {
  if (variant_has_run != nullptr) variant_has_run(op, variant);
  if (stop_ && failures_seen_elsewhere != nullptr && failures_seen_elsewhere(false) > 0) end_now();
}

/// Without the end of the process: what a faulty kernel has done to memory is not to be met again.
void Tally::end_now() {
  if (failures_seen_elsewhere != nullptr) failures_seen_elsewhere(false);
  std::fflush(nullptr);
  std::_Exit(1);
}

int64_t Tally::total() const {
  int64_t sum = 0;
  for (auto& [key, count] : counts_) sum += count;
  return sum;
}

void Tally::print() const {
  for (auto& [key, count] : counts_)
    fmt::print("  {:<20} {:<8} {:>7} passed\n", key.first, key.second, count);
}

namespace {

struct Arguments {
  std::vector<std::string> ops, variants, devices;
  bool list = false, once = false, forward = false, stop = false;
  int part = 1, parts = 1;
};

/// "K/N", with K from 1 to N
bool parse_part(const char* text, Arguments& arguments) {
  int length = 0;
  return std::sscanf(text, "%d/%d%n", &arguments.part, &arguments.parts, &length) == 2 && text[length] == 0 &&
         arguments.part >= 1 && arguments.part <= arguments.parts;
}

bool parse(int count, char** words, Arguments& arguments) {
  for (int i = 1; i < count; ++i) {
    bool has_value = i + 1 < count;
    if (!std::strcmp(words[i], "--list"))
      arguments.list = true;
    else if (!std::strcmp(words[i], "--once"))
      arguments.once = true;
    else if (!std::strcmp(words[i], "--forward"))
      arguments.forward = true;
    else if (!std::strcmp(words[i], "--stop"))
      arguments.stop = true;
    else if (!std::strcmp(words[i], "--op") && has_value)
      arguments.ops.push_back(words[++i]);
    else if (!std::strcmp(words[i], "--variant") && has_value)
      arguments.variants.push_back(words[++i]);
    else if (!std::strcmp(words[i], "--device") && has_value)
      arguments.devices.push_back(words[++i]);
    else if (std::strcmp(words[i], "--part") || !has_value || !parse_part(words[++i], arguments))
      return false;
  }
  return true;
}

bool wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

/// The devices asked for that are there; the others are named with the reason.
std::vector<Device> present_devices(const Arguments& arguments, std::vector<std::string>& skipped) {
  std::vector<Device> devices;
  for (Device device : {kCpu, kSimt, Device{DeviceKind::cuda, 0}}) {
    if (!wanted(arguments.devices, std::string(name_of(device.kind)))) continue;
    std::string reason = absence_of(device);
    if (reason.empty())
      devices.push_back(device);
    else
      skipped.push_back(fmt::format("{}: {}", to_string(device), reason));
  }
  return devices;
}

bool wanted_device(const std::vector<Device>& devices, Device device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

void check_trial(const Trial& trial, const std::vector<Device>& devices, Tally& tally) {
  for (Device device : devices) {
    check_forward(trial, device, tally);
    if (tally.forward_only()) continue;
    check_compiled(trial, device, tally);
    check_mistakes(trial, device, tally);
    if (trial.op.gradient && is_floating(trial.dtype)) check_gradient(trial, device, tally);
  }
}

/// Programs are the same on every device: one will do.
void check_derived(const Trial& trial, const std::vector<Device>& devices, Tally& tally) {
  for (Device device : devices) {
    check_forward(trial, device, tally);
    if (trial.op.gradient && is_floating(trial.dtype) && !tally.forward_only())
      check_gradient(trial, device, tally);
  }
  if (tally.forward_only()) return;
  check_compiled(trial, devices.front(), tally);
}

/// In every dtype as declared, which adds trials to `trials`; what follows from the case in one dtype, f32
/// where the op takes it: fast variants are of that.
void check_case(const Op& op, const TestCase& test_case, const std::vector<Device>& devices, Tally& tally,
                std::vector<Trial>& trials) {
  if (op.gradient && op.dtypes.contains(DType::f64) && !tally.forward_only()) {
    check_finite_differences(op, test_case, tally);
    check_second_derivatives(op, test_case, tally);
  }
  const Layouts layouts = declared_layouts(test_case);
  DType first = DType::f32;
  for (DType dtype : kAllDTypes) {
    if (!op.dtypes.contains(dtype)) continue;
    check_trial(trials.emplace_back(make_trial(op, test_case, dtype, layouts)), devices, tally);
    if (!tally.forward_only()) check_rows(trials.back(), tally);
    if (!op.dtypes.contains(first)) first = dtype;
  }
  for (const DerivedCase& derived : derived_cases(op, test_case, first))
    check_derived(make_trial(op, derived.test_case, first, derived.layouts), devices, tally);
}

/// Cuts of work depend on the number of threads. On the cpu device every variant runs with several numbers,
/// more than there are pieces included, and every case is cut as if it were large.
void check_thread_numbers(const std::vector<Trial>& trials, Tally& tally) {
  const int before = num_threads();
  detail::finest_cuts = true;
  for (int threads : tally.once() ? std::vector{3, 64} : std::vector{1, 2, 3, 7, 17, 64}) {
    set_num_threads(threads);
    for (const Trial& trial : trials) check_forward(trial, kCpu, tally);
  }
  detail::finest_cuts = false;
  set_num_threads(before);
}

void check_op(const Op& op, const std::vector<Device>& devices, Tally& tally) {
  if (!op.cases || !op.reference) return tally.failed(op.name + " has no test cases or no reference");
  const std::vector<TestCase> cases = op.cases();
  std::vector<Trial> trials;
  for (const TestCase& test_case : cases) {
    try {
      check_case(op, test_case, devices, tally, trials);
    } catch (const std::exception& error) {
      tally.failed(fmt::format("{} [{}] threw: {}", op.name, test_case.label, error.what()));
    }
  }
  for (Device device : devices) check_refused_calls(op, device, tally);
  if (wanted_device(devices, kCpu)) check_thread_numbers(trials, tally);
}

/// Every variant that is linked must have run at least once, else its cases do not reach it.
/// Those of an absent library are skipped by name.
void check_all_variants_ran(const Op& op, const std::vector<Device>& devices, Tally& tally,
                            std::vector<std::string>& skipped) {
  for (const Variant& variant : op.variants) {
    if (!tally.wants(variant)) continue;
    bool present =
        std::any_of(devices.begin(), devices.end(), [&](Device d) { return d.kind == variant.device; });
    std::string key = fmt::format("{} {} {}", op.name, name_of(variant.device), variant.name);
    if (!present || tally.variants().count(key)) continue;
    std::string reason = absence_of(variant.engine);
    if (reason.empty())
      tally.failed(key + ": no case reaches this variant");
    else
      skipped.push_back(key + ": " + reason);
  }
}

int run(const Arguments& arguments) {
  auto start = std::chrono::steady_clock::now();
  std::vector<std::string> skipped;
  auto devices = present_devices(arguments, skipped);
  Tally tally(arguments.once, arguments.forward, arguments.variants);
  if (arguments.stop) tally.stop_at_first();
  int ops = 0, wanted_ops = 0;
  for (const Op* op : registry().ops()) {
    if (!wanted(arguments.ops, op->name) || wanted_ops++ % arguments.parts != arguments.part - 1) continue;
    ++ops;
    if (arguments.list) {
      fmt::print("{}\n", op->name);
      continue;
    }
    check_op(*op, devices, tally);
    check_all_variants_ran(*op, devices, tally, skipped);
  }
  if (arguments.list) return 0;
  if (ops == 0 || (devices.empty() && skipped.empty())) {
    fmt::print(stderr, "no such op or device\n");
    return 2;
  }
  tally.print();
  for (auto& reason : skipped) fmt::print("  skipped {}\n", reason);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("op contract: {} ops, {} variants, {:.1f} s\n", ops, tally.variants().size(), seconds.count());
  fmt::print("{} passed, {} failed, {} skipped\n", tally.total(), tally.failures(), skipped.size());
  const int elsewhere = failures_seen_elsewhere == nullptr ? 0 : failures_seen_elsewhere(true);
  return tally.ok() && elsewhere == 0 ? 0 : 1;
}

}  // namespace
}  // namespace treadle::contract

int main(int count, char** words) {
  treadle::contract::Arguments arguments;
  if (!treadle::contract::parse(count, words, arguments)) {
    fmt::print(
        stderr,
        "usage: {} [--op NAME]... [--variant NAME]... [--device cpu|simt|cuda]... [--once] [--forward] "
        "[--part K/N] [--stop] [--list]\n",
        words[0]);
    return 2;
  }
  return treadle::contract::run(arguments);
}

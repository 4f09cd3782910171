#include "treadle/compile/compile.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "treadle/compile/buckets.h"
#include "treadle/compile/entry.h"
#include "treadle/core/error.h"
#include "treadle/core/floating_point.h"
#include "treadle/core/log.h"
#include "treadle/graph/run_hook.h"
#include "treadle/graph/settings.h"

namespace treadle {
namespace {

/// Entries kept of one signature: states of the surroundings that programs hold for.
constexpr size_t kMostOfOneSignature = 8;
/// Calls after which ReLU may let other shares through than at first: variants are then chosen again,
/// whenever a program is compared with its function.
constexpr int64_t kCallsBeforeTuningAgain = 256;

void check_arguments(std::span<const Tensor> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    require<ValueError>(arguments[i].defined(), "argument {} of a compiled function is undefined", i);
    require<DeviceError>(arguments[i].device() == arguments[0].device(),
                         "arguments 0 and {} of a compiled function are on {} and {}", i,
                         arguments[0].device(), arguments[i].device());
    require<RecordingError>(
        !arguments[i].requires_grad(),
        "argument {} {} of a compiled function requires a gradient, which would stay inside: "
        "pass x.detach(), call set_requires_grad() on it inside and return its grad()",
        i, arguments[i].shape());
  }
}

}  // namespace

class CompiledFunction::State {
 public:
  State(Function function, const CompileOptions& options)
      : function_(std::move(function)), options_(options) {
    const auto& buckets = options.batch_buckets;
    require<ValueError>(bool(function_), "there is no function to compile");
    require<ValueError>(std::is_sorted(buckets.begin(), buckets.end()) && (buckets.empty() || buckets[0] > 0),
                        "batch_buckets must rise from at least 1");
    require<ValueError>(options.most_programs > 0, "most_programs is 0: a compiled function needs one");
  }

  /// The function itself: inside another recording, and where the settings ask for eager calls.
  std::vector<Tensor> inline_call(std::span<const Tensor> arguments) { return function_(arguments); }

  std::vector<Tensor> call(std::span<const Tensor> arguments, bool only_results = false) {
    std::vector<Tensor> results;
    serve(arguments, [&](const Entry& entry, ProgramInstance& instance) {
      require<RecordingError>(!only_results || !entry.updates,
                              "a function called in batch_buckets updates captured tensors; rows of zeros "
                              "would take part in that");
      results.resize(entry.program->outputs.size());
      instance.run(arguments, results);
    });
    return results;
  }

  void call(std::span<const Tensor> arguments, std::span<Tensor> results) {
    serve(arguments, [&](const Entry& entry, ProgramInstance& instance) {
      require<ValueError>(results.size() == entry.program->outputs.size(),
                          "a compiled function returns {} tensors, room was given for {}",
                          entry.program->outputs.size(), results.size());
      instance.run(arguments, results);
    });
  }

  bool in_buckets() const { return !options_.batch_buckets.empty(); }

  std::vector<Tensor> call_in_buckets(std::span<const Tensor> arguments) {
    check_arguments(arguments);
    auto one = [this](std::span<const Tensor> piece) { return call(piece, true); };
    return treadle::call_in_buckets(one, options_.batch_buckets, arguments);
  }

  StepTimes time_steps(std::span<const Tensor> arguments, int replays) {
    require<ValueError>(replays >= 1, "steps are timed in {} replays, at least 1 is needed", replays);
    StepTimes times;
    serve(arguments, [&](const Entry& entry, ProgramInstance& instance) {
      const auto& steps = entry.program->steps;
      const std::vector<size_t> order = entry.program->run_order();
      times = {entry.program, std::vector<double>(steps.size(), INFINITY)};
      std::vector<Tensor> results(entry.program->outputs.size());
      for (int i = 0; i < 2; ++i) instance.run(arguments, results);  // the arena may grow after the first
      size_t runs = 0;
      {
        ObserveRuns count([&](const VariantRun&, double) { ++runs; });
        instance.run(arguments, results);
      }
      std::vector<size_t> in_a_replay;
      for (size_t i : order)
        if (runs < order.size() && steps[i].prepared)
          times.seconds[i] = 0;
        else
          in_a_replay.push_back(i);
      size_t place = 0;
      ObserveRuns observer([&](const VariantRun&, double seconds) {
        double& least = times.seconds[in_a_replay[place++ % in_a_replay.size()]];
        least = std::min(least, seconds);
      });
      for (int i = 0; i < replays; ++i) instance.run(arguments, results);
    });
    return times;
  }

  std::vector<ProgramReport> programs() {
    std::lock_guard lock(mutex_);
    std::vector<ProgramReport> reports;
    for (auto& entry : entries_) {
      std::lock_guard pool(entry->pool);
      reports.push_back(
          {entry->signature.to_string(), entry->program, entry->memory_bytes, entry->calls, entry->threads});
    }
    return reports;
  }

 private:
  /// Calls `run` with the entry for the arguments and one of its instances. Recordings, and calls that update
  /// anything, hold `running_`; other calls need it only until their program has been recorded and compared.
  template <class F>
  void serve(std::span<const Tensor> arguments, F&& run) {
    check_arguments(arguments);
    FloatingPointScope scope(Subnormals::keep);  // recording leaves no flags to the caller either
    std::unique_lock running(running_, std::defer_lock);
    auto entry = find(arguments, true);
    if (!entry) {
      running.lock();
      entry = find_or_make(arguments);
      if (!entry->updates) running.unlock();
    }
    auto instance = take(*entry);
    try {
      run(*entry, *instance);
    } catch (...) {
      give_back(*entry, std::move(instance));
      throw;
    }
    give_back(*entry, std::move(instance));
    if (!entry->sets_states()) return;
    std::lock_guard lock(mutex_);
    entry->repeat_state_changes();
  }

  /// The entry that serves a call, which becomes the latest one; null when there is none, or `at_once` and it
  /// may not run yet.
  std::shared_ptr<Entry> find(std::span<const Tensor> arguments, bool at_once) {
    std::lock_guard lock(mutex_);
    for (size_t i = entries_.size(); i-- > 0;) {
      auto entry = entries_[i];
      if (!entry->signature.matches(arguments)) continue;
      if (at_once && (entry->updates || entry->calls + 1 >= entry->next_comparison)) return {};
      if (!entry->holds(arguments)) continue;
      if (i + 1 < entries_.size())
        std::rotate(entries_.begin() + int64_t(i), entries_.begin() + int64_t(i) + 1, entries_.end());
      ++entry->calls;
      return entry;
    }
    return {};
  }

  /// Records where there is no entry, and compares where it is time to.
  std::shared_ptr<Entry> find_or_make(std::span<const Tensor> arguments) {
    if (auto entry = find(arguments, false)) {
      if (const int64_t call = call_to_compare(*entry)) compare_again(*entry, arguments, call);
      return entry;
    }
    auto earlier = [this] {
      std::lock_guard lock(mutex_);
      return entries_;
    }();
    for (auto& one : earlier) require_alive(*one);
    auto entry = make_entry(arguments);
    entry->calls = 1;
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const auto& one) { return one->is_stale(); });
    drop_oldest_of_signature(arguments);
    entries_.push_back(entry);
    drop_oldest();
    return entry;
  }

  FunctionRecording record(std::span<const Tensor> arguments, const Pins& pins) {
    FunctionRecording recorded{std::make_unique<Recorder>(true, pins.gradients), {}};
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < arguments.size(); ++i)
      inputs.push_back(pins.argument(i) ? arguments[i].detach()
                                        : recorded.recorder->add_input(arguments[i], int(i)));
    RecordingScope scope(*recorded.recorder);
    recorded.results = function_(inputs);
    recorded.recorder->copy_constants(recorded.results);
    for (const Tensor& result : recorded.results) recorded.recorder->value_of(result);
    for (const LeafSlot& slot : recorded.recorder->leaf_slots()) recorded.recorder->value_of(slot.now);
    return recorded;
  }

  void require_alive(const Entry& entry) const {
    const Dependency* lost = entry.lost_dependency();
    require<RecordingError>(
        !lost,
        "a compiled function must be recorded again for other inputs, but {}, which it uses, is "
        "gone; programs that were recorded before can still be replayed",
        lost ? lost->description : "");
  }

  /// Records, and records again with pins where stand-ins would hide that memory is shared.
  std::shared_ptr<Entry> make_entry(std::span<const Tensor> arguments) {
    Pins pins;
    for (;;) {
      auto recorded = record(arguments, pins);
      if (!pins.gradients && recorded.recorder->needs_pinned_gradients()) {
        pins.gradients = true;
        continue;
      }
      auto entry = std::make_shared<Entry>(arguments, std::move(recorded), pins, options_.fuse);
      if (entry->find_shared_memory(arguments, pins)) continue;
      auto instance = std::make_unique<ProgramInstance>(entry->program, uses_graph(entry->program->device));
      instance->choose_variants(arguments, options_.measure);
      entry->set_placements(arguments, instance->inputs_with_alignment());
      entry->idle.push_back(std::move(instance));
      return entry;
    }
  }

  /// The number of the call when it is to be compared with the first one, else 0.
  int64_t call_to_compare(const Entry& entry) {
    std::lock_guard lock(mutex_);
    return entry.calls >= entry.next_comparison ? entry.calls : 0;
  }

  /// The 2nd call of a program, the 4th, 16th, 64th and so on.
  void compare_again(Entry& entry, std::span<const Tensor> arguments, int64_t call) {
    if (const Dependency* lost = entry.lost_dependency())
      log_once(LogLevel::warning,
               fmt::format("{}, which a compiled function uses, is gone: it is not recorded again, and would "
                           "not notice what has changed",
                           lost->description));
    else
      require_equal(entry, record(arguments, entry.pins), call);
    if (entry.updates && options_.measure && call >= kCallsBeforeTuningAgain) tune_again(entry, arguments);
    std::lock_guard lock(mutex_);
    entry.next_comparison *= entry.next_comparison == 2 ? 2 : 4;
  }

  /// Of a program that updates what it reads, one instance runs at a time.
  void tune_again(Entry& entry, std::span<const Tensor> arguments) {
    auto instance = take(entry);
    if (instance->choose_variants_again(arguments)) {
      const auto alignment_matters = instance->inputs_with_alignment();
      std::lock_guard lock(mutex_);
      entry.set_placements(arguments, alignment_matters);
    }
    give_back(entry, std::move(instance));
  }

  void require_equal(const Entry& entry, const FunctionRecording& now, int64_t call) const {
    const auto text = difference(entry.recorded, now);
    const int64_t compared = entry.next_comparison == 4 ? 2 : entry.next_comparison / 4;
    require<RecordingError>(
        text.empty(),
        "a compiled function was recorded again for call {} of a program, and differs from call 1: {}. A C++ "
        "number or a branch inside it is fixed in the program; keep what changes in a tensor, an argument, "
        "or "
        "the optimizer's learning rate (set_learning_rate or set_schedule, outside of it){}",
        call, text,
        call > 2 ? fmt::format(". Calls since number {} may have used the old one", compared) : "");
  }

  /// Called before one more is added.
  void drop_oldest_of_signature(std::span<const Tensor> arguments) {
    auto is_alike = [&](const auto& entry) { return entry->signature.matches(arguments); };
    if (size_t(std::count_if(entries_.begin(), entries_.end(), is_alike)) < kMostOfOneSignature) return;
    const auto latest = std::find_if(entries_.rbegin(), entries_.rend(), is_alike);
    if (!std::exchange(warned_, true))
      log(LogLevel::warning,
          fmt::format(
              "a compiled function was recorded more than {} times for the same kind of arguments, the "
              "last time since {}: so many programs are kept, and recording takes time",
              kMostOfOneSignature, (*latest)->reason_against(arguments)));
    entries_.erase(std::find_if(entries_.begin(), entries_.end(), is_alike));
  }

  void drop_oldest() {
    if (entries_.size() <= options_.most_programs) return;
    log_once(
        LogLevel::warning,
        fmt::format("a compiled function has met more than {} signatures; the program used longest ago is "
                    "dropped and recorded again when it is needed",
                    options_.most_programs));
    entries_.erase(entries_.begin());
  }

  bool uses_graph(Device device) const {
    if (options_.graph == CompileOptions::Graph::automatic) return device.kind == DeviceKind::cuda;
    return options_.graph == CompileOptions::Graph::always && device.kind != DeviceKind::cpu;
  }

  std::unique_ptr<ProgramInstance> take(Entry& entry) {
    std::unique_lock lock(entry.pool);
    if (entry.idle.empty()) {
      lock.unlock();
      return std::make_unique<ProgramInstance>(entry.program, uses_graph(entry.program->device));
    }
    auto instance = std::move(entry.idle.back());
    entry.idle.pop_back();
    return instance;
  }

  void give_back(Entry& entry, std::unique_ptr<ProgramInstance> instance) {
    std::lock_guard lock(entry.pool);
    entry.memory_bytes = instance->memory_bytes();
    entry.threads = instance->threads();
    entry.idle.push_back(std::move(instance));
  }

  Function function_;
  CompileOptions options_;
  std::mutex running_;                           ///< taken before the others
  std::mutex mutex_;                             ///< guards what follows
  std::vector<std::shared_ptr<Entry>> entries_;  ///< the latest used last
  bool warned_ = false;                          ///< that programs of one signature are too many
};

CompiledFunction::CompiledFunction(Function function, const CompileOptions& options)
    : state_(std::make_shared<State>(std::move(function), options)) {}

void CompiledFunction::call(std::span<const Tensor> arguments, std::span<Tensor> results) {
  bool compiled = !recording() && !settings().eager;
  if (compiled && !state_->in_buckets()) return state_->call(arguments, results);
  auto list = (*this)(arguments);
  require<ValueError>(list.size() == results.size(),
                      "a compiled function returns {} tensors, room was given for {}", list.size(),
                      results.size());
  std::copy(list.begin(), list.end(), results.begin());
}

std::vector<Tensor> CompiledFunction::operator()(std::span<const Tensor> arguments) {
  if (recording() || settings().eager) return state_->inline_call(arguments);
  return state_->in_buckets() ? state_->call_in_buckets(arguments) : state_->call(arguments);
}

std::vector<ProgramReport> CompiledFunction::programs() const { return state_->programs(); }

StepTimes CompiledFunction::time_steps(std::span<const Tensor> arguments, int replays) {
  require<RecordingError>(!recording(), "steps cannot be timed inside a compiled function");
  return state_->time_steps(arguments, replays);
}

}  // namespace treadle

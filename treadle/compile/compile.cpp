#include "treadle/compile/compile.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>

#include "treadle/compile/buckets.h"
#include "treadle/compile/difference.h"
#include "treadle/compile/instance.h"
#include "treadle/compile/recorder.h"
#include "treadle/core/error.h"
#include "treadle/core/log.h"
#include "treadle/graph/settings.h"

namespace treadle {
namespace {

/// What decides, beside captured state, which program serves a call.
struct CallSignature {
  std::vector<TensorSpec> specs;
  Device device;
  bool gradient_mode = true;
  Settings settings;

  static CallSignature of(std::span<const Tensor> arguments) {
    CallSignature signature;
    for (const Tensor& argument : arguments) {
      signature.specs.push_back(TensorSpec::of(argument));
      signature.device = argument.device();
    }
    signature.gradient_mode = treadle::gradient_mode();
    signature.settings = treadle::settings();
    return signature;
  }

  /// Without making a signature of the call: nothing is allocated.
  bool matches(std::span<const Tensor> arguments) const {
    if (arguments.size() != specs.size() || gradient_mode != treadle::gradient_mode()) return false;
    for (size_t i = 0; i < specs.size(); ++i) {
      const Tensor& argument = arguments[i];
      if (!(argument.shape() == specs[i].shape) || !(argument.strides() == specs[i].strides) ||
          argument.dtype() != specs[i].dtype || !(argument.device() == device))
        return false;
    }
    const Settings& now = treadle::settings();
    return settings.deterministic == now.deterministic && settings.own_engine_only == now.own_engine_only &&
           settings.variants == now.variants;
  }

  std::string to_string() const {
    std::string text;
    for (const TensorSpec& spec : specs)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(spec.dtype), spec.shape);
    return text + (gradient_mode ? "" : ", no gradients");
  }
};

/// A tensor of the surroundings as it was when it was captured.
struct CapturedTensor {
  Tensor tensor, before;  ///< `before` is another handle: assign() does not change it
  bool requires_grad;
  bool has_moved() const {
    const TensorData &now = *tensor.handle(), &then = *before.handle();
    return !(now.storage == then.storage) || now.offset != then.offset || !(now.shape == then.shape) ||
           !(now.strides == then.strides);
  }
  bool unchanged() const { return !has_moved() && tensor.requires_grad() == requires_grad; }
};

/// One program, what it holds for, and the instances that are not running.
struct Entry {
  CallSignature signature;
  std::shared_ptr<Program> program;
  std::optional<FunctionRecording> recorded;  ///< until the second call has been compared
  std::atomic<bool> compared = false;
  std::vector<CapturedTensor> captured;
  std::vector<LeafSlot> read_gradients;
  std::vector<Dependency> dependencies;
  bool updates = false;  ///< whether a call changes anything but its results
  int64_t calls = 0;

  std::mutex pool;  ///< guards what follows
  std::vector<std::unique_ptr<ProgramInstance>> idle;
  size_t memory_bytes = 0;

  bool holds() const {
    for (const CapturedTensor& one : captured)
      if (!one.unchanged()) return false;
    for (const LeafSlot& slot : read_gradients)
      if (!(leaf_gradient(slot.leaf).handle() == slot.before.handle())) return false;
    for (const Dependency& dependency : dependencies)
      if (dependency.state && !dependency.life.expired() && dependency.state() != dependency.recorded_state)
        return false;
    return true;
  }

  /// Whether it can hardly hold again: a tensor has moved, or a gradient that it adds to is gone.
  bool is_stale() const {
    for (const CapturedTensor& one : captured)
      if (one.has_moved()) return true;
    for (const LeafSlot& slot : read_gradients)
      if (slot.before.defined() && !(leaf_gradient(slot.leaf).handle() == slot.before.handle())) return true;
    return false;
  }

  const Dependency* lost_dependency() const {
    for (const Dependency& dependency : dependencies)
      if (dependency.life.expired()) return &dependency;
    return nullptr;
  }
};

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

/// Tells `observer` of each step while one lives.
class StepObserver {
 public:
  StepObserver(ProgramInstance& instance, std::function<void(size_t, double)> observer)
      : instance_(instance) {
    instance_.on_step = std::move(observer);
  }
  ~StepObserver() { instance_.on_step = {}; }

 private:
  ProgramInstance& instance_;
};

}  // namespace

class CompiledFunction::State {
 public:
  State(Function function, const CompileOptions& options)
      : function_(std::move(function)), options_(options) {}

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
    auto one = [this](std::span<const Tensor> piece) { return call(piece, true); };
    return treadle::call_in_buckets(one, options_.batch_buckets, arguments);
  }

  StepTimes time_steps(std::span<const Tensor> arguments, int replays) {
    StepTimes times;
    serve(arguments, [&](const Entry& entry, ProgramInstance& instance) {
      times = {entry.program, std::vector<double>(entry.program->steps.size(), INFINITY)};
      std::vector<Tensor> results(entry.program->outputs.size());
      instance.run(arguments, results);
      StepObserver observer(instance, [&](size_t step, double seconds) {
        times.seconds[step] = std::min(times.seconds[step], seconds);
      });
      for (int i = 0; i < std::max(replays, 1); ++i) instance.run(arguments, results);
    });
    return times;
  }

  std::vector<ProgramReport> programs() {
    std::lock_guard lock(mutex_);
    std::vector<ProgramReport> reports;
    for (auto& entry : entries_) {
      std::lock_guard pool(entry->pool);
      reports.push_back({entry->signature.to_string(), entry->program, entry->memory_bytes, entry->calls});
    }
    return reports;
  }

 private:
  /// Calls `run` with the entry for the arguments and one of its instances. Recordings, and calls that update
  /// anything, hold `running_`; other calls need it only until their program has been recorded and compared.
  template <class F>
  void serve(std::span<const Tensor> arguments, F&& run) {
    check_arguments(arguments);
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
  }

  /// The entry that serves a call, which becomes the latest one; null when there is none, or `at_once` and it
  /// may not run yet.
  std::shared_ptr<Entry> find(std::span<const Tensor> arguments, bool at_once) {
    std::lock_guard lock(mutex_);
    for (size_t i = entries_.size(); i-- > 0;) {
      auto entry = entries_[i];
      if (!entry->signature.matches(arguments)) continue;
      if (at_once && (entry->updates || !entry->compared)) return {};
      if (!entry->holds()) continue;
      if (i + 1 < entries_.size())
        std::rotate(entries_.begin() + int64_t(i), entries_.begin() + int64_t(i) + 1, entries_.end());
      ++entry->calls;
      return entry;
    }
    return {};
  }

  /// Records where there is no entry. The second call compares.
  std::shared_ptr<Entry> find_or_make(std::span<const Tensor> arguments) {
    if (auto entry = find(arguments, false)) {
      if (entry->recorded) compare_again(*entry, arguments);
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
    entries_.push_back(entry);
    drop_oldest();
    return entry;
  }

  FunctionRecording record(std::span<const Tensor> arguments) {
    FunctionRecording recorded{std::make_unique<Recorder>(), {}};
    std::vector<Tensor> inputs;
    for (const Tensor& argument : arguments) inputs.push_back(recorded.recorder->add_input(argument));
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

  std::shared_ptr<Entry> make_entry(std::span<const Tensor> arguments) {
    auto entry = std::make_shared<Entry>();
    entry->signature = CallSignature::of(arguments);
    auto recorded = record(arguments);
    const Recorder& recorder = *recorded.recorder;
    entry->program = build_program(recorder, recorded.results, options_.fuse);
    const Program& program = *entry->program;
    entry->updates = program.mutates() || !program.gradients.empty() || !program.host_work.empty();
    for (const Dependency& dependency : recorder.dependencies())
      if (!dependency.life.expired()) entry->dependencies.push_back(dependency);  // not made by the function
    for (const LeafSlot& slot : recorder.leaf_slots())
      if (slot.reads_before) entry->read_gradients.push_back(slot);
    for (const Tensor& tensor : recorder.captured_tensors())
      entry->captured.push_back({tensor, tensor.detach(), tensor.requires_grad()});
    entry->recorded = std::move(recorded);
    verify_program(program);
    auto instance = std::make_unique<ProgramInstance>(entry->program, uses_graph(program.device));
    instance->choose_variants(arguments, options_.measure);
    entry->idle.push_back(std::move(instance));
    return entry;
  }

  void compare_again(Entry& entry, std::span<const Tensor> arguments) {
    auto text = entry.lost_dependency() ? "" : difference(*entry.recorded, record(arguments));
    require<RecordingError>(
        text.empty(),
        "a compiled function was recorded again for its second call, and differs: {}. A C++ number or a "
        "branch inside it is fixed in the program; keep what changes in a tensor, an argument, or the "
        "optimizer's "
        "learning rate (set_learning_rate, set_schedule)",
        text);
    entry.recorded.reset();
    entry.compared = true;
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
    entry.idle.push_back(std::move(instance));
  }

  Function function_;
  CompileOptions options_;
  std::mutex running_;                           ///< taken before the others
  std::mutex mutex_;                             ///< guards what follows
  std::vector<std::shared_ptr<Entry>> entries_;  ///< the latest used last
};

CompiledFunction::CompiledFunction(Function function, const CompileOptions& options)
    : state_(std::make_shared<State>(std::move(function), options)) {
  const auto& buckets = options.batch_buckets;
  require<ValueError>(std::is_sorted(buckets.begin(), buckets.end()) && (buckets.empty() || buckets[0] > 0),
                      "batch_buckets must rise from at least 1");
}

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
  return state_->time_steps(arguments, replays);
}

}  // namespace treadle

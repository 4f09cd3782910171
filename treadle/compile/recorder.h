/// Recorder: what a function did, written down as a list of steps over values and buffers.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "treadle/graph/autograd.h"
#include "treadle/graph/recording.h"
#include "treadle/graph/step_graph.h"

namespace treadle {

/// What a call of backward() followed from, beside the values that it read and made.
struct RecordedBackward {
  IntrusivePtr<AutogradState> root_state;
  bool root_is_leaf = false, retain_graph = false;
  /// Leaves whose gradients are inputs from number 2 on, and outputs.
  std::vector<IntrusivePtr<AutogradState>> before, after;
};

/// Autograd's side of a step, which only recording knows: what differentiating again needs.
struct StepRecord {
  std::vector<bool> flows;                          ///< whether a gradient flows back to the input
  std::vector<IntrusivePtr<AutogradState>> leaves;  ///< the input's own state where it is a leaf, else null
  std::vector<IntrusivePtr<AutogradState>> states;  ///< the input's place in the graph where a gradient flows
  std::vector<Tensor> results;                      ///< what the op returned, with its place in the graph
  bool gradient_mode = true;
  bool derived = false;                        ///< recorded inside backward()
  std::shared_ptr<RecordedBackward> backward;  ///< of a call of backward()

  /// Whether the results carry a gradient back to the operands.
  bool gradient_flows() const {
    return gradient_mode && std::find(flows.begin(), flows.end(), true) != flows.end();
  }
};

/// Steps as they were recorded, and what only recording knows of each. A call of backward() is a step, too,
/// of backward_marker(): it reads the root, the upstream gradient and the leaves' gradients, and makes the
/// leaves' new ones. The derived steps that follow it say how.
struct RecordedGraph {
  StepGraph steps;
  std::vector<StepRecord> records;  ///< by step

  bool is_backward(size_t at) const { return bool(records[at].backward); }
  void erase(size_t at) {
    steps.erase(at);
    records.erase(records.begin() + int64_t(at));
  }
};

/// Stands for a call of backward(); it has no variants and is never run.
const Op& backward_marker();

/// Numbers that change between replays.
struct ChangingNumbers {
  Tensor tensor;  ///< symbolic
  std::function<void(double*)> write;
};

/// Work on the host before each replay: `work`, or writing of numbers[number].
struct HostWork {
  std::function<void()> work, undo;
  int number = -1;
  std::string description = {};
};

/// A state that the function sets, and a replay sets again.
struct StateChange {
  std::weak_ptr<const void> life;
  std::function<void()> again;
};

struct Dependency {
  std::weak_ptr<const void> life;
  std::string description;
  std::function<int64_t()> state;
  int64_t recorded_state = 0;
};

/// What a leaf's gradient was before, and is while recorded.
struct LeafSlot {
  IntrusivePtr<AutogradState> leaf;
  Tensor found;  ///< what the function found: a stand-in for the gradient that was there before, or that one
  Tensor now;
  bool reads_before = false;  ///< whether the function depends on what it was before
};

/// What a recording takes as captured tensors, though it changes from call to call otherwise.
struct Pins {
  std::vector<bool> arguments;  ///< by number; missing ones are not pinned
  bool gradients = false;       ///< gradients of leaves that were there before

  bool argument(size_t i) const { return i < arguments.size() && arguments[i]; }
};

class Recorder final : public Recording {
 public:
  explicit Recorder(bool calls_hooks = true, bool pins_gradients = false);

  /// A symbolic tensor like `argument`, as input `number`.
  Tensor add_input(const Tensor& argument, int number);
  /// Takes over inputs and changing numbers of another recording, tensors included.
  void adopt_inputs(const Recorder& other);
  /// The value of a tensor, which becomes a captured one when it was not seen before.
  int value_of(const Tensor& tensor);

  const RecordedGraph& recorded() const { return graph_; }
  const StepGraph& graph() const { return graph_.steps; }
  /// The first tensor that was seen with a value's place and shape.
  const Tensor& tensor(int value) const { return tensors_[size_t(value)]; }
  const std::vector<ChangingNumbers>& numbers() const { return numbers_; }
  const std::vector<HostWork>& host_work() const { return host_work_; }
  const std::vector<Dependency>& dependencies() const { return dependencies_; }
  const std::vector<StateChange>& state_changes() const { return state_changes_; }
  const std::deque<LeafSlot>& leaf_slots() const { return slots_; }
  /// Leaves whose gradients stand-ins stand for, by number of their buffers.
  const std::vector<IntrusivePtr<AutogradState>>& gradient_leaves() const { return gradient_leaves_; }
  /// Whether stand-ins cannot stand for gradients: the function writes into one, or knows its memory
  /// otherwise.
  bool needs_pinned_gradients() const;
  /// Tensors of the surroundings, each handle that was seen.
  std::vector<Tensor> captured_tensors() const;
  /// Replaces constants among `results`, and among the gradients that leaves hold, by copies that a replay
  /// makes: what the caller gets is its own.
  void copy_constants(std::vector<Tensor>& results);

  // Recording
  std::vector<Tensor> record(const Op& op, const std::vector<Tensor>& inputs,
                             const Attributes& attributes) override;
  Tensor changing_numbers(int64_t count, Device device, std::function<void(double*)> write) override;
  void before_replay(std::function<void()> work, std::function<void()> undo,
                     std::string description) override;
  void depends_on(std::weak_ptr<const void> life, std::string description,
                  std::function<int64_t()> state) override;
  void sets_state(std::weak_ptr<const void> life, std::function<void()> again) override;
  uint64_t number() const override { return number_; }
  Tensor& gradient_of(const IntrusivePtr<AutogradState>& leaf, const Tensor& before) override;
  void set_gradient_of(const IntrusivePtr<AutogradState>& leaf, const Tensor& before,
                       const Tensor& gradient) override;
  void begin_backward(const Tensor& root, const Tensor& upstream, bool retain_graph) override;
  void end_backward() override;
  Tensor ones_like(const Tensor& root) override;
  bool calls_hooks() const override { return calls_hooks_; }

 private:
  int buffer_of(const Tensor& tensor);
  bool is_constant(const Tensor& tensor);
  LeafSlot* find_slot(const IntrusivePtr<AutogradState>& leaf);
  Tensor stand_in(const IntrusivePtr<AutogradState>& leaf, const Tensor& gradient);
  int add_buffer(GraphBuffer buffer);
  int add_buffer(GraphBuffer::Kind kind, const IntrusivePtr<Storage>& storage, int number = 0);
  /// Throws RecordingError when a replay could not write there.
  void require_writable(const Op& op, const Tensor& tensor);
  std::vector<Tensor> results_of(const Op& op, const std::vector<Tensor>& inputs,
                                 const Attributes& attributes);
  std::vector<int> leaf_gradients(std::vector<IntrusivePtr<AutogradState>>& leaves);
  void add(Step step, StepRecord record);

  bool calls_hooks_, pins_gradients_;
  uint64_t number_, first_storage_;
  RecordedGraph graph_;
  std::vector<Tensor> tensors_;  ///< by value
  std::vector<ChangingNumbers> numbers_;
  std::vector<HostWork> host_work_;
  std::vector<Dependency> dependencies_;
  std::vector<StateChange> state_changes_;
  std::vector<IntrusivePtr<AutogradState>> gradient_leaves_;
  std::vector<const Storage*> stood_for_;  ///< storages of the gradients that stand-ins stand for
  bool writes_gradients_ = false;          ///< that were there before
  std::deque<LeafSlot> slots_;             ///< references stay valid
  std::vector<size_t> backwards_;          ///< steps that call backward() and have not ended
  std::unordered_map<const Storage*, int> buffer_numbers_;
  std::unordered_map<const TensorData*, int> value_numbers_;
  std::vector<std::vector<int>> values_in_buffer_;
  std::vector<Tensor> kept_;  ///< so that addresses stay unique
};

/// Makes a recorder the recording of this thread while it lives.
class RecordingScope {
 public:
  explicit RecordingScope(Recording& current) : before_(detail::exchange_recording(&current)) {}
  ~RecordingScope() { detail::exchange_recording(before_); }
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  Recording* before_;
  detail::SymbolicAllocation symbolic_;
};

}  // namespace treadle

#include "treadle/compile/program.h"

#include <algorithm>
#include <unordered_map>

#include "treadle/compile/dead_steps.h"
#include "treadle/compile/declared_fusions.h"
#include "treadle/compile/early_updates.h"
#include "treadle/compile/forward_fusions.h"
#include "treadle/compile/pieces.h"
#include "treadle/compile/plan.h"
#include "treadle/graph/op.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

using Kind = GraphBuffer::Kind;

/// What the function makes of a leaf's gradient.
struct ChangedGradient {
  IntrusivePtr<AutogradState> leaf;
  int now;
  bool reads_before;  ///< it follows from the gradient that was there before
};

/// Turns a recording into a program.
class Builder {
 public:
  Builder(const Recorder& recorder, int arguments, std::vector<std::string> fusions)
      : recorder_(recorder), graph_(recorder.graph()), program_(std::make_unique<Program>()) {
    program_->fusions = std::move(fusions);
    program_->arguments = arguments;
    program_->gradient_inputs = recorder.gradient_leaves();
    program_->numbers = recorder.numbers();
    program_->host_work = recorder.host_work();
    note_leaves();
    keep_steps_that_run();
  }

  void add_results(const std::vector<int>& values) {
    for (int value : values) program_->outputs.push_back(output_of(value));
  }

  /// A gradient that an update of its leaf has used stays inside, unless the next call adds to it; others are
  /// left to the caller. Nobody outside has the leaves that the function makes.
  void add_gradients(const std::vector<ChangedGradient>& gradients) {
    for (const ChangedGradient& gradient : gradients) {
      auto buffer = leaf_buffers_.find(gradient.leaf.get());
      bool known = buffer != leaf_buffers_.end();
      if (known && !graph_.buffers()[size_t(buffer->second)].is_fixed()) continue;
      bool stays = known && gradient.now != kNoValue && !gradient.reads_before &&
                   is_consumed(gradient.now, buffer->second);
      program_->gradients.push_back(
          {stays ? ProgramOutput{} : output_of(gradient.now), gradient.leaf, gradient.reads_before});
    }
  }

  /// `rows` of a call, see cut_into_pieces().
  std::unique_ptr<Program> build(bool fuse, int64_t rows) {
    if (fuse) {
      for (auto& what : apply_fusions(registry().step_fusions(), graph_)) program_->fusions.push_back(what);
      move_updates_early(graph_);
    }
    remove_dead_steps(graph_);
    if (fuse) program_->loops = cut_into_pieces(graph_, rows);
    plan(graph_, *program_);
    return std::move(program_);
  }

 private:
  void note_leaves() {
    for (size_t i = 0; i < graph_.size(); ++i) {
      const auto& leaves = recorder_.recorded().records[i].leaves;
      for (size_t k = 0; k < leaves.size(); ++k)
        if (leaves[k]) leaf_buffers_[leaves[k].get()] = graph_.buffer_of(graph_[i].inputs[k]);
    }
  }

  bool is_empty(const Step& step) const {
    for (int value : step.outputs)
      if (value != kNoValue && graph_.spec(value).shape.numel() > 0) return false;
    return true;
  }

  /// Of a call of backward() the derived steps run.
  void keep_steps_that_run() {
    for (size_t i = graph_.size(); i-- > 0;) {
      const bool is_op = !recorder_.recorded().is_backward(i);
      program_->statistics.recorded_ops += is_op;
      if (!is_op || graph_[i].op->direct || is_empty(graph_[i])) graph_.erase(i);
    }
  }

  ProgramOutput output_of(int value) {
    ProgramOutput output;
    if (value == kNoValue) return output;
    output.value = value;
    graph_.hand_out(value);
    const GraphBuffer& buffer = graph_.memory_of(value);
    if (buffer.is_fixed()) output.existing = buffer.storage;
    output.input = program_->input_number(buffer);
    return output;
  }

  /// Whether a step updates `leaf`, a buffer, in place with the gradient.
  bool is_consumed(int gradient, int leaf) const {
    for (size_t reader : graph_.readers(gradient)) {
      bool writes_leaf = false, writes_gradient = false;
      for (int value : mutated_values(graph_[reader])) {
        writes_leaf |= graph_.buffer_of(value) == leaf;
        writes_gradient |= graph_.buffer_of(value) == graph_.buffer_of(gradient);
      }
      if (writes_leaf && !writes_gradient) return true;
    }
    return false;
  }

  const Recorder& recorder_;
  StepGraph graph_;
  std::unique_ptr<Program> program_;
  std::unordered_map<const AutogradState*, int> leaf_buffers_;
};

/// Leaf gradients that the function sets or adds to. `now` has what slot i of `recorded` holds in the
/// recording that becomes the program.
std::vector<ChangedGradient> changed_gradients(const Recorder& recorded, const std::vector<int>& now) {
  std::vector<ChangedGradient> changed;
  for (size_t i = 0; i < recorded.leaf_slots().size(); ++i) {
    const LeafSlot& slot = recorded.leaf_slots()[i];
    bool only_read = slot.reads_before && slot.found.handle() == slot.now.handle();
    if (!only_read) changed.push_back({slot.leaf, now[i], slot.reads_before});
  }
  return changed;
}

FunctionValues values_of(Recorder& recorded, const std::vector<Tensor>& results) {
  FunctionValues values;
  for (const Tensor& tensor : results) values.results.push_back(recorded.value_of(tensor));
  for (const LeafSlot& slot : recorded.leaf_slots()) values.gradients.push_back(recorded.value_of(slot.now));
  return values;
}

}  // namespace

const Tensor& Program::input(std::span<const Tensor> given, int number) const {
  if (number < arguments) return given[size_t(number)];
  return leaf_gradient(gradient_inputs[size_t(number - arguments)]);
}

int Program::pieces_of(size_t step) const {
  for (const PieceLoop& loop : loops)
    if (int(step) >= loop.first && int(step) < loop.end) return loop.pieces;
  return 1;
}

std::vector<size_t> Program::run_order() const {
  std::vector<size_t> order;
  size_t step = 0;
  const auto run_until = [&](int end) {
    for (; step < size_t(end); ++step) order.push_back(step);
  };
  for (const PieceLoop& loop : loops) {
    run_until(loop.first);
    for (int piece = 0; piece < loop.pieces; ++piece) {
      step = size_t(loop.first);
      run_until(loop.end);
    }
  }
  run_until(int(steps.size()));
  return order;
}

CapturedWrites Program::captured_writes() const {
  CapturedWrites writes{{}, steps.size()};
  for (size_t i = steps.size(); i-- > 0;)
    for (int value : mutated_values(steps[i])) {
      const auto& storage = buffer_of(value).storage;
      if (!storage) continue;
      writes.first_step = i;
      if (std::find(writes.storages.begin(), writes.storages.end(), storage) == writes.storages.end())
        writes.storages.push_back(storage);
    }
  return writes;
}

std::unique_ptr<Program> build_program(Recorder& recorded, const std::vector<Tensor>& outputs,
                                       std::span<const Tensor> arguments, bool fuse) {
  const FunctionValues values = values_of(recorded, outputs);
  FusedRecording fused;
  if (fuse) fused = fuse_forward(recorded, values);
  const FunctionValues& last = fused.recorder ? fused.values : values;
  Builder builder(fused.recorder ? *fused.recorder : recorded, int(arguments.size()), fused.applied);
  builder.add_results(last.results);
  builder.add_gradients(changed_gradients(recorded, last.gradients));
  return builder.build(fuse, rows_of_call(arguments));
}

}  // namespace treadle

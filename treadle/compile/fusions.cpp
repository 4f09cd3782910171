#include "treadle/compile/fusions.h"

#include <algorithm>
#include <unordered_map>

#include "treadle/core/error.h"
#include "treadle/core/log.h"
#include "treadle/graph/op.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace {

/// Whether the step's results carry a gradient back to its operands.
bool gradient_flows(const RecordedStep& step) {
  return step.gradient_mode && std::count(step.flows.begin(), step.flows.end(), true) > 0;
}

/// A recording whose chains are being replaced; steps that a fusion took up are gone from `events`.
class ChainFinder {
 public:
  ChainFinder(const Recorder& recorded, const std::vector<int>& outputs) : recorded_(recorded) {
    bool backward = false;
    for (const RecordedEvent& event : recorded.events()) {
      auto* step = std::get_if<RecordedStep>(&event);
      if (!step || !step->derived) events_.push_back(event);
      backward |= !step;
    }
    if (!backward) drop_gradients();
    outputs_ = outputs;
  }

  void fuse_all() {
    bool changed = true;
    while (changed) {
      changed = false;
      count_references();
      for (size_t i = 0; i < events_.size() && !changed; ++i)
        for (const ChainFusion& fusion : registry().chain_fusions())
          if (fuse_at(i, fusion)) {
            changed = true;
            break;
          }
    }
  }

  const std::vector<RecordedEvent>& events() const { return events_; }
  const std::vector<std::string>& applied() const { return applied_; }

 private:
  /// A program's results carry no gradient: where it does not call backward(), nobody needs one. Makes the
  /// steps what they would be without gradient mode.
  void drop_gradients() {
    for (RecordedEvent& event : events_) {
      auto& step = std::get<RecordedStep>(event);
      step.gradient_mode = false;
      for (size_t i = 0; i < step.flows.size(); ++i) step.flows[i] = step.flows[i] && step.leaves[i];
    }
  }

  int buffer_of(int value) const { return recorded_.values()[value].buffer; }

  void refer(int value) {
    if (value != kNoValue) ++references_[buffer_of(value)];
  }

  void count_references() {
    references_.assign(recorded_.buffers().size(), 0);
    for (const RecordedEvent& event : events_) {
      if (auto* step = std::get_if<RecordedStep>(&event)) {
        for (int value : step->inputs) refer(value);
        for (int value : step->outputs) refer(value);
        continue;
      }
      auto& backward = std::get<RecordedBackward>(event);
      refer(backward.root), refer(backward.upstream);
      for (auto& [leaf, value] : backward.before) refer(value);
      for (auto& [leaf, value] : backward.after) refer(value);
    }
    for (int value : outputs_) refer(value);
  }

  const RecordedStep* step_at(size_t index) const { return std::get_if<RecordedStep>(&events_[index]); }

  /// The step that alone reads what `step` makes, as its input 0; -1 when there is none.
  int sole_reader(size_t index) const {
    const RecordedStep& step = *step_at(index);
    if (step.outputs.empty() || step.outputs[0] == kNoValue) return -1;
    if (references_[buffer_of(step.outputs[0])] != 2) return -1;
    for (size_t next = index + 1; next < events_.size(); ++next) {
      const RecordedStep* reader = step_at(next);
      if (reader && !reader->inputs.empty() && reader->inputs[0] == step.outputs[0]) return int(next);
    }
    return -1;
  }

  /// Whether the gradient flows on as it does where the chain begins, and through the chain: not into a leaf
  /// that was made of a result in the middle.
  bool same_flow(const RecordedStep& first, const RecordedStep& next) const {
    return first.gradient_mode == next.gradient_mode && next.flows[0] == gradient_flows(first) &&
           !next.leaves[0];
  }

  /// Whether nobody needs more of a step than its output 0.
  bool only_first_output(const RecordedStep& step) const {
    for (size_t k = 1; k < step.outputs.size(); ++k)
      if (step.outputs[k] != kNoValue && references_[buffer_of(step.outputs[k])] > 1) return false;
    return true;
  }

  /// Whether a step between the two writes what the first one reads.
  bool overwritten(size_t first, size_t last) const {
    for (size_t i = first + 1; i < last; ++i) {
      const RecordedStep* step = step_at(i);
      if (!step) continue;
      for (int written : mutated_values(*step))
        for (int value : step_at(first)->inputs)
          if (value != kNoValue && buffer_of(value) == buffer_of(written)) return true;
    }
    return false;
  }

  bool fuse_at(size_t begin, const ChainFusion& fusion) {
    std::vector<size_t> places;
    for (size_t i = 0, at = begin; i < fusion.chain.size(); ++i) {
      const RecordedStep* step = step_at(at);
      if (!step || step->op != &fusion.chain[i]() || is_pinned(*step->op)) return false;
      if (i > 0 && !same_flow(*step_at(begin), *step)) return false;
      if (!only_first_output(*step)) return false;
      places.push_back(at);
      if (i + 1 == fusion.chain.size()) break;
      int next = sole_reader(at);
      if (next < 0) return false;
      at = size_t(next);
    }
    if (overwritten(places.front(), places.back())) return false;
    MatchedChain chain{{}, gradient_flows(*step_at(begin))};
    for (size_t at : places) chain.attributes.push_back(&step_at(at)->attributes);
    auto fused = fusion.fuse(chain);
    if (fused) replace(places, *fused);
    return fused.has_value();
  }

  void replace(const std::vector<size_t>& places, const FusedCall& fused) {
    RecordedStep step = *step_at(places.front());
    std::string name = step.op->name;
    for (size_t i = 1; i < places.size(); ++i) name += " + " + step_at(places[i])->op->name;
    applied_.push_back(name + " → " + fused.op->name);
    step.op = fused.op;
    step.attributes = fused.attributes;
    step.outputs = {step_at(places.back())->outputs[0]};
    step.results = {step_at(places.back())->results[0]};
    events_[places.back()] = std::move(step);
    for (size_t i = places.size() - 1; i-- > 0;) events_.erase(events_.begin() + int64_t(places[i]));
  }

  const Recorder& recorded_;
  std::vector<int> outputs_;
  std::vector<RecordedEvent> events_;
  std::vector<int> references_;  ///< by buffer
  std::vector<std::string> applied_;
};

/// What follows a chain cannot be recorded again once it is fused, such as a view of another layout.
struct NotFusible : Error {
  using Error::Error;
};

/// Runs the events of one recording again, into another.
class Rewriter {
 public:
  Rewriter(const Recorder& from, Recorder& into)
      : from_(from), into_(into), mapped_(from.values().size()), bases_(from.buffers().size(), kNoValue) {
    into.adopt_inputs(from);
  }

  void run(const std::vector<RecordedEvent>& events) {
    RecordingScope scope(into_);
    for (const RecordedEvent& event : events)
      if (auto* step = std::get_if<RecordedStep>(&event))
        run(*step);
      else
        run(std::get<RecordedBackward>(event));
  }

  Tensor map(int value) {
    if (value == kNoValue) return {};
    if (mapped_[value].defined()) return mapped_[value];
    const RecordedValue& recorded = from_.values()[value];
    if (from_.buffers()[recorded.buffer].kind != RecordedBuffer::Kind::result)
      return mapped_[value] = recorded.tensor;
    return mapped_[value] = bases_[recorded.buffer] == kNoValue ? fresh(value) : alias(value);
  }

 private:
  /// Memory that no step has made: it is filled in place.
  Tensor fresh(int value) {
    const RecordedValue& recorded = from_.values()[value];
    bases_[recorded.buffer] = value;
    return Tensor::symbolic(recorded.spec.shape, recorded.spec.strides, recorded.spec.dtype,
                            recorded.tensor.device(), recorded.tensor.handle()->storage->origin());
  }

  /// Another view of a buffer that a mapped tensor lies in.
  Tensor alias(int value) {
    const RecordedValue& recorded = from_.values()[value];
    const RecordedValue& base = from_.values()[bases_[recorded.buffer]];
    const Tensor& tensor = mapped_[bases_[recorded.buffer]];
    if (!(tensor.strides() == base.spec.strides) || tensor.dtype() != recorded.spec.dtype)
      throw NotFusible(fmt::format("a view {} of '{}' would have another layout", recorded.spec.shape,
                                   recorded.tensor.handle()->storage->origin()));
    return tensor.alias(recorded.spec.shape, recorded.spec.strides, recorded.offset - base.offset);
  }

  void bind(int value, const Tensor& tensor) {
    if (value == kNoValue) return;
    mapped_[value] = tensor;
    bases_[from_.values()[value].buffer] = value;
  }

  Tensor input(const RecordedStep& step, size_t i) {
    if (step.inputs[i] == kNoValue) return {};
    if (step.flows[i]) return in_graph(step.inputs[i], step.states[i], bool(step.leaves[i]));
    Tensor tensor = map(step.inputs[i]);
    return tensor.requires_grad() ? tensor.detach() : tensor;
  }

  /// One value may be known under several places in the graph: itself, a leaf made of it, a view.
  Tensor in_graph(int value, const IntrusivePtr<AutogradState>& state, bool is_leaf) {
    if (is_leaf) return as_leaf(map(value), state);
    auto found = in_graph_.find(state.get());
    require<NotFusible>(found != in_graph_.end(), "the gradient of a tensor {} would be lost",
                        from_.values()[value].spec.shape);
    return found->second;
  }

  void run(const RecordedStep& step) {
    std::optional<NoGrad> no_grad;
    if (!step.gradient_mode) no_grad.emplace();
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < step.inputs.size(); ++i) inputs.push_back(input(step, i));
    if (!step.op->mutates.empty()) return apply_in_place(*step.op, inputs, step.attributes);
    auto outputs = apply(*step.op, inputs, step.attributes);
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      bind(step.outputs[k], outputs[k]);
      if (auto& state = step.results[k].handle()->autograd) in_graph_[state.get()] = outputs[k];
    }
  }

  void run(const RecordedBackward& backward) {
    for (auto& [leaf, value] : backward.before) into_.gradient_of(leaf, {}) = map(value);
    Tensor root = in_graph(backward.root, backward.root_state, backward.root_is_leaf);
    root.backward(map(backward.upstream), backward.retain_graph);
    for (auto& [leaf, value] : backward.after) {
      const Tensor& gradient = into_.gradient_of(leaf, {});
      require<NotFusible>(gradient.defined() == (value != kNoValue), "a leaf would have another gradient");
      bind(value, gradient);
    }
  }

  const Recorder& from_;
  Recorder& into_;
  std::vector<Tensor> mapped_;  ///< by value
  std::vector<int> bases_;      ///< by buffer: a value of it that is mapped
  std::unordered_map<const AutogradState*, Tensor> in_graph_;
};

std::vector<int> values_of(const std::vector<Tensor>& tensors, const Recorder& recorded) {
  std::vector<int> values;
  for (const Tensor& tensor : tensors) values.push_back(const_cast<Recorder&>(recorded).value_of(tensor));
  return values;
}

}  // namespace

FusedRecording fuse_forward(const Recorder& recorded, const std::vector<Tensor>& outputs) {
  auto output_values = values_of(outputs, recorded);
  std::vector<Tensor> gradients;
  for (const LeafSlot& slot : recorded.leaf_slots()) gradients.push_back(slot.now);
  auto gradient_values = values_of(gradients, recorded);
  auto kept = output_values;
  kept.insert(kept.end(), gradient_values.begin(), gradient_values.end());
  ChainFinder finder(recorded, kept);
  finder.fuse_all();
  FusedRecording fused;
  if (finder.applied().empty()) return fused;
  try {
    auto recorder = std::make_unique<Recorder>(false);
    Rewriter rewriter(recorded, *recorder);
    rewriter.run(finder.events());
    for (int value : output_values) fused.outputs.push_back(rewriter.map(value));
    for (int value : gradient_values) fused.gradients.push_back(rewriter.map(value));
    fused.applied = finder.applied();
    fused.recorder = std::move(recorder);
  } catch (const Error& reason) {
    log_once(LogLevel::warning, fmt::format("a compiled function keeps its ops unfused: {}", reason.what()));
    return {};
  }
  return fused;
}

}  // namespace treadle

// Two neighbouring pointwise steps, chains among them, become one chain where the first one's result is for
// the second alone. Of a whole expression one chain is left in the end, also where its steps read a result
// several times: whoever makes it then has one reader, the chain.
#include <algorithm>
#include <set>

#include "treadle/graph/registry.h"
#include "treadle/ops/pointwise/pointwise_chain.h"

namespace treadle {
namespace {

/// Filled while ops are registered, and then only read.
std::set<std::string>& members() {
  static auto& names = *new std::set<std::string>;
  return names;
}

bool is_member(const Step& step) { return members().count(step.op->name) > 0 && !is_pinned(*step.op); }

/// The step as a chain; its inputs are the step's.
PointwiseChain chain_of(const Step& step) {
  if (step.op == &pointwise_chain_op()) return step.attributes.as<PointwiseChain>();
  ChainStep only{step.op->name, step.attributes, {}};
  for (size_t i = 0; i < step.inputs.size(); ++i) only.operands.push_back(int(i));
  return {int(step.inputs.size()), {only}};
}

bool same_layout(const TensorSpec& a, const TensorSpec& b) {
  return a.shape == b.shape && a.strides == b.strides && a.dtype == b.dtype;
}

/// The dtype that all floating operands of a step have; none where an operand is of integers, or where they
/// differ.
std::optional<DType> floating_dtype(const StepGraph& graph, const Step& step) {
  std::optional<DType> found;
  for (int value : step.inputs) {
    const DType dtype = graph.spec(value).dtype;
    if (dtype == DType::boolean) continue;
    if (!is_floating(dtype) || (found && *found != dtype)) return {};
    found = dtype;
  }
  return found;
}

/// Builds the chain of two: inputs are values, each once.
class Merged {
 public:
  Merged(const StepGraph& graph, const Step& first, const Step& second) {
    add_inputs(graph, first.inputs, kNoValue);
    add_inputs(graph, second.inputs, first.outputs[0]);
    // The first input is a floating one: it says what the chain computes in.
    for (size_t i = 0; i < values_.size(); ++i)
      if (is_floating(graph.spec(values_[i]).dtype)) {
        std::swap(values_[0], values_[i]);
        break;
      }
    const int result = add_steps(chain_of(first), first.inputs, kNoValue);
    add_steps(chain_of(second), second.inputs, result);
  }

  PointwiseChain chain() const { return {int(values_.size()), steps_}; }
  const std::vector<int>& values() const { return values_; }

 private:
  void add_inputs(const StepGraph& graph, const std::vector<int>& inputs, int inner) {
    for (int value : inputs) {
      const bool is_inner = inner != kNoValue && graph.buffer_of(value) == graph.buffer_of(inner);
      if (is_inner) inner_.insert(value);
      if (!is_inner && std::count(values_.begin(), values_.end(), value) == 0) values_.push_back(value);
    }
  }

  /// The operand that stands for a value: an input, or the result of the first chain.
  int operand_for(int value, int result) const {
    if (inner_.count(value) && result != kNoValue) return result;
    return int(std::find(values_.begin(), values_.end(), value) - values_.begin());
  }

  /// `result`: the operand that stands for the first chain's result, in the second. Returns that of these
  /// steps.
  int add_steps(const PointwiseChain& chain, const std::vector<int>& inputs, int result) {
    const int begin = int(values_.size() + steps_.size());
    for (ChainStep step : chain.steps()) {
      for (int& operand : step.operands)
        operand = operand < chain.inputs() ? operand_for(inputs[size_t(operand)], result)
                                           : begin + operand - chain.inputs();
      steps_.push_back(std::move(step));
    }
    return int(values_.size() + steps_.size()) - 1;
  }

  std::vector<int> values_;
  std::set<int> inner_;  ///< values that are the first step's result
  std::vector<ChainStep> steps_;
};

/// Whether `second` reads the result of `first` as it lies, and makes as many elements: none is computed
/// twice.
bool read_whole(const StepGraph& graph, const Step& first, const Step& second) {
  const int result = first.outputs[0];
  if (!(graph.spec(result).shape == graph.spec(second.outputs[0]).shape)) return false;
  return std::all_of(second.inputs.begin(), second.inputs.end(), [&](int value) {
    return graph.buffer_of(value) != graph.buffer_of(result) ||
           (graph.offset_of(value) == graph.offset_of(result) &&
            same_layout(graph.spec(value), graph.spec(result)));
  });
}

bool same_dtype(const StepGraph& graph, const Step& first, const Step& second) {
  const auto dtype = floating_dtype(graph, first);
  // A step that reads conditions alone would be of bools.
  return dtype && floating_dtype(graph, second) == dtype;
}

std::string names_of(const PointwiseChain& chain) {
  std::string names;
  for (const ChainStep& step : chain.steps()) names += (names.empty() ? "" : " + ") + step.op;
  return names;
}

std::optional<std::string> fuse(StepGraph& graph, size_t at) {
  const Step& first = graph[at];
  const bool may_begin = is_member(first) && !is_pinned(pointwise_chain_op());
  const int64_t next = may_begin ? graph.sole_reader_of(at) : -1;
  if (next < 0 || !is_member(graph[size_t(next)])) return {};
  const Step& second = graph[size_t(next)];
  if (!read_whole(graph, first, second) || !same_dtype(graph, first, second)) return {};
  if (graph.writes_between(at + 1, size_t(next), first.inputs)) return {};
  const Merged merged(graph, first, second);
  const PointwiseChain chain = merged.chain();
  if (!chain.fits()) return {};
  graph.replace(size_t(next),
                {&pointwise_chain_op(), Attributes::of(chain), merged.values(), second.outputs});
  graph.erase(at);
  return names_of(chain) + " → pointwise_chain";
}

}  // namespace

void add_to_chains(Registry& registry, const std::string& op) {
  members().insert(op);
  registry.add_fusion(StepFusion{{[op]() -> const Op& { return op_named(op); }}, fuse, true});
}

namespace ops {

/// Members say so themselves.
void register_pointwise_chain_fusions(Registry&) {}

}  // namespace ops
}  // namespace treadle

#include "treadle/compile/declared_fusions.h"

#include <algorithm>

#include "treadle/graph/op.h"

namespace treadle {
namespace {

bool is_ruled_out(const StepFusion& fusion) {
  return std::any_of(fusion.ops.begin(), fusion.ops.end(),
                     [](const OpHandle& op) { return is_pinned(op()); });
}

/// Applies the fusion where it fits first; false where it fits nowhere.
bool apply_once(const StepFusion& fusion, StepGraph& graph, std::vector<std::string>& applied) {
  const Op& first = fusion.ops.front()();
  for (size_t at = 0; at < graph.size(); ++at) {
    if (graph[at].op != &first) continue;
    if (auto what = fusion.fuse(graph, at)) {
      applied.push_back(*what);
      return true;
    }
  }
  return false;
}

/// Each may make room for another; the first that fits anywhere is taken, hence the last ones when no other
/// does.
bool apply_any(const std::vector<StepFusion>& fusions, StepGraph& graph, std::vector<std::string>& applied) {
  for (const StepFusion& fusion : fusions)
    if (!is_ruled_out(fusion) && apply_once(fusion, graph, applied)) return true;
  return false;
}

/// Finds a chain in a recorded graph and puts one step in its place.
class ChainMatch {
 public:
  ChainMatch(const ChainFusion& fusion, RecordedGraph& graph, size_t begin)
      : fusion_(fusion), graph_(graph), steps_(graph.steps), begin_(begin) {}

  std::optional<std::string> fuse() {
    if (!find_links()) return {};
    const auto fused = fusion_.fuse(matched());
    if (!fused || (fused->further < 0 && has_further()) || !find_target()) return {};
    const std::string text = description(*fused);
    replace(*fused);
    return text;
  }

 private:
  /// A step of the chain, and which of its operands is what the step before made.
  struct Link {
    size_t at;
    size_t operand;
  };

  bool find_links() {
    int64_t at = int64_t(begin_);
    for (const OpHandle& op : fusion_.chain) {
      if (at < 0 || steps_[size_t(at)].op != &op() || !add_link(size_t(at))) return false;
      at = steps_.sole_reader_of(size_t(at));
    }
    return true;
  }

  bool add_link(size_t at) {
    if (at == begin_) {
      links_.push_back({at, 0});
      return fusion_.keeps_outputs || only_first_output(steps_[at]);
    }
    const auto operand = operand_from_last(at);
    if (!operand || !flows_on(at, *operand) || !only_first_output(steps_[at])) return false;
    links_.push_back({at, *operand});
    return true;
  }

  /// The operand that is what the step before makes, as the same view; none where it is read twice.
  std::optional<size_t> operand_from_last(size_t at) const {
    const size_t last = links_.back().at;
    const std::vector<int>& inputs = steps_[at].inputs;
    const auto found = std::find(inputs.begin(), inputs.end(), steps_[last].outputs[0]);
    if (found == inputs.end() || steps_.readers_of(last).size() != 1) return {};
    const size_t operand = size_t(found - inputs.begin());
    if (operand > 0 && !fusion_.any_operand) return {};
    return operand;
  }

  /// Whether the gradient flows on as it does in the step before: not into a leaf that was made of a result
  /// in the middle.
  bool flows_on(size_t at, size_t operand) const {
    const StepRecord &last = graph_.records[links_.back().at], &next = graph_.records[at];
    return last.gradient_mode == next.gradient_mode && next.flows[operand] == last.gradient_flows() &&
           !next.leaves[operand];
  }

  /// Whether nobody needs more of a step than its output 0.
  bool only_first_output(const Step& step) const {
    for (size_t k = 1; k < step.outputs.size(); ++k)
      if (step.outputs[k] != kNoValue && steps_.mentions(step.outputs[k]) > 1) return false;
    return true;
  }

  /// Calls visit(step, operand) for what the chain reads beside results in it and the first step's operands.
  template <class Visit>
  void each_further(Visit visit) const {
    for (size_t i = 1; i < links_.size(); ++i)
      for (size_t k = 0; k < steps_[links_[i].at].inputs.size(); ++k)
        if (k != links_[i].operand) visit(links_[i].at, k);
  }
  std::vector<int> further_values() const {
    std::vector<int> values;
    each_further([&](size_t at, size_t operand) { values.push_back(steps_[at].inputs[operand]); });
    return values;
  }
  bool has_further() const { return !further_values().empty(); }

  MatchedChain matched() const {
    MatchedChain chain{{}, graph_.records[begin_].gradient_flows()};
    for (const Link& link : links_) chain.attributes.push_back(&steps_[link.at].attributes);
    const std::vector<int>& operands = steps_[begin_].inputs;
    chain.operands = int(operands.size());
    while (chain.operands > 0 && operands[size_t(chain.operands - 1)] == kNoValue) --chain.operands;
    chain.result = steps_.spec(steps_[links_.back().at].outputs[0]);
    for (int value : further_values())
      chain.further.push_back(value == kNoValue ? TensorSpec::of(Tensor()) : steps_.spec(value));
    return chain;
  }

  /// The step that the fused one replaces: the last, unless outputs of the first are read before it. What it
  /// reads at another place than before nobody may make or write in between.
  bool find_target() {
    const size_t last = links_.back().at;
    target_ = only_first_output(steps_[begin_]) ? last : begin_;
    if (target_ == last) return !steps_.writes_between(begin_ + 1, last, steps_[begin_].inputs);
    const std::vector<int> further = further_values();
    return std::all_of(further.begin(), further.end(),
                       [&](int value) { return steps_.last_write(value, last) < int64_t(begin_); });
  }

  std::string description(const FusedCall& fused) const {
    std::string text;
    for (const Link& link : links_) text += (text.empty() ? "" : " + ") + steps_[link.at].op->name;
    return text + " → " + fused.op->name;
  }

  void replace(const FusedCall& fused) {
    const size_t last = links_.back().at;
    Step step{fused.op, fused.attributes, steps_[begin_].inputs, steps_[begin_].outputs};
    StepRecord record = graph_.records[begin_];
    step.outputs[0] = steps_[last].outputs[0];
    record.results[0] = graph_.records[last].results[0];
    if (target_ == last) step.outputs.resize(1), record.results.resize(1);
    if (has_further()) add_further(size_t(fused.further), step, record);
    steps_.replace(target_, std::move(step));
    graph_.records[target_] = std::move(record);
    for (size_t i = links_.size(); i-- > 0;)
      if (links_[i].at != target_) graph_.erase(links_[i].at);
  }

  void add_further(size_t first, Step& step, StepRecord& record) const {
    step.inputs.resize(first, kNoValue);
    record.flows.resize(first);
    record.leaves.resize(first);
    record.states.resize(first);
    each_further([&](size_t at, size_t operand) {
      const StepRecord& from = graph_.records[at];
      step.inputs.push_back(steps_[at].inputs[operand]);
      record.flows.push_back(from.flows[operand]);
      record.leaves.push_back(from.leaves[operand]);
      record.states.push_back(from.states[operand]);
    });
  }

  const ChainFusion& fusion_;
  RecordedGraph& graph_;
  StepGraph& steps_;
  size_t begin_;
  std::vector<Link> links_;
  size_t target_ = 0;
};

}  // namespace

std::vector<std::string> apply_fusions(const std::vector<StepFusion>& fusions, StepGraph& graph) {
  std::vector<std::string> applied;
  while (apply_any(fusions, graph, applied)) {
  }
  return applied;
}

StepFusion as_step_fusion(const ChainFusion& fusion, RecordedGraph& graph) {
  return {fusion.chain,
          [&fusion, &graph](StepGraph&, size_t at) { return ChainMatch(fusion, graph, at).fuse(); }};
}

}  // namespace treadle

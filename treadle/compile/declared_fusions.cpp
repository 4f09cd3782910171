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
    if (!find_places() || steps_.writes_between(begin_ + 1, places_.back(), steps_[begin_].inputs)) return {};
    MatchedChain chain{{}, graph_.records[begin_].gradient_flows()};
    for (size_t at : places_) chain.attributes.push_back(&steps_[at].attributes);
    const auto fused = fusion_.fuse(chain);
    if (!fused) return {};
    const std::string text = description(*fused);
    replace(*fused);
    return text;
  }

 private:
  bool find_places() {
    int64_t at = int64_t(begin_);
    for (const OpHandle& op : fusion_.chain) {
      if (at < 0 || steps_[size_t(at)].op != &op() || !continues(size_t(at))) return false;
      places_.push_back(size_t(at));
      at = steps_.sole_reader_of(size_t(at));
    }
    return true;
  }

  bool continues(size_t at) const {
    return only_first_output(steps_[at]) && (at == begin_ || (reads_last(at) && flows_on(at)));
  }

  /// Whether it reads what the step before makes as its input 0 and nowhere else, as the same view.
  bool reads_last(size_t at) const {
    return steps_[at].inputs[0] == steps_[places_.back()].outputs[0] &&
           steps_.readers_of(places_.back()).size() == 1;
  }

  /// Whether the gradient flows on as it does where the chain begins, and through the chain: not into a leaf
  /// that was made of a result in the middle.
  bool flows_on(size_t at) const {
    const StepRecord &first = graph_.records[begin_], &next = graph_.records[at];
    return first.gradient_mode == next.gradient_mode && next.flows[0] == first.gradient_flows() &&
           !next.leaves[0];
  }

  /// Whether nobody needs more of a step than its output 0.
  bool only_first_output(const Step& step) const {
    for (size_t k = 1; k < step.outputs.size(); ++k)
      if (step.outputs[k] != kNoValue && steps_.mentions(step.outputs[k]) > 1) return false;
    return true;
  }

  std::string description(const FusedCall& fused) const {
    std::string text;
    for (size_t at : places_) text += (text.empty() ? "" : " + ") + steps_[at].op->name;
    return text + " → " + fused.op->name;
  }

  void replace(const FusedCall& fused) {
    const size_t last = places_.back();
    StepRecord record = graph_.records[begin_];
    record.results = {graph_.records[last].results[0]};
    graph_.records[last] = std::move(record);
    steps_.replace(last, {fused.op, fused.attributes, steps_[begin_].inputs, {steps_[last].outputs[0]}});
    for (size_t i = places_.size() - 1; i-- > 0;) graph_.erase(places_[i]);
  }

  const ChainFusion& fusion_;
  RecordedGraph& graph_;
  StepGraph& steps_;
  size_t begin_;
  std::vector<size_t> places_;
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

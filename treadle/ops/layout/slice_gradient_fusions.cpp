/// Gradients of slices that cover a tensor are added up by writing them one after another: what a projection
/// cut into queries, keys and values gets.
#include <fmt/core.h>

#include <algorithm>

#include "treadle/graph/op.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/concat_options.h"
#include "treadle/ops/layout/slice_gradient.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

const Op& slice_gradient_op() { return op_named("slice_gradient"); }
const Op& concat_op() { return op_named("concat"); }

/// The positions along the axis that a slice_gradient writes.
struct Part {
  size_t step;
  int value;  ///< what it writes there
  int64_t begin, end;
};

/// The steps of a sum of slice_gradients, from the first two on.
class SlicedSum {
 public:
  SlicedSum(StepGraph& graph, size_t first) : graph_(graph), sum_(int64_t(first)) {
    options_ = options_of(first);
    axis_ = axis_of(options_);
  }

  std::optional<std::string> fuse() {
    if (!add_part(size_t(sum_))) return {};
    while (!is_covered())
      if (!follow_sum()) return {};
    if (sums_.empty() || !may_be_written_late() || !lies_as_concat()) return {};
    const size_t parts = parts_.size();
    replace();
    return fmt::format("{} slice_gradient + add → concat", parts);
  }

 private:
  SliceGradientOptions options_of(size_t step) const {
    return graph_[step].attributes.as<SliceGradientOptions>();
  }
  int64_t axis_of(const SliceGradientOptions& options) const {
    const int rank = graph_.spec(graph_[size_t(sum_)].outputs[0]).shape.rank();
    return options.axis < 0 ? options.axis + rank : options.axis;
  }

  bool add_part(size_t step) {
    const SliceGradientOptions options = options_of(step);
    const int value = graph_[step].inputs[0];
    if (options.step != 1 || axis_of(options) != axis_ || options.extent != options_.extent) return false;
    parts_.push_back({step, value, options.begin, options.begin + graph_.spec(value).shape[int(axis_)]});
    return true;
  }

  /// The sum of what there is and of one more slice_gradient, read by nobody else, as they lie.
  bool follow_sum() {
    const int64_t next = graph_.sole_reader_of(size_t(sum_));
    if (next < 0 || graph_[size_t(next)].op != &add_op()) return false;
    const std::vector<int>& added = graph_[size_t(next)].inputs;
    const int so_far = graph_[size_t(sum_)].outputs[0];
    const int other = added[0] == so_far ? added[1] : added[0];
    const int64_t maker = graph_.maker_of(other, size_t(next));
    if (std::count(added.begin(), added.end(), so_far) != 1 || maker < 0 ||
        graph_[size_t(maker)].op != &slice_gradient_op() || graph_[size_t(maker)].outputs[0] != other ||
        graph_.sole_reader_of(size_t(maker)) != next)
      return false;
    sum_ = next;
    sums_.push_back(size_t(next));
    return add_part(size_t(maker));
  }

  /// Each position once.
  bool is_covered() {
    std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
    int64_t end = 0;
    for (const Part& part : parts_) {
      if (part.begin != end) return false;
      end = part.end;
    }
    return end == options_.extent;
  }

  bool may_be_written_late() const {
    return std::none_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      return graph_.writes_between(part.step + 1, size_t(sum_), {part.value});
    });
  }

  std::vector<int> values() const {
    std::vector<int> values;
    for (const Part& part : parts_) values.push_back(part.value);
    return values;
  }

  /// Whether the sum has the layout that concat makes.
  bool lies_as_concat() const {
    std::vector<TensorSpec> specs;
    for (int value : values()) specs.push_back(graph_.spec(value));
    const TensorSpec made = concat_op().infer(specs, Attributes::of(ConcatOptions{axis_}))[0];
    const TensorSpec& sum = graph_.spec(graph_[size_t(sum_)].outputs[0]);
    return made.shape == sum.shape && made.strides == sum.strides;
  }

  void replace() {
    const Step concat{&concat_op(), Attributes::of(ConcatOptions{axis_}), values(),
                      graph_[size_t(sum_)].outputs};
    graph_.replace(size_t(sum_), concat);
    std::vector<size_t> gone = sums_;
    gone.pop_back();
    for (const Part& part : parts_) gone.push_back(part.step);
    std::sort(gone.rbegin(), gone.rend());
    for (size_t step : gone) graph_.erase(step);
  }

  StepGraph& graph_;
  int64_t sum_;               ///< the step that makes the sum so far
  std::vector<size_t> sums_;  ///< steps that add, the last of them `sum_`
  SliceGradientOptions options_;
  int64_t axis_;
  std::vector<Part> parts_;  ///< by position
};

std::optional<std::string> fuse(StepGraph& graph, size_t at) { return SlicedSum(graph, at).fuse(); }

}  // namespace

namespace ops {

void register_slice_gradient_fusions(Registry& registry) {
  registry.add_fusion(StepFusion{{slice_gradient_op, add_op}, fuse});
}

}  // namespace ops
}  // namespace treadle

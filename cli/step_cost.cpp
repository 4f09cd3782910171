#include "cli/step_cost.h"

#include <cmath>
#include <map>

#include "cli/timing.h"
#include "cli/variant_observer.h"
#include "treadle/core/error.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d_options.h"
#include "treadle/ops/pool2d/max_pool2d_options.h"

namespace treadle::cli {
namespace {

double elements(const TensorView& view) { return double(view.numel()); }

/// Terms of one output of a convolution: channels of a group × filter elements.
double filter_terms(const TensorView& w) { return elements(w) / double(w.shape[0]); }

/// a [B…,M,K] · b [B…,K,N]: the elements of a, b and c multiply to B³(MNK)².
double product_operations(const TensorView& a, const TensorView& b, const TensorView& c) {
  double batches = 1;
  for (int axis = 0; axis + 2 < c.shape.rank(); ++axis) batches *= double(c.shape[axis]);
  return 2 * std::sqrt(elements(a) * elements(b) * elements(c) / batches);
}

/// Places where the convolution below the pooling is evaluated, over all images and filters.
double places_below_pool(const Call& call) {
  const auto& o = call.options<Conv2dMaxPool2dOptions>();
  const TensorView &x = call.input(0), &w = call.input(1);
  const int64_t rows = window_positions(x.shape[2], o.padding.top, o.padding.bottom, w.shape[2],
                                        o.stride.height, o.dilation.height);
  const int64_t columns = window_positions(x.shape[3], o.padding.left, o.padding.right, w.shape[3],
                                           o.stride.width, o.dilation.width);
  return double(x.shape[0] * w.shape[0] * rows * columns);
}

double linear_operations(const Call& call) {
  return 2 * elements(call.output()) * double(call.input(1).shape[1]);
}

/// x [N, in], dy [N, out].
double layer_gradient_operations(const Call& call) {
  return 2 * elements(call.input(0)) * double(call.input(1).shape[1]);
}

double all_outputs(const Call& call) {
  double count = 0;
  for (const TensorView& view : call.outputs) count += elements(view);
  return count;
}

/// Twelve operations for each parameter and its two moments.
double adam_operations(const Call& call) { return 4 * all_outputs(call); }

using Rule = double (*)(const Call&);

const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> table = {
      {"conv2d", [](const Call& c) { return 2 * elements(c.output()) * filter_terms(c.input(1)); }},
      {"conv2d_input_gradient",
       [](const Call& c) { return 2 * elements(c.input(0)) * filter_terms(c.input(1)); }},
      {"conv2d_weight_gradient",
       [](const Call& c) { return 2 * elements(c.input(1)) * filter_terms(c.output()); }},
      {"conv2d_max_pool2d",
       [](const Call& c) { return 2 * places_below_pool(c) * filter_terms(c.input(1)); }},
      {"conv2d_max_pool2d_input_gradient",
       [](const Call& c) { return 2 * elements(c.input(0)) * filter_terms(c.input(2)); }},
      {"conv2d_max_pool2d_weight_gradient",
       [](const Call& c) { return 2 * elements(c.input(1)) * filter_terms(c.output()); }},
      {"matmul", [](const Call& c) { return product_operations(c.input(0), c.input(1), c.output()); }},
      {"linear", linear_operations},
      {"linear_relu", linear_operations},
      {"linear_input_gradient",
       [](const Call& c) { return product_operations(c.input(0), c.input(1), c.output()); }},
      {"linear_weight_gradient", layer_gradient_operations},
      {"linear_sgd_update", layer_gradient_operations},
      {"cross_entropy_with_gradient", [](const Call& c) { return 6 * elements(c.input(0)); }},
      {"adam_update", adam_operations},
      {"adam_update_all", adam_operations},
      {"max_pool2d",
       [](const Call& c) {
         const Pair kernel = c.options<MaxPool2dOptions>().kernel;
         return elements(c.output()) * double(kernel.height * kernel.width);
       }},
      {"sum", [](const Call& c) { return elements(c.input(0)); }},
      {"mean", [](const Call& c) { return elements(c.input(0)); }},
      {"cross_entropy", [](const Call& c) { return 5 * elements(c.input(0)); }},
  };
  return table;
}

/// Bytes of the elements that lie at addresses of their own.
double stored_bytes(const TensorView& view) {
  double count = 1;
  for (int axis = 0; axis < view.shape.rank(); ++axis)
    if (view.strides[axis] != 0) count *= double(view.shape[axis]);
  return count * double(size_of(view.dtype));
}

}  // namespace

double operations_of(const Op& op, const Call& call) {
  if (auto rule = rules().find(op.name); rule != rules().end()) return rule->second(call);
  return all_outputs(call);
}

double bytes_of(const Call& call) {
  double bytes = 0;
  for (const TensorView& view : call.inputs)
    if (view.defined()) bytes += stored_bytes(view);
  for (const TensorView& view : call.outputs) bytes += stored_bytes(view);
  return bytes;
}

std::vector<StepCost> costs_of(const std::function<void()>& step, int64_t runs) {
  std::vector<StepCost> costs;
  std::vector<std::vector<double>> seconds;
  size_t position = 0;
  bool first = true;
  ObserveVariants observe([&](const Op& op, const Variant& variant, const Call& call, double time) {
    if (first) {
      costs.push_back({op.name, variant.name, operations_of(op, call), bytes_of(call), 0});
      seconds.emplace_back();
    }
    require<ValueError>(position < costs.size() && costs[position].name == op.name,
                        "the step runs other ops than in its first run");
    seconds[position++].push_back(time);
  });
  for (int64_t i = 0; i < runs; ++i) {
    position = 0;
    step();
    require<ValueError>(position == costs.size(), "the step runs other ops than in its first run");
    first = false;
  }
  for (size_t i = 0; i < costs.size(); ++i) costs[i].seconds = quantile(seconds[i], 0.5);
  return costs;
}

}  // namespace treadle::cli

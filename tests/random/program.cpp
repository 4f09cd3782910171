#include "tests/random/program.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "tests/goldens/golden_numbers.h"
#include "treadle/core/error.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/index_select.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/loss/mse.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pool2d/avg_pool2d.h"
#include "treadle/ops/pool2d/max_pool2d.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"

namespace treadle::random_programs {
namespace {

using nlohmann::json;
using Inputs = std::vector<Tensor>;

constexpr const char* kKinds[] = {"parameter", "input", "indices"};

std::vector<int64_t> list_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

Dims dims_from(const json& list) {
  Dims dims;
  for (const json& value : list) dims.push_back(value.get<int64_t>());
  return dims;
}

Pair pair_from(const json& list) { return {list[0].get<int64_t>(), list[1].get<int64_t>()}; }

/// [height, width], the same at both ends.
Pads pads_from(const json& list) {
  const Pair p = pair_from(list);
  return {p.height, p.width, p.height, p.width};
}

Tensor convolve(const Inputs& x, const json& o) {
  Conv2dOptions options;
  options.stride = pair_from(o.at("stride")), options.padding = pads_from(o.at("padding"));
  options.dilation = pair_from(o.at("dilation")), options.groups = o.at("groups");
  return conv2d(x[0], x[1], x.size() > 2 ? x[2] : Tensor(), options);
}

MaxPool2dOptions max_pool_options(const json& o) {
  MaxPool2dOptions options;
  options.kernel = pair_from(o.at("kernel")), options.stride = pair_from(o.at("stride"));
  options.padding = pads_from(o.at("padding")), options.dilation = pair_from(o.at("dilation"));
  return options;
}

Tensor average(const Inputs& x, const json& o) {
  AvgPool2dOptions options;
  options.kernel = pair_from(o.at("kernel")), options.stride = pair_from(o.at("stride"));
  options.padding = pads_from(o.at("padding")), options.count_include_pad = o.at("count_include_pad");
  return avg_pool2d(x[0], options);
}

using Run = std::function<Tensor(const Inputs&, const json&)>;

Run unary(Tensor (*f)(const Tensor&)) {
  return [f](const Inputs& x, const json&) { return f(x[0]); };
}
template <class F>
Run binary(F f) {
  return [f](const Inputs& x, const json&) { return f(x[0], x[1]); };
}
Run reduction(Tensor (*f)(const Tensor&, const Dims&, bool)) {
  return [f](const Inputs& x, const json& o) { return f(x[0], dims_from(o.at("axes")), o.at("keep")); };
}
Run along_axis(Tensor (*f)(const Tensor&, int64_t)) {
  return [f](const Inputs& x, const json& o) { return f(x[0], o.at("axis")); };
}

/// The ops of steps. PyTorch's are in run_in_pytorch.py, under the same names.
const std::map<std::string, Run>& steps() {
  static const std::map<std::string, Run> all{
      {"neg", unary(neg)},
      {"abs", unary(abs)},
      {"exp", unary(exp)},
      {"log", unary(log)},
      {"sqrt", unary(sqrt)},
      {"relu", unary(relu)},
      {"sigmoid", unary(sigmoid)},
      {"tanh", unary(tanh)},
      {"gelu", unary(gelu)},
      {"silu", unary(silu)},
      {"leaky_relu", [](const Inputs& x, const json& o) { return leaky_relu(x[0], o.at("slope")); }},
      {"clamp",
       [](const Inputs& x, const json& o) {
         return clamp(x[0], o.at("low").get<double>(), o.at("high").get<double>());
       }},
      {"add_number", [](const Inputs& x, const json& o) { return x[0] + o.at("number").get<double>(); }},
      {"mul_number", [](const Inputs& x, const json& o) { return x[0] * o.at("number").get<double>(); }},
      {"add", binary(add)},
      {"sub", binary(sub)},
      {"mul", binary(mul)},
      {"div", binary(div)},
      {"maximum", binary(maximum)},
      {"minimum", binary(minimum)},
      {"where_greater", [](const Inputs& x, const json&) { return where(greater(x[0], x[1]), x[2], x[3]); }},
      {"reshape", [](const Inputs& x, const json& o) { return reshape(x[0], dims_from(o.at("shape"))); }},
      {"expand", [](const Inputs& x, const json& o) { return expand(x[0], dims_from(o.at("shape"))); }},
      {"permute", [](const Inputs& x, const json& o) { return permute(x[0], dims_from(o.at("axes"))); }},
      {"squeeze", along_axis(squeeze)},
      {"unsqueeze", along_axis(unsqueeze)},
      {"slice",
       [](const Inputs& x, const json& o) {
         return slice(x[0], o.at("axis"), o.at("begin"), o.at("end"), o.at("step"));
       }},
      {"contiguous", unary(contiguous)},
      {"channels_last", unary(to_channels_last)},
      {"clone", unary(clone)},
      {"concat", [](const Inputs& x, const json& o) { return concat(x, o.at("axis")); }},
      {"index_select", [](const Inputs& x, const json& o) { return index_select(x[0], o.at("axis"), x[1]); }},
      {"sum", reduction(sum)},
      {"mean", reduction(mean)},
      {"max", reduction(max)},
      {"min", reduction(min)},
      {"argmax",
       [](const Inputs& x, const json& o) { return cast(argmax(x[0], o.at("axis")), x[0].dtype()); }},
      {"softmax", along_axis(softmax)},
      {"log_softmax", along_axis(log_softmax)},
      {"matmul", binary(matmul)},
      {"linear",
       [](const Inputs& x, const json&) { return linear(x[0], x[1], x.size() > 2 ? x[2] : Tensor()); }},
      {"conv2d", convolve},
      {"max_pool2d", [](const Inputs& x, const json& o) { return max_pool2d(x[0], max_pool_options(o)); }},
      {"avg_pool2d", average},
      {"mse", [](const Inputs& x, const json& o) { return mse(x[0], x[1], o.at("reduction")); }},
      {"cross_entropy",
       [](const Inputs& x, const json& o) { return cross_entropy(x[0], x[1], o.at("reduction")); }}};
  return all;
}

constexpr double kSmooth = std::numeric_limits<double>::infinity();

double smallest_magnitude(const Tensor& x) {
  double smallest = kSmooth;
  for (double value : x.to_doubles()) smallest = std::min(smallest, std::fabs(value));
  return smallest;
}

/// Between the two largest of some values.
class Lead {
 public:
  void add(double value) {
    if (value > largest_) std::swap(value, largest_);
    second_ = std::max(second_, value);
  }
  double gap() const { return second_ == -kSmooth ? kSmooth : largest_ - second_; }

 private:
  double largest_ = -kSmooth, second_ = -kSmooth;
};

/// Between the largest two along `axes` (all for none), or the smallest two for a `sign` of −1.
double lead_along(const Tensor& x, Dims axes, double sign) {
  std::vector<bool> reduced(size_t(x.rank()), axes.empty());
  for (int64_t axis : axes) reduced[size_t(axis < 0 ? axis + x.rank() : axis)] = true;
  std::map<std::vector<int64_t>, Lead> leads;
  const auto values = x.to_doubles();
  for (size_t i = 0; i < values.size(); ++i) {
    std::vector<int64_t> kept;
    int64_t rest = int64_t(i);
    for (int axis = x.rank() - 1; axis >= 0; rest /= x.size(axis--))
      if (!reduced[size_t(axis)]) kept.push_back(rest % x.size(axis));
    leads[kept].add(sign * values[i]);
  }
  double smallest = kSmooth;
  for (auto& [place, lead] : leads) smallest = std::min(smallest, lead.gap());
  return smallest;
}

/// Smallest lead of the windows; 0 where one of them has no place.
double lead_in_windows(const Tensor& x, const json& o) {
  const MaxPool2dOptions p = max_pool_options(o);
  const Shape y = max_pool2d(x, p).shape();
  const auto values = x.to_doubles();
  const int64_t H = x.size(2), W = x.size(3);
  double smallest = kSmooth;
  for (int64_t window = 0; window < y.numel(); ++window) {
    const int64_t plane = window / (y[2] * y[3]),
                  top = window / y[3] % y[2] * p.stride.height - p.padding.top,
                  left = window % y[3] * p.stride.width - p.padding.left;
    Lead lead;
    int places = 0;
    for (int64_t r = 0; r < p.kernel.height; ++r)
      for (int64_t s = 0; s < p.kernel.width; ++s) {
        const int64_t h = top + r * p.dilation.height, w = left + s * p.dilation.width;
        if (h < 0 || h >= H || w < 0 || w >= W) continue;
        lead.add(values[size_t((plane * H + h) * W + w)]), ++places;
      }
    smallest = std::min(smallest, places == 0 ? 0 : lead.gap());
  }
  return smallest;
}

/// A view with the axes in reverse order.
Tensor reversed(const Tensor& x) {
  Dims axes;
  for (int axis = x.rank() - 1; axis >= 0; --axis) axes.push_back(axis);
  return permute(x, axes).detach();
}

}  // namespace

json to_json(const Program& program) {
  json leaves = json::array(), steps = json::array();
  for (const Leaf& leaf : program.leaves)
    leaves.push_back({{"kind", kKinds[int(leaf.kind)]},
                      {"shape", list_of(leaf.shape)},
                      {"scale", leaf.scale},
                      {"classes", leaf.classes},
                      {"seed", leaf.seed},
                      {"reversed", leaf.reversed}});
  for (const Step& step : program.steps)
    steps.push_back({{"op", step.op}, {"inputs", step.inputs}, {"options", step.options}});
  return {{"seed", program.seed}, {"leaves", leaves}, {"steps", steps}, {"results", program.results}};
}

Program program_from(const json& json) {
  Program program;
  program.seed = json.at("seed");
  for (const auto& leaf : json.at("leaves")) {
    const auto kind = std::find(std::begin(kKinds), std::end(kKinds), leaf.at("kind").get<std::string>());
    program.leaves.push_back({Leaf::Kind(kind - kKinds), dims_from(leaf.at("shape")), leaf.at("scale"),
                              leaf.at("classes"), leaf.at("seed"), leaf.at("reversed")});
  }
  for (const auto& step : json.at("steps"))
    program.steps.push_back({step.at("op"), step.at("inputs"), step.at("options")});
  program.results = json.at("results").get<std::vector<int>>();
  return program;
}

Tensor make_leaf(const Leaf& leaf, DType dtype, Device device) {
  if (leaf.kind == Leaf::Kind::indices)
    return to(goldens::label_tensor(leaf.seed, leaf.shape.numel(), leaf.classes), device);
  const Tensor x = to(cast(goldens::signed_tensor(leaf.seed, leaf.shape, float(leaf.scale)), dtype), device);
  return leaf.reversed ? reversed(contiguous(reversed(x))) : x;
}

std::vector<Tensor> make_leaves(const Program& program, DType dtype, Device device) {
  std::vector<Tensor> leaves;
  for (const Leaf& leaf : program.leaves) {
    leaves.push_back(make_leaf(leaf, dtype, device));
    if (leaf.is_parameter()) leaves.back().set_requires_grad();
  }
  return leaves;
}

std::vector<std::string> step_names() {
  std::vector<std::string> names;
  for (auto& [name, run] : steps()) names.push_back(name);
  return names;
}

Tensor run_step(const Step& step, const std::vector<Tensor>& inputs) {
  return steps().at(step.op)(inputs, step.options);
}

std::vector<Tensor> inputs_of(const Step& step, const std::vector<Tensor>& values) {
  std::vector<Tensor> inputs;
  for (int input : step.inputs) inputs.push_back(values[size_t(input)]);
  return inputs;
}

double distance_to_kink(const Step& step, const std::vector<Tensor>& x) {
  const json& o = step.options;
  if (step.op == "relu" || step.op == "leaky_relu" || step.op == "abs") return smallest_magnitude(x[0]);
  if (step.op == "clamp")
    return std::min(smallest_magnitude(x[0] - o.at("low").get<double>()),
                    smallest_magnitude(x[0] - o.at("high").get<double>()));
  if (step.op == "maximum" || step.op == "minimum" || step.op == "where_greater")
    return smallest_magnitude(x[0] - x[1]);
  if (step.op == "max" || step.op == "min")
    return lead_along(x[0], dims_from(o.at("axes")), step.op == "max" ? 1 : -1);
  if (step.op == "argmax") return lead_along(x[0], {o.at("axis").get<int64_t>()}, 1);
  if (step.op == "max_pool2d") return lead_in_windows(x[0], o);
  // Not kinks, but poles: what is near them loses all precision.
  if (step.op == "div") return smallest_magnitude(x[1]) / 100;
  if (step.op == "log" || step.op == "sqrt") {
    const auto values = x[0].to_doubles();
    return values.empty() ? kSmooth : *std::min_element(values.begin(), values.end()) / 100;
  }
  return kSmooth;
}

}  // namespace treadle::random_programs

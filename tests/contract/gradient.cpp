#include <cmath>
#include <random>

#include "tests/contract/contract.h"
#include "tests/contract/test_tensor.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/op.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle::contract {
namespace {

bool is_differentiated(const Trial& trial, size_t i) {
  const TestInput& input = trial.test_case.inputs[i];
  return input.defined && input.differentiable && is_floating(trial.input_dtypes[i]);
}

bool carries_gradient(const Trial& trial, const Tensor& output, size_t k) {
  for (int index : trial.op.not_differentiable)
    if (size_t(index) == k) return false;
  return is_floating(output.dtype());
}

bool any_differentiated(const Trial& trial) {
  for (size_t i = 0; i < trial.inputs.size(); ++i)
    if (is_differentiated(trial, i)) return true;
  return false;
}

enum class Signs : uint8_t { given, positive };

/// Upstream gradients of all outputs, uneven and rounded to the dtype under test.
std::vector<double> upstream_of(const Trial& trial, size_t k, Signs signs) {
  auto values = uneven(trial.expected[k].shape.numel(), 31 + k);
  for (double& value : values) value = rounded(value, is_floating(trial.dtype) ? trial.dtype : DType::f32);
  if (signs == Signs::positive)
    for (double& value : values) value = std::fabs(value);
  return values;
}

constexpr size_t kAll = SIZE_MAX;

/// Gradients of Σ upstream·output with respect to the inputs, or to input number `only`; empty for those not
/// differentiated.
std::vector<std::vector<double>> gradients_of(const Trial& trial, Device device, Signs signs = Signs::given,
                                              size_t only = kAll) {
  auto inputs = trial.tensors(device);
  auto is_wanted = [&](size_t i) { return is_differentiated(trial, i) && (only == kAll || only == i); };
  for (size_t i = 0; i < inputs.size(); ++i)
    if (is_wanted(i)) inputs[i].set_requires_grad();
  auto outputs = apply(trial.op, inputs, trial.test_case.attributes);
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!carries_gradient(trial, outputs[k], k)) continue;
    ReferenceTensor upstream{outputs[k].shape(), upstream_of(trial, k, signs)};
    outputs[k].backward(to_tensor(upstream, trial.layouts.upstream, outputs[k].dtype(), outputs[k].device()),
                        k + 1 < outputs.size());
  }
  std::vector<std::vector<double>> gradients(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_wanted(i)) continue;
    Tensor gradient = inputs[i].grad();
    gradients[i] =
        gradient.defined() ? gradient.to_doubles() : std::vector<double>(trial.inputs[i].values.size(), 0.0);
  }
  return gradients;
}

/// Σ upstream·reference(inputs).
double reference_loss(const Trial& trial, const std::vector<ReferenceTensor>& inputs) {
  auto outputs = trial.op.reference(inputs, trial.test_case.attributes);
  double loss = 0;
  for (size_t k = 0; k < outputs.size(); ++k) {
    bool skipped = false;
    for (int index : trial.op.not_differentiable) skipped |= size_t(index) == k;
    if (skipped) continue;
    auto upstream = upstream_of(trial, k, Signs::given);
    for (size_t e = 0; e < upstream.size(); ++e) loss += upstream[e] * outputs[k].values[e];
  }
  return loss;
}

std::vector<ReferenceTensor> moved(const Trial& trial, size_t i, const std::vector<double>& direction,
                                   double distance) {
  auto inputs = trial.inputs;
  for (size_t e = 0; e < direction.size(); ++e) inputs[i].values[e] += distance * direction[e];
  return inputs;
}

/// Central differences with step h have an error of about h²·f‴ from the formula and 2^-53·Σ|f|/h from
/// rounding: with h = 1e-6 both are below 1e-9 of the terms summed, for derivatives of moderate size. Allowed
/// is a thousand times that.
void check_direction(const Trial& trial, size_t i, const std::vector<double>& gradient, uint64_t seed,
                     Tally& tally) {
  constexpr double kStep = 1e-6, kAllowed = 1e-6;
  auto direction = uneven(int64_t(gradient.size()), seed);
  double numeric = (reference_loss(trial, moved(trial, i, direction, kStep)) -
                    reference_loss(trial, moved(trial, i, direction, -kStep))) /
                   (2 * kStep);
  double analytic = 0, magnitude = 1;
  for (size_t e = 0; e < gradient.size(); ++e) {
    analytic += gradient[e] * direction[e];
    magnitude += std::fabs(gradient[e] * direction[e]);
  }
  std::string where = fmt::format("{}: derivative along input {}", trial.name(), i);
  if (!(std::fabs(numeric - analytic) <= kAllowed * magnitude))
    return tally.failed(
        fmt::format("{} is {:.9g}, finite differences give {:.9g}", where, analytic, numeric));
  if (std::fabs(numeric) < 1e-9 && std::fabs(analytic) < 1e-9)
    return tally.failed(where + " is zero on both sides: the case tests nothing");
  tally.passed("finite differences", kCpu);
}

/// An input's gradient is the same whether or not others want theirs: as a bias that is trained while the
/// filters are not. Sums may be cut otherwise, which moves them by less than a thousandth of what finite
/// differences allow.
void check_alone(const Trial& trial, size_t i, const std::vector<double>& gradient, Tally& tally) {
  constexpr double kAllowed = 1e-9;
  const auto alone = gradients_of(trial, kCpu, Signs::given, i)[i];
  double largest = 1;
  for (double value : gradient) largest = std::max(largest, std::fabs(value));
  for (size_t e = 0; e < gradient.size(); ++e)
    if (!(std::fabs(alone[e] - gradient[e]) <= kAllowed * largest))
      return tally.failed(
          fmt::format("{}: gradient of input {} alone is {:.9g} at element {}, with the others' {:.9g}",
                      trial.name(), i, alone[e], e, gradient[e]));
  tally.passed("gradient alone", kCpu);
}

}  // namespace

void check_finite_differences(const Op& op, const TestCase& test_case, Tally& tally) {
  Trial trial = make_trial(op, test_case, DType::f64, declared_layouts(test_case));
  if (!any_differentiated(trial)) return;
  bool empty = true;
  for (auto& output : trial.expected) empty &= output.values.empty();
  try {
    auto gradients = gradients_of(trial, kCpu);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!is_differentiated(trial, i) || gradients[i].empty() || empty) continue;
      for (uint64_t seed : {101, 102}) check_direction(trial, i, gradients[i], seed + i, tally);
      check_alone(trial, i, gradients[i], tally);
    }
  } catch (const std::exception& error) {
    tally.failed(trial.name() + ": gradient threw: " + error.what());
  }
}

namespace {

/// The op's gradient as a function of its inputs and upstream gradients, weighted: Σ weight·gradient.
class WeightedGradient {
 public:
  explicit WeightedGradient(const Trial& trial) : trial_(trial), inputs_(trial.tensors(kCpu)) {
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (is_differentiated(trial, i)) arguments_.push_back(&inputs_[i]);
    const auto outputs = call();
    upstreams_.resize(outputs.size());
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (!carries_gradient(trial, outputs[k], k)) continue;
      upstreams_[k] = to_tensor({outputs[k].shape(), upstream_of(trial, k, Signs::given)},
                                trial.layouts.upstream, outputs[k].dtype(), kCpu);
      arguments_.push_back(&upstreams_[k]);
    }
    for (Tensor* argument : arguments_) argument->set_requires_grad();
  }

  size_t arguments() const { return arguments_.size(); }
  int64_t elements(size_t argument) const { return arguments_[argument]->numel(); }

  /// The value, and with `create_graph` as something that can be differentiated.
  Tensor value(bool create_graph) const {
    const auto outputs = call();
    GradOptions options{.create_graph = create_graph, .allow_unused = true};
    std::vector<Tensor> reached, inputs;
    for (size_t k = 0; k < outputs.size(); ++k)
      if (upstreams_[k].defined()) reached.push_back(outputs[k]), options.upstream.push_back(upstreams_[k]);
    for (const Tensor& input : inputs_)
      if (input.defined() && input.requires_grad()) inputs.push_back(input);
    Tensor sum = Tensor::from(std::vector<double>{0}, {});
    const auto gradients = grad(reached, inputs, options);
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined()) sum = sum + treadle::sum(gradients[i] * of(gradients[i].shape(), 57 + i));
    return sum;
  }

  std::vector<Tensor> derivatives() const {
    const Tensor all = value(true);
    std::vector<Tensor> arguments;
    for (const Tensor* argument : arguments_) arguments.push_back(*argument);
    if (!all.requires_grad()) return std::vector<Tensor>(arguments.size());
    return grad({all}, arguments, {.allow_unused = true});
  }

  /// The value where an argument is moved.
  double moved(size_t argument, const std::vector<double>& direction, double distance) {
    Tensor& moved = *arguments_[argument];
    const Tensor before = moved;
    {
      const NoGrad no_grad;
      moved = before + Tensor::from(direction, before.shape()) * distance;
    }
    moved.set_requires_grad();
    const double result = value(false).to_doubles()[0];
    moved = before;
    return result;
  }

 private:
  std::vector<Tensor> call() const { return apply(trial_.op, inputs_, trial_.test_case.attributes); }
  static Tensor of(const Shape& shape, uint64_t seed) {
    return Tensor::from(uneven(shape.numel(), seed), shape);
  }

  const Trial& trial_;
  std::vector<Tensor> inputs_, upstreams_;  ///< undefined for outputs without a gradient
  std::vector<Tensor*> arguments_;
};

/// As check_direction().
std::string compare_along(WeightedGradient& gradient, size_t argument, const Tensor& derivative) {
  constexpr double kStep = 1e-6, kAllowed = 1e-6;
  const auto direction = uneven(gradient.elements(argument), 211 + argument);
  const double numeric =
      (gradient.moved(argument, direction, kStep) - gradient.moved(argument, direction, -kStep)) /
      (2 * kStep);
  double analytic = 0, magnitude = 1 + std::fabs(gradient.value(false).to_doubles()[0]);
  const auto values = derivative.defined() ? derivative.to_doubles() : std::vector<double>(direction.size());
  for (size_t e = 0; e < values.size(); ++e) {
    analytic += values[e] * direction[e];
    magnitude += std::fabs(values[e] * direction[e]);
  }
  if (std::fabs(numeric - analytic) <= kAllowed * magnitude) return "";
  return fmt::format("is {:.9g}, finite differences give {:.9g}", analytic, numeric);
}

void check_refuses_second(const Trial& trial, WeightedGradient& gradient, Tally& tally) {
  try {
    gradient.derivatives();
    tally.failed(trial.name() + ": is declared as differentiable once, but can be differentiated again");
  } catch (const AutogradError&) {
    tally.passed("differentiable once", kCpu);
  }
}

}  // namespace

void check_second_derivatives(const Op& op, const TestCase& test_case, Tally& tally) {
  const Trial trial = make_trial(op, test_case, DType::f64, declared_layouts(test_case));
  for (const auto& output : trial.expected)
    if (output.values.empty() || !any_differentiated(trial)) return;
  try {
    WeightedGradient gradient(trial);
    if (op.once_differentiable) return check_refuses_second(trial, gradient, tally);
    const auto derivatives = gradient.derivatives();
    for (size_t i = 0; i < gradient.arguments(); ++i) {
      const std::string message = compare_along(gradient, i, derivatives[i]);
      if (!message.empty())
        return tally.failed(
            fmt::format("{}: the gradient's derivative along argument {} {}", trial.name(), i, message));
      tally.passed("second derivatives", kCpu);
    }
  } catch (const std::exception& error) {
    tally.failed(trial.name() + ": differentiating again threw: " + error.what());
  }
}

namespace {

Trial in_f64(const Trial& trial) {
  Trial exact = trial;
  exact.layouts = {std::vector<Layout>(trial.inputs.size(), Layout::contiguous)};
  for (DType& dtype : exact.input_dtypes)
    if (is_floating(dtype)) dtype = DType::f64;
  return exact;
}

using Gradients = std::vector<std::vector<double>>;

void raise_to_largest(std::vector<double>& largest, const Gradients& gradients) {
  largest.resize(gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i)
    for (double value : gradients[i])
      if (std::isfinite(value)) largest[i] = std::max(largest[i], std::fabs(value));
}

/// The largest sum that the terms of each input's gradient could make if they did not cancel: the gradient
/// for upstream gradients, then operands too, without their signs.
void raise_to_sums_of_positives(std::vector<double>& largest, const Trial& exact) {
  raise_to_largest(largest, gradients_of(exact, kCpu, Signs::positive));
  Trial absolute = exact;
  for (ReferenceTensor& input : absolute.inputs)
    for (double& value : input.values) value = std::fabs(value);
  raise_to_largest(largest, gradients_of(absolute, kCpu, Signs::positive));
}

/// How many elements of an output each element of an input may have been broadcast to.
double broadcasts(const Trial& trial, size_t i) {
  double most = 0;
  for (auto& output : trial.expected) most = std::max(most, double(output.values.size()));
  return most / std::max(1.0, double(trial.inputs[i].values.size()));
}

/// Each of the roundings on the way moves a value by at most a unit roundoff of the largest sum: at most
/// `terms` of them in the op's own sums, one for each element that an input was broadcast to, and a few in
/// the ops its gradient is made of.
std::string compare_gradients(const Trial& trial, const Gradients& wanted, const Gradients& gradients,
                              const std::vector<double>& largest) {
  constexpr double kOtherRoundings = 16;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double roundings = 2 * trial.error.terms + broadcasts(trial, i) + kOtherRoundings;
    const double allowed =
        unit_roundoff(trial.dtype) * roundings * largest[i] + 0x1p-24 * unit_roundoff(trial.dtype);
    for (size_t e = 0; e < wanted[i].size(); ++e)
      if (!(std::fabs(gradients[i][e] - wanted[i][e]) <= allowed) &&
          !(std::isnan(gradients[i][e]) && std::isnan(wanted[i][e])))
        return fmt::format("input {} element {} is {:.9g}, in f64 {:.9g}, allowed {:.2g}", i, e,
                           gradients[i][e], wanted[i][e], allowed);
  }
  return "";
}

}  // namespace

void check_gradient(const Trial& trial, Device device, Tally& tally) {
  if (!any_differentiated(trial)) return;
  const std::string where = fmt::format("{} gradient on {}", trial.name(), to_string(device));
  try {
    const Trial exact = in_f64(trial);
    const auto wanted = gradients_of(exact, kCpu), gradients = gradients_of(trial, device);
    std::vector<double> largest;
    raise_to_largest(largest, wanted);
    std::string message = compare_gradients(trial, wanted, gradients, largest);
    if (!message.empty()) {
      raise_to_sums_of_positives(largest, exact);
      message = compare_gradients(trial, wanted, gradients, largest);
    }
    if (!message.empty()) return tally.failed(where + ": " + message);
    tally.passed("gradient", device);
  } catch (const std::exception& error) {
    tally.failed(where + " threw: " + error.what());
  }
}

}  // namespace treadle::contract

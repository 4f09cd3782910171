#include <cmath>
#include <random>

#include "tests/contract/contract.h"
#include "tests/contract/test_tensor.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"

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

/// Upstream gradients of all outputs, uneven and rounded to the dtype under test.
std::vector<double> upstream_of(const Trial& trial, size_t k) {
  auto values = uneven(trial.expected[k].shape.numel(), 31 + k);
  for (double& value : values) value = rounded(value, is_floating(trial.dtype) ? trial.dtype : DType::f32);
  return values;
}

/// Gradients of Σ upstream·output with respect to the inputs; empty for those not differentiated.
std::vector<std::vector<double>> gradients_of(const Trial& trial, Device device) {
  auto inputs = trial.tensors(device);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (is_differentiated(trial, i)) inputs[i].set_requires_grad();
  auto outputs = apply(trial.op, inputs, trial.test_case.attributes);
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!carries_gradient(trial, outputs[k], k)) continue;
    ReferenceTensor upstream{outputs[k].shape(), upstream_of(trial, k)};
    outputs[k].backward(to_tensor(upstream, TestLayout::contiguous, outputs[k].dtype(), device),
                        k + 1 < outputs.size());
  }
  std::vector<std::vector<double>> gradients(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_differentiated(trial, i)) continue;
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
    auto upstream = upstream_of(trial, k);
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

}  // namespace

void check_finite_differences(const Op& op, const TestCase& test_case, Tally& tally) {
  Trial trial = make_trial(op, test_case, DType::f64);
  if (!any_differentiated(trial)) return;
  bool empty = true;
  for (auto& output : trial.expected) empty &= output.values.empty();
  try {
    auto gradients = gradients_of(trial, kCpu);
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!is_differentiated(trial, i) || gradients[i].empty() || empty) continue;
      for (uint64_t seed : {101, 102}) check_direction(trial, i, gradients[i], seed + i, tally);
    }
  } catch (const std::exception& error) {
    tally.failed(trial.name() + ": gradient threw: " + error.what());
  }
}

/// Each of the roundings on the way moves a value by at most a unit roundoff of the largest gradient: at most
/// `terms` of them in the op's own sums, and a few in the ops its gradient is made of.
void check_gradient(const Trial& trial, Device device, Tally& tally) {
  constexpr double kOtherRoundings = 16;
  if (!any_differentiated(trial)) return;
  std::string where = fmt::format("{} gradient on {}", trial.name(), to_string(device));
  try {
    Trial exact = trial;
    for (DType& dtype : exact.input_dtypes)
      if (is_floating(dtype)) dtype = DType::f64;
    auto wanted = gradients_of(exact, kCpu), gradients = gradients_of(trial, device);
    for (size_t i = 0; i < wanted.size(); ++i) {
      double largest = 0;
      for (double value : wanted[i]) largest = std::max(largest, std::fabs(value));
      double allowed = unit_roundoff(trial.dtype) * (2 * trial.terms + kOtherRoundings) * largest +
                       0x1p-24 * unit_roundoff(trial.dtype);
      for (size_t e = 0; e < wanted[i].size(); ++e)
        if (!(std::fabs(gradients[i][e] - wanted[i][e]) <= allowed))
          return tally.failed(fmt::format("{}: input {} element {} is {:.9g}, in f64 {:.9g}, allowed {:.2g}",
                                          where, i, e, gradients[i][e], wanted[i][e], allowed));
    }
    tally.passed("gradient", device);
  } catch (const std::exception& error) {
    tally.failed(where + " threw: " + error.what());
  }
}

}  // namespace treadle::contract

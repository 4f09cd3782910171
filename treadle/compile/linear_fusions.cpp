#include "treadle/compile/linear_fusions.h"

#include <algorithm>

#include "treadle/graph/registry.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d_options.h"
#include "treadle/ops/matrix/linear_options.h"
#include "treadle/ops/update/optimizer_options.h"

namespace treadle {
namespace {

/// The place of a gradient in an update of groups {p, g}; 0 when it is not there.
size_t place_of_gradient(const ProgramStep& update, int gradient) {
  for (size_t i = 2; i < update.inputs.size(); i += 2)
    if (update.inputs[i] == gradient) return i;
  return 0;
}

/// The group at `place` leaves the update; outputs are the parameters.
void remove_group(ProgramStep& update, size_t place) {
  update.inputs.erase(update.inputs.begin() + int64_t(place) - 1, update.inputs.begin() + int64_t(place) + 1);
  update.outputs.erase(update.outputs.begin() + int64_t(place / 2 - 1));
}

/// Whether the update writes what the gradient is made of: one pass would read what it has written.
bool updates_operands(const StepEditor& edit, const ProgramStep& gradient, const ProgramStep& update) {
  for (int value : gradient.outputs)
    for (int operand : gradient.inputs)
      if (edit.buffer_of(update.inputs[place_of_gradient(update, value) - 1]) == edit.buffer_of(operand))
        return true;
  return false;
}

/// The update that takes all of a linear layer's gradients and nobody else does; -1 when there is none.
int64_t sole_update(StepEditor& edit, size_t gradient_step) {
  auto& steps = edit.steps();
  const ProgramStep& gradient = steps[gradient_step];
  for (size_t k = gradient_step + 1; k < steps.size(); ++k) {
    if (steps[k].op->name != "sgd_update_all" || steps[k].inputs[0] == kNoValue) continue;
    bool all = true;
    for (int value : gradient.outputs)
      all &= edit.mentions(value) == 2 && place_of_gradient(steps[k], value) > 0;
    if (all && !edit.writes_between(gradient_step, k, gradient.inputs) &&
        !updates_operands(edit, gradient, steps[k]))
      return int64_t(k);
  }
  return -1;
}

}  // namespace

bool fuse_linear_sgd(StepEditor& edit) {
  if (is_pinned("linear_weight_gradient") || is_pinned("sgd_update_all")) return false;
  auto& steps = edit.steps();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].op->name != "linear_weight_gradient") continue;
    int64_t at = sole_update(edit, i);
    if (at < 0) continue;
    ProgramStep& update = steps[size_t(at)];
    const double decay = update.attributes.as<SgdUpdateOptions>().weight_decay;
    ProgramStep fused{&op_named("linear_sgd_update"),
                      Attributes::of(LinearSgdUpdateOptions{decay}),
                      {steps[i].inputs[0], steps[i].inputs[1], update.inputs[0]},
                      {}};
    for (int value : steps[i].outputs) {
      size_t place = place_of_gradient(update, value);
      fused.inputs.push_back(update.inputs[place - 1]);
      fused.outputs.push_back(update.inputs[place - 1]);
      remove_group(update, place);
    }
    if (update.inputs.size() == 1)
      update = std::move(fused);
    else
      steps.insert(steps.begin() + at, std::move(fused));
    steps.erase(steps.begin() + int64_t(i));
    edit.note("linear_weight_gradient + sgd_update_all → linear_sgd_update");
    return true;
  }
  return false;
}

namespace {

bool is_row_major(const TensorSpec& spec) { return is_contiguous(spec.shape, spec.strides); }

/// Whether both hold the same elements in the same order, row-major.
bool same_elements(const StepEditor& edit, int a, int b) {
  const ProgramValue &one = edit.value(a), &other = edit.value(b);
  return one.buffer == other.buffer && one.offset == other.offset && is_row_major(one.spec) &&
         is_row_major(other.spec) && one.spec.shape.numel() == other.spec.shape.numel();
}

/// The step before `end` that makes the value's buffer; -1 when there is none.
int64_t maker_of(StepEditor& edit, int value, size_t end) {
  auto& steps = edit.steps();
  for (size_t i = 0; i < end; ++i)
    for (int output : steps[i].outputs)
      if (output != kNoValue && edit.buffer_of(output) == edit.buffer_of(value)) return int64_t(i);
  return -1;
}

/// Steps after `maker` that use its output 0, once each; none where the caller or a step uses it otherwise.
std::vector<size_t> readers_of(StepEditor& edit, size_t maker) {
  auto& steps = edit.steps();
  const int result = steps[maker].outputs[0];
  std::vector<size_t> readers;
  for (size_t k = maker + 1; k < steps.size(); ++k)
    for (int input : steps[k].inputs)
      if (input != kNoValue && edit.buffer_of(input) == edit.buffer_of(result)) readers.push_back(k);
  if (edit.mentions(result) != int(readers.size()) + 1) readers.clear();
  return readers;
}

/// dy and choice of a gradient of conv2d_max_pool2d; none for other steps.
struct PooledOperands {
  int dy = kNoValue, choice = kNoValue;
};

PooledOperands pooled_operands(const ProgramStep& step) {
  if (step.op->name == "conv2d_max_pool2d_input_gradient") return {step.inputs[0], step.inputs[1]};
  if (step.op->name == "conv2d_max_pool2d_weight_gradient") return {step.inputs[1], step.inputs[2]};
  return {};
}

/// The result of conv2d_max_pool2d with ReLU that all readers keep the gradient, made by step `at`, by: where
/// it is 0, the choice names no place, and they drop what they get. Half types are left out: there, a result
/// may have been rounded to 0 after its place was chosen.
int activation_of_pool(StepEditor& edit, size_t at, const std::vector<size_t>& readers) {
  auto& steps = edit.steps();
  const int gradient = steps[at].outputs[0];
  const PooledOperands first = pooled_operands(steps[readers[0]]);
  if (first.choice == kNoValue) return kNoValue;
  const int64_t maker = maker_of(edit, first.choice, at);
  if (maker < 0 || steps[size_t(maker)].op->name != "conv2d_max_pool2d") return kNoValue;
  const ProgramStep& pool = steps[size_t(maker)];
  const int y = pool.outputs[0];
  const TensorSpec& spec = edit.value(y).spec;
  const bool exact = spec.dtype == DType::f32 || spec.dtype == DType::f64;
  if (!pool.attributes.as<Conv2dMaxPool2dOptions>().relu || !exact || !is_row_major(spec)) return kNoValue;
  for (size_t reader : readers) {
    const PooledOperands operands = pooled_operands(steps[reader]);
    if (operands.dy == kNoValue || operands.choice != pool.outputs[1] ||
        !same_elements(edit, operands.dy, gradient) || edit.value(operands.dy).spec.shape != spec.shape)
      return kNoValue;
  }
  if (edit.writes_between(size_t(maker) + 1, readers.back(), {y, first.choice})) return kNoValue;
  return y;
}

/// Whether output 0 of a step is never negative. Of NaN, relu_gradient and linear_input_gradient both let the
/// gradient through.
bool ends_in_relu(const ProgramStep& step) {
  const std::string& name = step.op->name;
  if (name == "conv2d_max_pool2d") return step.attributes.as<Conv2dMaxPool2dOptions>().relu;
  return name == "relu" || name == "linear_relu" || name == "conv2d_relu";
}

/// The ReLU's result that a relu_gradient, the only reader, keeps the gradient made by step `at` by.
int activation_of_relu(StepEditor& edit, size_t at, const std::vector<size_t>& readers) {
  const int gradient = edit.steps()[at].outputs[0];
  const ProgramStep& reader = edit.steps()[readers[0]];
  if (readers.size() != 1 || reader.op->name != "relu_gradient" || is_pinned("relu_gradient"))
    return kNoValue;
  const int y = reader.inputs[0], dy = reader.inputs[1], dx = reader.outputs[0];
  const int64_t maker = maker_of(edit, y, at);
  if (maker < 0 || !ends_in_relu(edit.steps()[size_t(maker)])) return kNoValue;
  const TensorSpec &one = edit.value(y).spec, &other = edit.value(dy).spec, &result = edit.value(dx).spec;
  const bool same_order = same_elements(edit, dy, gradient) && is_row_major(one) && is_row_major(result) &&
                          one.shape == other.shape && result.shape == other.shape;
  if (!same_order || edit.writes_between(size_t(maker) + 1, readers[0], {y})) return kNoValue;
  return y;
}

/// On other devices nothing is gained by zeros, and the gradients of conv2d_max_pool2d drop them anyway.
bool skips_zeros(const StepEditor& edit, int value) { return edit.device_of(value).kind == DeviceKind::cpu; }

bool fuse_input_gradient_at(StepEditor& edit, size_t at) {
  auto& steps = edit.steps();
  const int dx = steps[at].outputs[0];
  const auto readers = readers_of(edit, at);
  const Shape shape = edit.value(dx).spec.shape;
  if (readers.empty() || shape.rank() != 2) return false;
  int result = dx;
  int x = activation_of_relu(edit, at, readers);
  const bool by_relu = x != kNoValue;
  if (by_relu)
    result = edit.reshaped(steps[readers[0]].outputs[0], shape);
  else if (skips_zeros(edit, dx))
    x = activation_of_pool(edit, at, readers);
  if (x == kNoValue) return false;
  steps[at].op = &op_named("linear_input_gradient");
  steps[at].inputs.push_back(edit.reshaped(x, shape));
  steps[at].outputs[0] = result;
  if (by_relu) steps.erase(steps.begin() + int64_t(readers[0]));
  edit.note(by_relu ? "matmul + relu_gradient → linear_input_gradient" : "matmul → linear_input_gradient");
  return true;
}

}  // namespace

bool fuse_linear_input_gradient(StepEditor& edit) {
  if (is_pinned("matmul")) return false;
  for (size_t i = 0; i < edit.steps().size(); ++i)
    if (edit.steps()[i].op->name == "matmul" && fuse_input_gradient_at(edit, i)) return true;
  return false;
}

}  // namespace treadle

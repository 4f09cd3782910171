/// What follows a linear layer's gradients is done with them: the update of its parameters, and ReLU's
/// gradient.
#include "treadle/graph/registry.h"
#include "treadle/ops/matrix/linear_update_fusion.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/relu_gradient.h"

namespace treadle {
namespace {

/// The place of a gradient in an update of groups, the second of its group; 0 when it is not there.
size_t place_of_gradient(const Step& update, int gradient) {
  const size_t first = size_t(update.op->group_begin) + 1;
  for (size_t i = first; i < update.inputs.size(); i += size_t(update.op->group_size))
    if (update.inputs[i] == gradient) return i;
  return 0;
}

/// What the group of a gradient updates: the parameter and what its rule keeps.
std::vector<int> updated_with(const Step& update, size_t gradient) {
  std::vector<int> values{update.inputs[gradient - 1]};
  const auto behind = update.inputs.begin() + int64_t(gradient) + 1;
  values.insert(values.end(), behind, behind + update.op->group_size - 2);
  return values;
}

/// The group of a gradient leaves the update; outputs are what it updates.
void remove_group(Step& update, size_t gradient) {
  const int64_t size = update.op->group_size, place = int64_t(gradient) - 1;
  const int64_t number = (place - update.op->group_begin) / size;
  update.inputs.erase(update.inputs.begin() + place, update.inputs.begin() + place + size);
  const auto first = update.outputs.begin() + number * (size - 1);
  update.outputs.erase(first, first + size - 1);
}

/// Whether the update writes what the gradient is made of: one pass would read what it has written.
bool updates_operands(const StepGraph& graph, const Step& gradient, const Step& update) {
  for (int value : gradient.outputs)
    for (int updated : updated_with(update, place_of_gradient(update, value)))
      for (int operand : gradient.inputs)
        if (graph.buffer_of(updated) == graph.buffer_of(operand)) return true;
  return false;
}

/// The update by `op` that takes all of a linear layer's gradients and nobody else does; -1 when there is
/// none.
int64_t sole_update(const StepGraph& graph, size_t gradient_step, const Op& op) {
  const Step& gradient = graph[gradient_step];
  for (size_t k = gradient_step + 1; k < graph.size(); ++k) {
    if (graph[k].op != &op || graph[k].inputs[0] == kNoValue) continue;
    bool all = true;
    for (int value : gradient.outputs)
      all &= graph.mentions(value) == 2 && place_of_gradient(graph[k], value) > 0;
    if (all && !graph.writes_between(gradient_step, k, gradient.inputs) &&
        !updates_operands(graph, gradient, graph[k]))
      return int64_t(k);
  }
  return -1;
}

/// The step that makes the gradients and updates by them, which leave `update`.
Step fused_with(const Step& gradient, Step& update, const Op& fused_op, Attributes attributes) {
  Step fused{
      &fused_op, std::move(attributes), {gradient.inputs[0], gradient.inputs[1], update.inputs[0]}, {}};
  for (int value : gradient.outputs) {
    const size_t place = place_of_gradient(update, value);
    for (int updated : updated_with(update, place)) {
      fused.inputs.push_back(updated);
      fused.outputs.push_back(updated);
    }
    remove_group(update, place);
  }
  return fused;
}

/// The result that all readers of the gradient made by step `at` keep it by: where it is 0, its op marks the
/// place as closed, and they drop what they get there. Half types are left out: there, a result may have been
/// rounded to 0 after its place was marked.
int activation_by_marks(const StepGraph& graph, size_t at, const std::vector<size_t>& readers) {
  const int gradient = graph[at].outputs[0];
  const Step& first = graph[readers[0]];
  if (first.op->masked.mask < 0) return kNoValue;
  const int marks = first.inputs[size_t(first.op->masked.mask)];
  const int64_t maker = marks == kNoValue ? -1 : graph.maker_of(marks, at);
  if (maker < 0) return kNoValue;
  const Step& made = graph[size_t(maker)];
  const int closed = made.op->closed_output ? made.op->closed_output(made.attributes) : -1;
  if (closed < 0) return kNoValue;
  const int y = made.outputs[0];
  const TensorSpec& spec = graph.spec(y);
  if ((spec.dtype != DType::f32 && spec.dtype != DType::f64) || !is_row_major(spec)) return kNoValue;
  for (size_t reader : readers) {
    const auto [dy, mask] = graph[reader].op->masked;
    if (dy < 0 || graph[reader].inputs[size_t(mask)] != made.outputs[size_t(closed)]) return kNoValue;
    const int arrives = graph[reader].inputs[size_t(dy)];
    if (!graph.same_elements(arrives, gradient) || graph.spec(arrives).shape != spec.shape) return kNoValue;
  }
  return graph.writes_between(size_t(maker) + 1, readers.back(), {y, marks}) ? kNoValue : y;
}

/// Of NaN, relu_gradient and linear_input_gradient both let the gradient through.
bool is_never_negative(const Step& step) {
  return step.op->never_negative && step.op->never_negative(step.attributes);
}

/// The ReLU's result that a relu_gradient, the only reader, keeps the gradient made by step `at` by.
int activation_of_relu(const StepGraph& graph, size_t at, const std::vector<size_t>& readers) {
  const int gradient = graph[at].outputs[0];
  const Step& reader = graph[readers[0]];
  if (readers.size() != 1 || reader.op != &relu_gradient_op() || is_pinned(*reader.op)) return kNoValue;
  const int y = reader.inputs[0], dy = reader.inputs[1], dx = reader.outputs[0];
  const int64_t maker = graph.maker_of(y, at);
  if (maker < 0 || !is_never_negative(graph[size_t(maker)])) return kNoValue;
  const TensorSpec &one = graph.spec(y), &other = graph.spec(dy), &result = graph.spec(dx);
  const bool same_order = graph.same_elements(dy, gradient) && is_row_major(one) && is_row_major(result) &&
                          one.shape == other.shape && result.shape == other.shape;
  if (!same_order || graph.writes_between(size_t(maker) + 1, readers[0], {y})) return kNoValue;
  return y;
}

/// On other devices nothing is gained by zeros, and readers that have marks drop them anyway.
bool skips_zeros(const StepGraph& graph, int value) { return graph.device_of(value).kind == DeviceKind::cpu; }

std::optional<std::string> fuse_input_gradient(StepGraph& graph, size_t at) {
  const int dx = graph[at].outputs[0];
  const auto readers = graph.readers_of(at);
  const Shape shape = graph.spec(dx).shape;
  if (readers.empty() || shape.rank() != 2) return {};
  int x = activation_of_relu(graph, at, readers);
  const bool by_relu = x != kNoValue;
  if (!by_relu && skips_zeros(graph, dx)) x = activation_by_marks(graph, at, readers);
  if (x == kNoValue) return {};
  Step fused = graph[at];
  fused.op = &op_named("linear_input_gradient");
  if (by_relu) fused.outputs[0] = graph.reshaped(graph[readers[0]].outputs[0], shape);
  fused.inputs.push_back(graph.reshaped(x, shape));
  graph.replace(at, std::move(fused));
  if (by_relu) graph.erase(readers[0]);
  return by_relu ? "matmul + relu_gradient → linear_input_gradient" : "matmul → linear_input_gradient";
}

const Op& linear_weight_gradient_op() { return op_named("linear_weight_gradient"); }

}  // namespace

StepFusion linear_update_fusion(OpHandle update_all, OpHandle fused,
                                std::function<Attributes(const Attributes&)> options) {
  auto fuse = [=](StepGraph& graph, size_t at) -> std::optional<std::string> {
    const int64_t place = sole_update(graph, at, update_all());
    if (place < 0) return {};
    Step update = graph[size_t(place)];
    const Step step = fused_with(graph[at], update, fused(), options(update.attributes));
    const bool nothing_left = update.inputs.size() == 1;
    graph.replace(size_t(place), nothing_left ? step : update);
    if (!nothing_left) graph.insert(size_t(place), step);
    graph.erase(at);
    return "linear_weight_gradient + " + update.op->name + " → " + step.op->name;
  };
  return {{linear_weight_gradient_op, update_all}, fuse};
}

namespace ops {

void register_linear_fusions(Registry& registry) {
  registry.add_fusion(StepFusion{{matmul_op}, fuse_input_gradient});
}

}  // namespace ops
}  // namespace treadle

#include <algorithm>

#include "treadle/core/allocator.h"
#include "treadle/core/error.h"
#include "treadle/graph/autocast.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/compute_scope.h"
#include "treadle/graph/op.h"
#include "treadle/graph/recording.h"
#include "treadle/graph/run_hook.h"
#include "treadle/graph/select.h"
#include "treadle/graph/settings.h"

namespace treadle {

Settings& settings() {
  static auto& current = *new Settings;
  return current;
}

void require_same_dtype(const char* op, Specs inputs) {
  for (const TensorSpec& spec : inputs)
    require<DTypeError>(!spec.defined || spec.dtype == inputs[0].dtype, "{}: operands are {} and {}", op,
                        name_of(inputs[0].dtype), name_of(spec.dtype));
}

namespace {

/// Scratch blocks, given back when the call is over; reuse is safe because each device runs one stream in
/// order.
class CallWorkspace final : public Workspace {
 public:
  explicit CallWorkspace(Device device) : device_(device) {}
  ~CallWorkspace() {
    for (auto& [memory, bytes] : blocks_) allocator(device_).free(memory, bytes);
  }
  void* take(size_t bytes) override {
    blocks_.emplace_back(nullptr, bytes);
    return blocks_.back().first = allocator(device_).allocate(bytes);
  }

 private:
  Device device_;
  std::vector<std::pair<void*, size_t>> blocks_;
};

void require_optional(const Op& op, size_t operand) {
  require<ValueError>(std::count(op.optional.begin(), op.optional.end(), int(operand)) > 0,
                      "{}: operand {} is undefined", op.name, operand + 1);
}

Device common_device(const Op& op, const std::vector<Tensor>& inputs) {
  const Tensor* first = nullptr;
  for (const Tensor& input : inputs) {
    if (!input.defined()) {
      require_optional(op, size_t(&input - inputs.data()));
      continue;
    }
    if (!first) first = &input;
    require<DeviceError>(input.device() == first->device(), "{}: operands are on {} and {}", op.name,
                         first->device(), input.device());
  }
  require<ValueError>(first != nullptr, "{}: no operand is given", op.name);
  return first->device();
}

void check_dtype(const Op& op, const std::vector<TensorSpec>& specs) {
  DType dtype = Specs(specs)[op.dtype_operand].dtype;
  require<DTypeError>(op.dtypes.contains(dtype), "{}: dtype {} is not taken", op.name, name_of(dtype));
}

void run(const Op& op, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
         const Attributes& attributes, Device device) {
  std::vector<TensorView> views;
  views.reserve(inputs.size() + outputs.size());
  bool anything = false;
  for (const Tensor& input : inputs) views.push_back(input.view());
  for (const Tensor& output : outputs) views.push_back(output.view()), anything |= output.numel() > 0;
  if (!anything) return;
  CallWorkspace workspace(device);
  std::span<const TensorView> all(views);
  Call call{all.first(inputs.size()), all.subspan(inputs.size()), attributes,
            device.kind == DeviceKind::cpu ? nullptr : runtime(device).stream(), &workspace};
  const Variant& variant = select_variant(op, call, device.kind);
  ComputeScope scope(device.kind);
  run_variant({op, variant, call, device});
}

std::vector<TensorSpec> specs_of(const std::vector<Tensor>& tensors) {
  std::vector<TensorSpec> specs;
  specs.reserve(tensors.size());
  for (const Tensor& tensor : tensors) specs.push_back(TensorSpec::of(tensor));
  return specs;
}

void require_writable(const Op& op, const Tensor& target) {
  require<ValueError>(
      !may_overlap_itself(target.shape(), target.strides()),
      "{}: shape {} with strides {} may hold an element twice, so it is not written; clone() it", op.name,
      target.shape(), target.strides());
}

}  // namespace

void Specs::throw_missing(size_t i) {
  throw ValueError(fmt::format("the call has no operand {}, which the op needs", i + 1));
}

std::vector<int> mutated_inputs(const Op& op, int input_count) {
  if (op.group_size == 0) return op.mutates;
  std::vector<int> all;
  for (int group = op.group_begin; group < input_count; group += op.group_size)
    for (int index : op.mutates) all.push_back(group + index);
  return all;
}

std::vector<Tensor> apply(const Op& op, std::vector<Tensor> inputs, const Attributes& attributes) {
  require<ValueError>(op.mutates.empty(), "{} updates in place: it is called by apply_in_place()", op.name);
  autocast_operands(op, inputs);
  Device device = common_device(op, inputs);
  auto specs = specs_of(inputs);
  check_dtype(op, specs);
  std::vector<Tensor> outputs;
  if (Recording* current = recording()) {
    outputs = current->record(op, inputs, attributes);
  } else if (op.direct) {
    outputs = op.direct(inputs, attributes);
  } else {
    auto result_specs = op.infer(specs, attributes);
    outputs.reserve(result_specs.size());
    for (const TensorSpec& spec : result_specs)
      outputs.push_back(Tensor::empty_strided(spec.shape, spec.strides, spec.dtype, device));
    run(op, inputs, outputs, attributes, device);
  }
  if (gradient_mode()) record_node(op, inputs, outputs, attributes);
  return outputs;
}

void apply_in_place(const Op& op, std::vector<Tensor> inputs, const Attributes& attributes) {
  require<ValueError>(!op.mutates.empty(), "{} updates nothing in place: it is called by apply()", op.name);
  if (op.autocast != AutocastPolicy::none)
    autocast_operands(op, inputs, mutated_inputs(op, int(inputs.size())));
  Device device = common_device(op, inputs);
  auto specs = specs_of(inputs);
  check_dtype(op, specs);
  op.infer(specs, attributes);
  for (const Tensor& input : inputs)
    require<AutogradError>(!gradient_mode() || !input.defined() || !input.requires_grad(),
                           "{}: updates in place have no gradient; use NoGrad where a tensor requires one",
                           op.name);
  std::vector<Tensor> outputs;
  for (int index : mutated_inputs(op, int(inputs.size()))) {
    require_writable(op, inputs[index]);
    outputs.push_back(inputs[index]);
  }
  if (Recording* current = recording())
    current->record(op, inputs, attributes);
  else
    run(op, inputs, outputs, attributes, device);
  for (const Tensor& output : outputs) output.handle()->storage->bump_version();
}

}  // namespace treadle

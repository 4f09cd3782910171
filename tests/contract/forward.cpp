#include <cmath>
#include <cstring>

#include "tests/contract/contract.h"
#include "tests/contract/test_tensor.h"
#include "treadle/core/allocator.h"
#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/compute_scope.h"
#include "treadle/graph/select.h"
#include "treadle/simt/memory.h"

namespace treadle::contract {

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 0x1p-24;
    case DType::f64:
      return 0x1p-53;
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    default:
      return 0;
  }
}

std::string Trial::name() const {
  std::string options = op.options && test_case.attributes ? op.options->describe(test_case.attributes) : "";
  return fmt::format("{} [{}] {} {}", op.name, test_case.label, name_of(dtype), options);
}

std::vector<Tensor> Trial::tensors(Device device) const {
  std::vector<Tensor> result;
  for (size_t i = 0; i < inputs.size(); ++i)
    result.push_back(to_tensor(inputs[i], layouts.inputs[i], input_dtypes[i], device));
  return result;
}

namespace {

/// What an output's error is measured by, per element: see ErrorModel. Results that are finite owe nothing to
/// inputs that are not.
std::vector<ReferenceTensor> error_scale(const Trial& trial) {
  std::vector<ReferenceTensor> scale = trial.expected;
  double largest = 0;
  auto absolute = trial.inputs;
  for (auto& input : absolute)
    for (double& value : input.values)
      largest = std::max(largest, value = std::isfinite(value) ? std::fabs(value) : 0);
  if (trial.error.scale == ErrorModel::absolute_inputs)
    scale = trial.op.reference(absolute, trial.test_case.attributes);
  for (auto& output : scale)
    for (double& value : output.values)
      value = std::fabs(value) + (trial.error.scale == ErrorModel::largest_input ? largest : 0);
  return scale;
}

}  // namespace

Layouts declared_layouts(const TestCase& test_case) {
  Layouts layouts;
  for (const TestInput& input : test_case.inputs) layouts.inputs.push_back(layout_of(input.layout));
  return layouts;
}

namespace {

/// What the reference makes of the inputs, and the errors allowed.
void expect(Trial& trial) {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < trial.inputs.size(); ++i) {
    specs.push_back(TensorSpec::of(trial.inputs[i].shape, trial.input_dtypes[i]));
    specs.back().defined = trial.inputs[i].defined;
  }
  const Attributes& attributes = trial.test_case.attributes;
  trial.expected = trial.op.reference(trial.inputs, attributes);
  trial.error = trial.op.error ? trial.op.error(specs, attributes) : ErrorModel{};
  trial.scale = error_scale(trial);
}

/// Those of f16 are normal numbers in f32, in which it is computed.
bool may_be_flushed(double value, DType dtype) {
  return is_floating(dtype) && dtype != DType::f16 && value != 0 && std::fabs(value) < smallest_normal(dtype);
}

std::shared_ptr<const Trial> flushed(const Trial& trial) {
  auto result = std::make_shared<Trial>(trial);
  bool any = false;
  for (size_t i = 0; i < trial.inputs.size(); ++i)
    for (double& value : result->inputs[i].values)
      if (may_be_flushed(value, trial.input_dtypes[i])) value = std::copysign(0, value), any = true;
  if (!any) return nullptr;
  expect(*result);
  return result;
}

}  // namespace

Trial fill_trial(const Op& op, const TestCase& test_case, DType dtype, const Layouts& layouts) {
  Trial trial{op, test_case, dtype, layouts, {}, {}, {}, {}, {}, nullptr};
  for (size_t i = 0; i < test_case.inputs.size(); ++i) {
    const TestInput& input = test_case.inputs[i];
    trial.input_dtypes.push_back(dtype_of_input(input, dtype));
    trial.inputs.push_back(fill_input(input, layouts.inputs[i], int(i), trial.input_dtypes[i], 17));
  }
  return trial;
}

Trial make_trial(const Op& op, const TestCase& test_case, DType dtype, const Layouts& layouts) {
  Trial trial = fill_trial(op, test_case, dtype, layouts);
  expect(trial);
  trial.flushed = flushed(trial);
  return trial;
}

namespace {

class Scratch final : public Workspace {
 public:
  explicit Scratch(Device device) : device_(device) {}
  void* take(size_t bytes) override {
    blocks_.push_back(Tensor::empty({int64_t(bytes)}, DType::u8, device_));
    runtime(device_).fill_bytes(blocks_.back().raw(), 0xff, bytes);
    return blocks_.back().raw();
  }

 private:
  Device device_;
  std::vector<Tensor> blocks_;
};

/// The error of a rounding below the normal numbers of a dtype: all of the number where it is flushed.
double underflow(DType dtype, Device device) {
  const double normal = smallest_normal(dtype);
  if (device.kind == DeviceKind::cpu && dtype != DType::f16) return normal;
  return normal * 2 * unit_roundoff(dtype);
}

/// How far element `i` of `output`, the k-th, may be from the reference.
double tolerance(const Trial& trial, size_t k, size_t i, const Tensor& output, double growth) {
  const DType dtype = output.dtype();
  if (!is_floating(dtype)) return 0;
  const double size = std::fabs(trial.expected[k].values[i]), last = underflow(dtype, output.device());
  if (trial.exact()) return size < smallest_normal(dtype) && last > size ? size : 0;
  const DType computed = dtype == DType::f64 ? DType::f64 : DType::f32;
  // The reference rounds in double itself, hence twice the terms.
  return unit_roundoff(dtype) * size * 1.01 + last +
         2 * (trial.error.terms_of(k) + 1) * growth *
             (unit_roundoff(computed) * trial.scale[k].values[i] + underflow(computed, output.device()));
}

bool close(double value, double wanted, double allowed) {
  if (std::isnan(wanted)) return std::isnan(value);
  if (std::isinf(wanted)) return value == wanted;
  return std::fabs(value - wanted) <= allowed;
}

/// The reference's value, as far as the dtype has room for it.
double wanted_value(const Trial& trial, size_t k, size_t i, DType dtype) {
  const double wanted = trial.expected[k].values[i], stored = rounded(wanted, dtype);
  return is_floating(dtype) && !std::isinf(stored) ? wanted : stored;
}

bool is_right(const Trial& trial, size_t k, size_t i, double value, const Tensor& output, double growth) {
  return close(value, wanted_value(trial, k, i, output.dtype()), tolerance(trial, k, i, output, growth));
}

/// Whether a value on `cpu` lies between what the reference makes of the inputs and what it makes of them
/// with zeros for subnormal numbers.
bool right_if_flushed(const Trial& trial, size_t k, size_t i, double value, const Tensor& output,
                      double growth) {
  if (output.device().kind != DeviceKind::cpu || !trial.flushed) return false;
  if (is_right(*trial.flushed, k, i, value, output, growth)) return true;
  const double one = wanted_value(trial, k, i, output.dtype()),
               other = wanted_value(*trial.flushed, k, i, output.dtype());
  return is_floating(output.dtype()) && std::min(one, other) <= value && value <= std::max(one, other);
}

/// Whether NaN is right whatever the reference says: a variant that adds and subtracts its inputs before it
/// multiplies them (Winograd and its kin) makes NaN of infinities, and of all that is in a tile with a NaN.
bool may_spread_nan(const Trial& trial, double growth) {
  if (growth == 1) return false;
  for (auto& input : trial.inputs)
    for (double value : input.values)
      if (!std::isfinite(value)) return true;
  return false;
}

/// Whether a value of an integer output is right though it differs from the reference.
bool accepted(const Trial& trial, size_t k, size_t i, double value, const std::vector<Tensor>& outputs,
              double growth) {
  if (!trial.op.accepts || is_floating(outputs[k].dtype())) return false;
  return trial.op.accepts(trial.inputs, trial.test_case.attributes, int(k), int64_t(i), value,
                          tolerance(trial, 0, i, outputs[0], growth));
}

/// Compares one output with the reference; returns the message of the first difference.
std::string compare(const Trial& trial, size_t k, const std::vector<Tensor>& outputs, double growth) {
  const Tensor& output = outputs[k];
  auto values = output.to_doubles();
  const bool nan_is_right = may_spread_nan(trial, growth);
  for (size_t i = 0; i < values.size(); ++i) {
    if (nan_is_right && (std::isnan(values[i]) || !is_floating(output.dtype()))) continue;
    if (is_right(trial, k, i, values[i], output, growth) ||
        right_if_flushed(trial, k, i, values[i], output, growth) ||
        accepted(trial, k, i, values[i], outputs, growth))
      continue;
    return fmt::format("output {} element {} is {:.9g}, the reference {:.9g}, allowed {:.2g}", k, i,
                       values[i], wanted_value(trial, k, i, output.dtype()),
                       tolerance(trial, k, i, output, growth));
  }
  return "";
}

struct Run {
  std::vector<Tensor> inputs, outputs;
  std::vector<TensorSpec> specs;
};

/// Allocates what a call needs: inputs as the case lays them out, outputs poisoned.
Run prepare(const Trial& trial, Device device) {
  Run run{trial.tensors(device), {}, {}};
  std::vector<TensorSpec> specs;
  for (auto& input : run.inputs) specs.push_back(TensorSpec::of(input));
  run.specs = trial.op.infer(specs, trial.test_case.attributes);
  for (size_t k = 0; k < run.specs.size(); ++k) {
    const TensorSpec& spec = run.specs[k];
    if (!trial.op.mutates.empty()) {
      run.outputs.push_back(run.inputs[mutated_inputs(trial.op, int(run.inputs.size()))[k]]);
      continue;
    }
    run.outputs.push_back(Tensor::empty_strided(spec.shape, spec.strides, spec.dtype, device));
    runtime(device).fill_bytes(run.outputs.back().raw(), 0xff,
                               size_t(run.outputs.back().numel()) * size_of(spec.dtype));
  }
  return run;
}

bool is_mutated(const Trial& trial, size_t input) {
  for (int index : mutated_inputs(trial.op, int(trial.inputs.size())))
    if (size_t(index) == input) return true;
  return false;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string inputs_untouched(const Trial& trial, const Run& run) {
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    if (!run.inputs[i].defined() || is_mutated(trial, i)) continue;
    auto now = run.inputs[i].to_doubles();
    for (size_t e = 0; e < now.size(); ++e)
      if (!same(now[e], trial.inputs[i].values[e])) return fmt::format("input {} was written", i);
  }
  return "";
}

std::string shapes_as_declared(const Trial& trial, const std::vector<Tensor>& outputs) {
  if (outputs.size() != trial.expected.size())
    return fmt::format("{} outputs, the reference has {}", outputs.size(), trial.expected.size());
  for (size_t k = 0; k < outputs.size(); ++k)
    if (!(outputs[k].shape() == trial.expected[k].shape))
      return fmt::format("output {} has shape {}, the reference {}", k, to_string(outputs[k].shape()),
                         to_string(trial.expected[k].shape));
  return "";
}

std::string first_of(std::initializer_list<std::string> messages) {
  for (auto& message : messages)
    if (!message.empty()) return message;
  return "";
}

/// Shapes first: values of another shape cannot be compared.
std::string outputs_as_expected(const Trial& trial, const std::vector<Tensor>& outputs, double growth) {
  if (std::string message = shapes_as_declared(trial, outputs); !message.empty()) return message;
  for (size_t k = 0; k < outputs.size(); ++k)
    if (std::string message = compare(trial, k, outputs, growth); !message.empty()) return message;
  return "";
}

std::string guards_untouched(Device device) {
  if (device.kind != DeviceKind::simt) return "";
  auto violations = simt::check_guards();
  return violations.empty() ? "" : violations[0].describe();
}

std::vector<TensorView> views_of(const Run& run) {
  std::vector<TensorView> views;
  for (auto& input : run.inputs) views.push_back(input.view());
  for (auto& output : run.outputs) views.push_back(output.view());
  return views;
}

void execute(const Trial& trial, const Run& run, const Variant& variant, Device device) {
  auto views = views_of(run);
  std::span<const TensorView> all(views);
  Scratch scratch(device);
  Call call{all.first(run.inputs.size()), all.subspan(run.inputs.size()), trial.test_case.attributes,
            device.kind == DeviceKind::cpu ? nullptr : runtime(device).stream(), &scratch};
  ComputeScope scope(device.kind);
  variant.run(call);
  runtime(device).synchronize();
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t k = 0; k < a.size(); ++k) {
    auto x = a[k].to_doubles(), y = b[k].to_doubles();
    if (!x.empty() && std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) != 0) return false;
  }
  return true;
}

void check_variant(const Trial& trial, const Variant& variant, Device device, Tally& tally) {
  std::string where = fmt::format("{} on {} variant {}, {} threads", trial.name(), to_string(device),
                                  variant.name, num_threads());
  try {
    Run run = prepare(trial, device);
    execute(trial, run, variant, device);
    std::string message = first_of({outputs_as_expected(trial, run.outputs, variant.error_growth),
                                    inputs_untouched(trial, run), guards_untouched(device)});
    if (message.empty() && variant.deterministic && !tally.once()) {
      Run again = prepare(trial, device);
      execute(trial, again, variant, device);
      if (!same_bits(run.outputs, again.outputs))
        message = "two runs differ, but the variant says it is deterministic";
    }
    if (!message.empty()) return tally.failed(where + ": " + message);
    tally.passed("forward", device);
    tally.count_variant(fmt::format("{} {} {}", trial.op.name, name_of(device.kind), variant.name));
    tally.variant_ran(trial.op, variant);
  } catch (const std::exception& error) {
    tally.failed(where + " threw: " + error.what());
  }
}

void check_direct(const Trial& trial, Device device, Tally& tally) {
  NoGrad no_grad;
  try {
    auto outputs = apply(trial.op, trial.tensors(device), trial.test_case.attributes);
    std::string message = outputs_as_expected(trial, outputs, 1);
    if (!message.empty())
      return tally.failed(fmt::format("{} on {}: {}", trial.name(), to_string(device), message));
    tally.passed("forward", device);
    tally.count_variant(fmt::format("{} {} view", trial.op.name, name_of(device.kind)));
  } catch (const std::exception& error) {
    tally.failed(fmt::format("{} on {} threw: {}", trial.name(), to_string(device), error.what()));
  }
}

/// Nothing to compute: the shapes must be right, and the way through apply() must work.
void check_empty(const Trial& trial, const std::vector<Tensor>& outputs, Device device, Tally& tally) {
  NoGrad no_grad;
  std::string message = shapes_as_declared(trial, outputs);
  if (message.empty() && trial.op.mutates.empty())
    message = shapes_as_declared(trial, apply(trial.op, trial.tensors(device), trial.test_case.attributes));
  if (!message.empty()) return tally.failed(trial.name() + " empty: " + message);
  tally.passed("empty", device);
}

}  // namespace

void run_variant(const Trial& trial, const Variant& variant, Device device) {
  execute(trial, prepare(trial, device), variant, device);
}

std::vector<const Variant*> variants_for(const Trial& trial, Device device) {
  if (trial.op.direct) return {};
  Run probe = prepare(trial, device);
  auto views = views_of(probe);
  std::span<const TensorView> all(views);
  Call call{all.first(probe.inputs.size()), all.subspan(probe.inputs.size()), trial.test_case.attributes};
  return applicable_variants(trial.op, call, device.kind);
}

void check_forward(const Trial& trial, Device device, Tally& tally) {
  if (trial.op.direct) return check_direct(trial, device, tally);
  Run probe = prepare(trial, device);
  bool anything = false;
  for (auto& output : probe.outputs) anything |= output.numel() > 0;
  if (!anything) return check_empty(trial, probe.outputs, device, tally);
  const auto variants = variants_for(trial, device);
  if (variants.empty())
    return tally.failed(fmt::format("{}: no variant on {}", trial.name(), to_string(device)));
  for (const Variant* variant : variants)
    if (tally.wants(*variant)) check_variant(trial, *variant, device, tally);
}

}  // namespace treadle::contract

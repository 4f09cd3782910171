/// to(x, device): transfers between devices.
#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/to_device_options.h"

namespace treadle {
namespace {

TensorSpec without_gaps(const TensorSpec& x) {
  return is_dense(x.shape, x.strides) ? x : TensorSpec::of(x.shape, x.dtype);
}

std::vector<TensorSpec> infer(Specs inputs, const Attributes&) { return {without_gaps(inputs[0])}; }

void transfer(const Tensor& target, const Tensor& source, size_t bytes) {
  Runtime &from = runtime(source.device()), &into = runtime(target.device());
  if (source.device() == target.device()) return from.copy_within(target.raw(), source.raw(), bytes);
  if (source.device() == kCpu) return into.copy_from_host(target.raw(), source.raw(), bytes);
  if (target.device() == kCpu) return from.copy_to_host(target.raw(), source.raw(), bytes);
  std::vector<char> host(bytes);
  from.copy_to_host(host.data(), source.raw(), bytes);
  into.copy_from_host(target.raw(), host.data(), bytes);
}

std::vector<Tensor> direct(std::span<const Tensor> inputs, const Attributes& attributes) {
  TensorSpec spec = without_gaps(TensorSpec::of(inputs[0]));
  Tensor source = inputs[0].detach();
  if (!(source.strides() == spec.strides)) source = contiguous(source);
  Tensor y = Tensor::empty_strided(spec.shape, spec.strides, spec.dtype,
                                   device_named(attributes.as<ToDeviceOptions>().device));
  if (y.numel() > 0) transfer(y, source, size_t(y.numel()) * size_of(spec.dtype));
  return {y};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes&) { return {inputs[0]}; }

std::vector<Tensor> gradient(const GradientContext& context) {
  return {to(context.upstream(), device_named(context.options<ToDeviceOptions>().origin))};
}

std::vector<TestCase> cases() {
  auto one = [](const char* label, Shape shape, TestLayout layout) {
    return TestCase{label, {{shape, {}, layout}}, Attributes::of(ToDeviceOptions{})};
  };
  return {one("contiguous", {5, 7}, TestLayout::contiguous), one("sliced", {6, 11}, TestLayout::sliced),
          one("channels_last", {2, 3, 4, 5}, TestLayout::channels_last),
          one("empty", {0, 2}, TestLayout::contiguous)};
}

}  // namespace

namespace ops {

void register_to_device(Registry& registry) {
  registry.add({.name = "to_device",
                .summary = "y = x on another device",
                .options = &schema_of<ToDeviceOptions>(),
                .dtypes = kEveryDType,
                .infer = infer,
                .reference = reference,
                .gradient = gradient,
                .direct = direct,
                .cases = cases,
                .changes_device = true});
}

}  // namespace ops

Tensor to(const Tensor& x, Device device) {
  static const Op& op = op_named("to_device");
  require_defined("to", x);
  if (x.device() == device) return x;
  runtime(device);  // throws where it is absent
  return apply(op, {x}, Attributes::of(ToDeviceOptions{to_string(device), to_string(x.device())}))[0];
}

}  // namespace treadle

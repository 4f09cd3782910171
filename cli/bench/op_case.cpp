#include "cli/bench/op_case.h"

#include <algorithm>
#include <optional>

#include "treadle/core/error.h"
#include "treadle/core/random.h"
#include "treadle/graph/select.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/random/random.h"

namespace treadle::cli {
namespace {

/// Filters stay row-major, as parameters are.
bool is_image(const Shape& shape) { return shape.rank() == 4 && shape[2] > 3; }

/// Of those whose inputs are all of the dtype asked for.
TestCase largest_test_case(const Op& op) {
  std::optional<TestCase> largest;
  int64_t most = -1;
  for (const TestCase& candidate : op.cases()) {
    int64_t elements = 0;
    bool plain = true;
    for (const TestInput& input : candidate.inputs)
      elements += input.shape.numel(), plain &= input.dtype.empty() && input.defined;
    if (plain && elements > most) most = elements, largest = candidate;
  }
  require<ValueError>(largest.has_value(), "{} has no case that can be timed alone", op.name);
  return *largest;
}

bool is_optional(const Op& op, int operand) {
  return std::find(op.optional.begin(), op.optional.end(), operand) != op.optional.end();
}

}  // namespace

Tensor random_input(const Shape& shape, DType dtype, Device device, bool channels_last) {
  Generator generator(1);
  Tensor x = Tensor::empty(shape);
  uniform_(x, -1, 1, generator);
  x = to(cast(x, dtype), device);
  return channels_last && shape.rank() == 4 ? to_channels_last(x) : x;
}

std::vector<const Variant*> variants_for(const Op& op, const OpCase& entry, Device device) {
  std::vector<TensorSpec> specs;
  std::vector<TensorView> views;
  for (const Tensor& input : entry.inputs)
    specs.push_back(TensorSpec::of(input)), views.push_back(input.view());
  const size_t inputs = views.size();
  for (const TensorSpec& spec : op.infer(specs, entry.attributes))
    views.push_back({views[0].data, spec.dtype, spec.shape, spec.strides});
  std::span<const TensorView> all(views);
  Call call{all.first(inputs), all.subspan(inputs), entry.attributes};
  auto list = applicable_variants(op, call, device.kind);
  std::erase_if(list, [](const Variant* variant) { return !is_allowed(*variant, settings()); });
  return list;
}

std::vector<OpCase> timed_cases(const Op& op, DType dtype, Device device) {
  std::vector<OpCase> prepared;
  for (const BenchCase& sized : op.bench_cases ? op.bench_cases(device.kind) : std::vector<BenchCase>{}) {
    OpCase entry{sized.label, {}, sized.attributes};
    for (const Shape& shape : sized.inputs) {
      const bool left_out = shape.rank() == 0 && is_optional(op, int(entry.inputs.size()));
      entry.inputs.push_back(
          left_out ? Tensor() : random_input(shape, dtype, device, is_image(shape) && sized.channels_last));
    }
    prepared.push_back(std::move(entry));
  }
  if (!prepared.empty()) return prepared;
  const TestCase largest = largest_test_case(op);
  OpCase entry{"test case '" + largest.label + "'", {}, largest.attributes};
  for (const TestInput& input : largest.inputs)
    entry.inputs.push_back(input.defined ? random_input(input.shape, dtype, device, false) : Tensor());
  return {std::move(entry)};
}

}  // namespace treadle::cli

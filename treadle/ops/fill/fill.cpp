#include "treadle/ops/fill/fill.h"

#include <algorithm>
#include <cmath>

#include "treadle/core/error.h"
#include "treadle/core/scalar.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/fill/fill_options.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer_fill(Specs inputs, const Attributes& attributes) {
  require_fits("fill", attributes.as<FillOptions>().value, inputs[0].dtype);
  return {inputs[0]};
}

std::vector<TensorSpec> infer_arange(Specs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<ArangeOptions>();
  const int64_t count = inputs[0].shape.numel();
  for (int64_t i : {int64_t(0), count - 1})
    if (count > 0) require_fits("arange", options.start + double(i) * options.step, inputs[0].dtype);
  return {inputs[0]};
}

std::vector<ReferenceTensor> fill_reference(ReferenceInputs inputs, const Attributes& attributes) {
  ReferenceTensor y = inputs[0];
  std::fill(y.values.begin(), y.values.end(), attributes.as<FillOptions>().value);
  return {y};
}

std::vector<ReferenceTensor> arange_reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<ArangeOptions>();
  ReferenceTensor y = inputs[0];
  for (size_t i = 0; i < y.values.size(); ++i) y.values[i] = options.start + double(i) * options.step;
  return {y};
}

template <class Options>
TestCase one(const char* label, Shape shape, Options options, TestLayout layout = TestLayout::contiguous) {
  return {label, {{shape, {TestFill::integers, 0, 3}, layout}}, Attributes::of(options)};
}

/// Values that every dtype holds, bool included.
std::vector<TestCase> fill_cases() {
  return {one("zero", {7, 205}, FillOptions{0}),
          one("one", {3}, FillOptions{1}),
          one("rank 0", {}, FillOptions{1}),
          one("empty", {0, 2}, FillOptions{1}),
          one("sliced", {6, 11}, FillOptions{1}, TestLayout::sliced),
          one("transposed", {5, 7}, FillOptions{1}, TestLayout::transposed)};
}

std::vector<TestCase> arange_cases() {
  return {one("count", {101}, ArangeOptions{0, 1}),
          one("odd", {23}, ArangeOptions{5, 3}),
          one("one", {1}, ArangeOptions{7, 1}),
          one("down", {30}, ArangeOptions{120, -4}),
          one("empty", {0}, ArangeOptions{}),
          one("sliced", {5, 7}, ArangeOptions{1, 2}, TestLayout::sliced),
          one("transposed", {5, 7}, ArangeOptions{1, 2}, TestLayout::transposed)};
}

Tensor empty_like(const Tensor& x) {
  require_defined("full_like", x);
  bool dense = is_dense(x.shape(), x.strides());
  return Tensor::empty_strided(x.shape(), dense ? x.strides() : contiguous_strides(x.shape()), x.dtype(),
                               x.device());
}

}  // namespace

namespace ops {

void register_fill(Registry& registry) {
  registry.add({.name = "fill",
                .summary = "x[i] = value, in place",
                .options = &schema_of<FillOptions>(),
                .dtypes = kEveryDType,
                .infer = infer_fill,
                .reference = fill_reference,
                .mutates = {0},
                .cases = fill_cases,
                .operations = no_operations()});
  registry.add({.name = "arange",
                .summary = "x[i] = start + i·step in row-major order, in place",
                .options = &schema_of<ArangeOptions>(),
                .dtypes = kNumeric,
                .infer = infer_arange,
                .reference = arange_reference,
                .mutates = {0},
                .cases = arange_cases,
                .operations = for_each_output(2)});
}

}  // namespace ops

const Op& fill_op() {
  static const Op& op = op_named("fill");
  return op;
}

void fill_(const Tensor& x, double value) {
  apply_in_place(fill_op(), {x}, Attributes::of(FillOptions{value}));
}

Tensor full(const Shape& shape, double value, DType dtype, Device device) {
  Tensor y = Tensor::empty(shape, dtype, device);
  fill_(y, value);
  return y;
}

Tensor full_like(const Tensor& x, double value) {
  Tensor y = empty_like(x);
  fill_(y, value);
  return y;
}

Tensor zeros_like(const Tensor& x) { return full_like(x, 0); }

Tensor ones_like(const Tensor& x) { return full_like(x, 1); }

const Op& arange_op() {
  static const Op& op = op_named("arange");
  return op;
}

Tensor arange(double start, double end, double step, DType dtype, Device device) {
  double count = std::ceil((end - start) / step);
  bool finite = std::isfinite(start) && std::isfinite(end) && std::isfinite(step);
  require<ValueError>(finite && step != 0 && count >= 0 && count < 0x1p53,
                      "arange: no way from {} to {} in steps of {}", start, end, step);
  Tensor y = Tensor::empty({int64_t(count)}, dtype, device);
  apply_in_place(arange_op(), {y}, Attributes::of(ArangeOptions{start, step}));
  return y;
}

}  // namespace treadle

#include "treadle/ops/layout/slice_gradient.h"

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/layout/views.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<SliceGradientOptions>();
  Shape shape = inputs[0].shape;
  int axis = normalize_axis(options.axis, shape.rank(), "slice_gradient");
  int64_t count = shape[axis], room = options.extent - options.begin;  // of positions from begin on
  bool sound = options.step >= 1 && options.begin >= 0 && options.extent >= 0;
  require<ShapeError>(sound && (count == 0 || (room > 0 && (count - 1) <= (room - 1) / options.step)),
                      "slice_gradient: {} elements from {} on, {} apart, do not fit in an extent of {}",
                      count, options.begin, options.step, options.extent);
  shape[axis] = options.extent;
  return {TensorSpec::of(shape, inputs[0].dtype)};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes& attributes) {
  const auto& options = attributes.as<SliceGradientOptions>();
  const ReferenceTensor& dy = inputs[0];
  int axis = normalize_axis(options.axis, dy.shape.rank(), "slice_gradient");
  Shape shape = dy.shape;
  shape[axis] = options.extent;
  ReferenceTensor dx = ReferenceTensor::zeros(shape);
  int64_t inner = 1, count = dy.shape[axis];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  for (int64_t i = 0; i < dy.shape.numel(); ++i) {
    int64_t outer = i / inner / count, position = options.begin + i / inner % count * options.step;
    dx.values[(outer * options.extent + position) * inner + i % inner] = dy.values[i];
  }
  return {dx};
}

/// The elements that dy went to.
std::vector<Tensor> gradient(const GradientContext& context) {
  const auto& options = context.options<SliceGradientOptions>();
  const int64_t count = context.input_spec(0).shape[int(options.axis)];
  const int64_t end = count == 0 ? options.begin : options.begin + (count - 1) * options.step + 1;
  return {slice(context.upstream(), options.axis, options.begin, end, options.step)};
}

std::vector<TestCase> cases() {
  auto one = [](const char* label, Shape shape, SliceGradientOptions options, TestLayout layout) {
    return TestCase{label, {{shape, {}, layout}}, Attributes::of(options)};
  };
  return {one("rows", {3, 4}, {0, 2, 1, 7}, TestLayout::contiguous),
          one("columns", {4, 3}, {1, 1, 3, 9}, TestLayout::transposed),
          one("all", {4, 2}, {0, 0, 1, 4}, TestLayout::contiguous),
          one("none", {0, 2}, {0, 3, 1, 4}, TestLayout::contiguous),
          one("channels_last", {2, 3, 4, 5}, {-3, 1, 2, 6}, TestLayout::channels_last),
          one("expanded", {3, 4}, {0, 1, 2, 8}, TestLayout::expanded)};
}

std::vector<RefusedCall> refused_calls() {
  auto with = [](int64_t begin, int64_t step, int64_t extent, std::vector<std::string> says) {
    return refuses<ShapeError>({{{3}}}, std::move(says),
                               Attributes::of(SliceGradientOptions{0, begin, step, extent}));
  };
  return {with(1, 1, 3, {"extent of 3"}),
          with(0, INT64_MAX, 5, {"3 elements"}),
          with(INT64_MAX, 1, 5, {"3 elements"}),
          with(-1, 1, 5, {"-1"}),
          with(0, 1, -5, {"-5"}),
          with(0, 0, 5, {"0 apart"})};
}

}  // namespace

namespace ops {

void register_slice_gradient(Registry& registry) {
  registry.add({.name = "slice_gradient",
                .summary = "dx[…, begin + i·step, …] = dy[…, i, …], 0 elsewhere",
                .options = &schema_of<SliceGradientOptions>(),
                .infer = infer,
                .reference = reference,
                .gradient = gradient,
                .cases = cases,
                .refused_calls = refused_calls,
                .operations = no_operations()});
}

}  // namespace ops

Tensor slice_gradient(const Tensor& dy, const SliceGradientOptions& options) {
  static const Op& op = op_named("slice_gradient");
  return apply(op, {dy}, Attributes::of(options))[0];
}

}  // namespace treadle

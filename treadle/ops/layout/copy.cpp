#include "treadle/ops/layout/copy.h"

#include "treadle/core/error.h"
#include "treadle/graph/cost.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/require_defined.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy_options.h"

namespace treadle {
namespace {

std::vector<TensorSpec> infer(Specs inputs, const Attributes& attributes) {
  TensorSpec y = TensorSpec::of(inputs[0].shape, inputs[0].dtype);
  const std::string& layout = attributes.as<CopyOptions>().layout;
  if (layout == "channels_last") {
    require<ShapeError>(y.shape.rank() == 4, "copy: channels-last needs [N,C,H,W], got {}", y.shape);
    y.strides = channels_last_strides(y.shape);
  } else if (layout == "same") {
    if (is_dense(y.shape, inputs[0].strides)) y.strides = inputs[0].strides;
  } else {
    require<ValueError>(layout == "row_major", "copy: layout is row_major, channels_last or same, not '{}'",
                        layout);
  }
  return {y};
}

std::vector<ReferenceTensor> reference(ReferenceInputs inputs, const Attributes&) { return {inputs[0]}; }

std::vector<Tensor> gradient(const GradientContext& context) { return {context.upstream()}; }

std::vector<TestCase> cases() {
  auto one = [](const char* label, Shape shape, TestLayout from, const char* to) {
    return TestCase{label, {{shape, {}, from}}, Attributes::of(CopyOptions{to})};
  };
  return {one("contiguous", {5, 203}, TestLayout::contiguous, "row_major"),
          one("rank 0", {}, TestLayout::contiguous, "row_major"),
          one("empty", {0, 3}, TestLayout::contiguous, "row_major"),
          one("matrix", {33, 70}, TestLayout::transposed, "row_major"),
          one("narrow", {3, 70}, TestLayout::transposed, "row_major"),
          one("batch", {3, 9, 41}, TestLayout::transposed, "row_major"),
          one("more matrices than blocks", {8, 1030, 8}, TestLayout::transposed, "row_major"),
          one("sliced", {6, 11}, TestLayout::sliced, "row_major"),
          one("expanded", {4, 7}, TestLayout::expanded, "row_major"),
          one("from channels_last", {2, 35, 5, 7}, TestLayout::channels_last, "row_major"),
          one("to channels_last", {2, 9, 6, 7}, TestLayout::contiguous, "channels_last"),
          one("three channels_last", {2, 3, 6, 7}, TestLayout::contiguous, "channels_last"),
          one("five channels_last", {2, 5, 6, 7}, TestLayout::contiguous, "channels_last"),
          one("two channels_last", {3, 2, 5, 7}, TestLayout::contiguous, "channels_last"),
          one("many places of four channels_last", {2, 4, 33, 40}, TestLayout::contiguous, "channels_last"),
          one("keeps channels_last", {2, 3, 4, 5}, TestLayout::channels_last, "same"),
          one("closes gaps", {6, 11}, TestLayout::sliced, "same")};
}

std::vector<TensorSpec> infer_into(Specs inputs, const Attributes&) {
  require_same_dtype("copy_into", inputs);
  broadcast_strides(inputs[1].shape, inputs[1].strides, inputs[0].shape);  // throws where it does not fit
  return {inputs[0]};
}

std::vector<ReferenceTensor> reference_into(ReferenceInputs inputs, const Attributes&) {
  ReferenceTensor y = inputs[0];
  Strides strides = broadcast_strides(inputs[1].shape, contiguous_strides(inputs[1].shape), y.shape);
  for (int64_t i = 0; i < y.shape.numel(); ++i) {
    int64_t offset = 0, rest = i;
    for (int axis = y.shape.rank() - 1; axis >= 0; rest /= y.shape[axis--])
      offset += rest % y.shape[axis] * strides[axis];
    y.values[i] = inputs[1].values[offset];
  }
  return {y};
}

std::vector<TestCase> cases_into() {
  auto two = [](const char* label, Shape target, TestLayout target_layout, Shape source,
                TestLayout source_layout) {
    return TestCase{label, {{target, {}, target_layout}, {source, {}, source_layout}}};
  };
  return {two("same", {5, 203}, TestLayout::contiguous, {5, 203}, TestLayout::contiguous),
          two("row", {4, 9}, TestLayout::contiguous, {9}, TestLayout::contiguous),
          two("column", {4, 9}, TestLayout::contiguous, {4, 1}, TestLayout::contiguous),
          two("scalar", {3, 5}, TestLayout::contiguous, {}, TestLayout::contiguous),
          two("transposed", {40, 9}, TestLayout::contiguous, {40, 9}, TestLayout::transposed),
          two("into slices", {6, 11}, TestLayout::sliced, {6, 11}, TestLayout::contiguous),
          two("empty", {0, 4}, TestLayout::contiguous, {4}, TestLayout::contiguous)};
}

/// Whether writing `target` may change what is still to be read of `source`: they share memory and do not lie
/// alike. Elements between two strides count as shared.
bool may_overlap(const Tensor& target, const Tensor& source) {
  const TensorData &t = *target.handle(), &s = *source.handle();
  if (!(t.storage == s.storage)) return false;
  if (t.offset == s.offset && t.shape == s.shape && t.strides == s.strides) return false;
  return t.offset < s.offset + reach(s.shape, s.strides) && s.offset < t.offset + reach(t.shape, t.strides);
}

/// A copy that turns matrices: channels-last images become row-major.
std::vector<BenchCase> bench_cases(DeviceKind device) {
  const int64_t images = device == DeviceKind::simt ? 1 : 32;
  return {{fmt::format("{} image(s) of 64×56×56 turned", images),
           {{images, 64, 56, 56}},
           Attributes::of(CopyOptions{"row_major"}),
           true}};
}

Tensor copy(const Tensor& x, const char* layout) {
  const Op& op = copy_op();
  return apply(op, {x}, Attributes::of(CopyOptions{layout}))[0];
}

}  // namespace

namespace ops {

void register_copy(Registry& registry) {
  registry.add({.name = "copy",
                .summary = "y = x in another layout",
                .options = &schema_of<CopyOptions>(),
                .dtypes = kEveryDType,
                .infer = infer,
                .reference = reference,
                .rows = rows_of_first,
                .gradient = gradient,
                .cases = cases,
                .operations = no_operations(),
                .bench_cases = bench_cases});
  registry.add({.name = "copy_into",
                .summary = "target = source, broadcast, in place",
                .dtypes = kEveryDType,
                .infer = infer_into,
                .reference = reference_into,
                .mutates = {0},
                .cases = cases_into,
                .operations = no_operations()});
}

}  // namespace ops

const Op& copy_op() {
  static const Op& op = op_named("copy");
  return op;
}

Tensor contiguous(const Tensor& x) {
  require_defined("contiguous", x);
  return x.is_contiguous() ? x : copy(x, "row_major");
}

Tensor clone(const Tensor& x) { return copy(x, "same"); }

Tensor to_channels_last(const Tensor& x) {
  require_defined("to_channels_last", x);
  return is_channels_last(x.shape(), x.strides()) ? x : copy(x, "channels_last");
}

const Op& copy_into_op() {
  static const Op& op = op_named("copy_into");
  return op;
}

void copy_into(const Tensor& target, const Tensor& source) {
  require_defined("copy_into", target, 1);
  require_defined("copy_into", source, 2);
  apply_in_place(copy_into_op(), {target, may_overlap(target, source) ? clone(source) : source});
}

Tensor to(const Tensor& x, DType dtype) { return cast(x, dtype); }

}  // namespace treadle

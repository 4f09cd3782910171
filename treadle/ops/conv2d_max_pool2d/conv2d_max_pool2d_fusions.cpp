/// Convolutions before max-pooling, with ReLU around it, become conv2d_max_pool2d.
#include "treadle/graph/registry.h"
#include "treadle/graph/step_graph.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/conv2d/conv2d_relu.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/copy_options.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pool2d/max_pool2d.h"
#include "treadle/ops/pool2d/max_pool2d_options.h"

namespace treadle {
namespace {

FusedCall call_with(const Conv2dMaxPool2dOptions& options) {
  return {&conv2d_max_pool2d_op(), Attributes::of(options)};
}

/// A convolution with the pooling behind it; none where the fused op does not have it.
std::optional<Conv2dMaxPool2dOptions> pooled(const Conv2dOptions& conv, const MaxPool2dOptions& options,
                                             bool relu, bool choice) {
  const bool dilated = options.dilation.height != 1 || options.dilation.width != 1;
  if (dilated || options.kernel.height * options.kernel.width > kMostPooledPlaces) return {};
  Conv2dMaxPool2dOptions fused{conv, options.kernel, options.stride, options.padding, relu};
  fused.choice = choice;
  return fused;
}

/// Without a gradient nobody asks which place was the largest.
template <int pool, bool relu>
std::optional<FusedCall> fuse_conv2d_and_pool(const MatchedChain& chain) {
  const bool choice = chain.gradient_flows;
  const auto fused =
      pooled(chain.options<Conv2dOptions>(0), chain.options<MaxPool2dOptions>(pool), relu, choice);
  if (!fused) return {};
  return call_with(*fused);
}

/// Whether the program or its caller looks at outputs of a step from number `first` on.
bool are_used(const StepGraph& graph, const Step& step, size_t first) {
  for (size_t i = first; i < step.outputs.size(); ++i) {
    const int value = step.outputs[i];
    if (value != kNoValue && (graph.is_outside(value) || !graph.readers(value).empty())) return true;
  }
  return false;
}

/// The same of a convolution that took in a batch normalisation and its ReLU, which only programs without
/// gradients have: the step `at` and the pooling that alone reads it. On the cpu, where it was measured.
std::optional<std::string> fuse_folded_and_pool(StepGraph& graph, size_t at) {
  const int64_t reader = graph.sole_reader_of(at);
  if (reader < 0 || graph[size_t(reader)].op != &max_pool2d_op() || is_pinned(max_pool2d_op())) return {};
  const Step conv = graph[at], pool = graph[size_t(reader)];
  const auto fused =
      pooled(conv.attributes.as<Conv2dOptions>(), pool.attributes.as<MaxPool2dOptions>(), true, false);
  std::vector<int> read;
  for (const int value : conv.inputs)
    if (value != kNoValue) read.push_back(value);
  if (graph.device_of(conv.outputs[0]).kind != DeviceKind::cpu || are_used(graph, pool, 1) ||
      pool.inputs[0] != conv.outputs[0] || !fused || graph.writes_between(at, size_t(reader), read))
    return {};
  Step step{&conv2d_max_pool2d_op(), Attributes::of(*fused), conv.inputs, {pool.outputs[0]}};
  std::vector<TensorSpec> specs;
  for (const int value : step.inputs) specs.push_back(value == kNoValue ? TensorSpec{} : graph.spec(value));
  const TensorSpec made = step.op->infer(specs, step.attributes)[0], &wanted = graph.spec(pool.outputs[0]);
  if (made.shape != wanted.shape || made.strides != wanted.strides || made.dtype != wanted.dtype) return {};
  graph.replace(size_t(reader), step);
  graph.erase(at);
  return "conv2d_relu + max_pool2d → conv2d_max_pool2d";
}

/// ReLU and max-pooling commute: both keep order.
std::optional<FusedCall> fuse_relu_after_pool(const MatchedChain& chain) {
  auto options = chain.options<Conv2dMaxPool2dOptions>(0);
  if (options.relu) return {};
  options.relu = true;
  return call_with(options);
}

/// A row-major copy of the result, as flatten() makes it, is written at once.
std::optional<FusedCall> fuse_row_major_copy(const MatchedChain& chain) {
  auto options = chain.options<Conv2dMaxPool2dOptions>(0);
  if (options.row_major || chain.options<CopyOptions>(1).layout != "row_major") return {};
  options.row_major = true;
  return call_with(options);
}

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_fusions(Registry& registry) {
  registry.add_fusion({{conv2d_op, max_pool2d_op, relu_op}, fuse_conv2d_and_pool<1, true>});
  registry.add_fusion({{conv2d_op, relu_op, max_pool2d_op}, fuse_conv2d_and_pool<2, true>});
  registry.add_fusion({{conv2d_op, max_pool2d_op}, fuse_conv2d_and_pool<1, false>});
  registry.add_fusion(StepFusion{{conv2d_relu_op, max_pool2d_op}, fuse_folded_and_pool});
  registry.add_fusion({{conv2d_max_pool2d_op, relu_op}, fuse_relu_after_pool});
  registry.add_fusion({{conv2d_max_pool2d_op, copy_op}, fuse_row_major_copy});
}

}  // namespace ops
}  // namespace treadle

/// Convolutions before max-pooling, with ReLU around it, become conv2d_max_pool2d.
#include "treadle/graph/registry.h"
#include "treadle/ops/conv2d/conv2d.h"
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

/// Without a gradient nobody asks which place was the largest.
template <int pool, bool relu>
std::optional<FusedCall> fuse_conv2d_and_pool(const MatchedChain& chain) {
  const auto& options = chain.options<MaxPool2dOptions>(pool);
  const bool dilated = options.dilation.height != 1 || options.dilation.width != 1;
  if (dilated || options.kernel.height * options.kernel.width > kMostPooledPlaces) return {};
  Conv2dMaxPool2dOptions fused{chain.options<Conv2dOptions>(0), options.kernel, options.stride,
                               options.padding, relu};
  fused.choice = chain.gradient_flows;
  return call_with(fused);
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
  registry.add_fusion({{conv2d_max_pool2d_op, relu_op}, fuse_relu_after_pool});
  registry.add_fusion({{conv2d_max_pool2d_op, copy_op}, fuse_row_major_copy});
}

}  // namespace ops
}  // namespace treadle

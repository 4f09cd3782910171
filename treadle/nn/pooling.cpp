#include "treadle/nn/pooling.h"

#include "treadle/core/error.h"
#include "treadle/ops/pool2d/pool2d_geometry.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/resample/interpolate2d.h"

namespace treadle {
namespace {

template <class Options>
Options window(Pair kernel) {
  Options options;
  options.kernel = kernel;
  options.stride = kernel;
  return options;
}

template <class Options>
std::string describe_window(const char* name, const Options& options, bool ceil_mode) {
  const Pair stride = pool_stride(options.stride, options.kernel);
  return fmt::format("{}({}×{}, stride {}×{}{})", name, options.kernel.height, options.kernel.width,
                     stride.height, stride.width, ceil_mode ? ", ceil_mode" : "");
}

std::string describe_size(const char* name, Pair size) {
  return fmt::format("{}({}×{})", name, size.height, size.width);
}

}  // namespace

MaxPool2d::MaxPool2d(Pair kernel) : options_(window<MaxPool2dOptions>(kernel)) {}
std::string MaxPool2d::describe() const { return describe_window("MaxPool2d", options_, ceil_mode_); }
Tensor MaxPool2d::forward(const Tensor& x) {
  return max_pool2d(x, ceil_mode_ ? ceil_padding(options_, x.shape()) : options_);
}

AvgPool2d::AvgPool2d(Pair kernel) : options_(window<AvgPool2dOptions>(kernel)) {}
std::string AvgPool2d::describe() const { return describe_window("AvgPool2d", options_, ceil_mode_); }
Tensor AvgPool2d::forward(const Tensor& x) {
  return avg_pool2d(x, ceil_mode_ ? ceil_padding(options_, x.shape()) : options_);
}

std::string AdaptiveAvgPool2d::describe() const { return describe_size("AdaptiveAvgPool2d", size_); }
Tensor AdaptiveAvgPool2d::forward(const Tensor& x) { return adaptive_avg_pool2d(x, size_); }
std::string AdaptiveMaxPool2d::describe() const { return describe_size("AdaptiveMaxPool2d", size_); }
Tensor AdaptiveMaxPool2d::forward(const Tensor& x) { return adaptive_max_pool2d(x, size_); }

Tensor GlobalAvgPool2d::forward(const Tensor& x) {
  require<ShapeError>(x.rank() == 4, "GlobalAvgPool2d: x has shape {}, expected 4 axes", x.shape());
  return mean(x, {2, 3});
}

}  // namespace treadle

#include "treadle/nn/pooling.h"

#include <fmt/core.h>

#include "treadle/ops/pool2d/pool2d_geometry.h"

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
std::string describe_window(const char* name, const Options& options) {
  const Pair stride = pool_stride(options.stride, options.kernel);
  return fmt::format("{}({}×{}, stride {}×{})", name, options.kernel.height, options.kernel.width,
                     stride.height, stride.width);
}

}  // namespace

MaxPool2d::MaxPool2d(Pair kernel) : options_(window<MaxPool2dOptions>(kernel)) {}
std::string MaxPool2d::describe() const { return describe_window("MaxPool2d", options_); }
AvgPool2d::AvgPool2d(Pair kernel) : options_(window<AvgPool2dOptions>(kernel)) {}
std::string AvgPool2d::describe() const { return describe_window("AvgPool2d", options_); }

}  // namespace treadle

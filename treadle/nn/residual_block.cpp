#include "treadle/nn/residual_block.h"

#include "treadle/nn/sequential.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

std::shared_ptr<Conv2d> convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride, bool bias,
                                    Generator& generator) {
  return std::make_shared<Conv2d>(in, out, kernel, Conv2dOptions{.stride = stride, .padding = kernel / 2},
                                  bias, generator);
}

}  // namespace

ResidualBlock::ResidualBlock(int64_t in, int64_t out, const ResidualBlockSettings& settings,
                             Generator& generator)
    : conv1_(register_module("conv1", convolution(in, out, 3, settings.stride, settings.bias, generator))),
      conv2_(nullptr),
      bn1_(register_module("bn1", std::make_shared<BatchNorm2d>(out, settings.norm))) {
  conv2_ = register_module("conv2", convolution(out, out, 3, 1, settings.bias, generator));
  bn2_ = register_module("bn2", std::make_shared<BatchNorm2d>(out, settings.norm));
  if (in == out && settings.stride == 1) return;
  downsample_ = register_module("downsample",
                                std::make_shared<Sequential>(std::initializer_list<std::shared_ptr<Module>>{
                                    convolution(in, out, 1, settings.stride, settings.bias, generator),
                                    std::make_shared<BatchNorm2d>(out, settings.norm)}));
}

Tensor ResidualBlock::forward(const Tensor& x) {
  const Tensor y = (*bn2_)((*conv2_)(relu((*bn1_)((*conv1_)(x)))));
  return relu(y + (downsample_ ? (*downsample_)(x) : x));
}

std::string ResidualBlock::describe() const {
  return fmt::format("ResidualBlock({}→{}{})", conv1_->weight.size(1), conv1_->weight.size(0),
                     downsample_ ? ", with downsample" : "");
}

}  // namespace treadle

#include "treadle/models/mnist_resnet.h"

#include "treadle/models/model_registry.h"
#include "treadle/nn/sequential.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

/// A 3×3 convolution and batch normalisation.
std::shared_ptr<Sequential> normalized_convolution(int64_t in, int64_t out, Generator& generator) {
  return std::make_shared<Sequential>(std::initializer_list<std::shared_ptr<Module>>{
      std::make_shared<Conv2d>(in, out, 3, Conv2dOptions{.padding = 1}, true, generator),
      std::make_shared<BatchNorm2d>(out)});
}

std::shared_ptr<ResidualBlock> block(int64_t channels, Generator& generator) {
  return std::make_shared<ResidualBlock>(channels, channels, ResidualBlockSettings{.bias = true}, generator);
}

}  // namespace

MnistResnet::MnistResnet(Generator& generator)
    : stem_(register_module("stem", normalized_convolution(1, 32, generator))),
      res1_(register_module("res1", block(32, generator))),
      conv2_(register_module("conv2", normalized_convolution(32, 64, generator))),
      res2_(register_module("res2", block(64, generator))),
      pool_(register_module("pool", std::make_shared<MaxPool2d>(Pair(2)))),
      flatten_(register_module("flatten", std::make_shared<Flatten>())),
      fc1_(register_module("fc1", std::make_shared<Linear>(3136, 128, true, generator))),
      fc2_(register_module("fc2", std::make_shared<Linear>(128, 10, true, generator))) {}

Tensor MnistResnet::forward(const Tensor& x) {
  Tensor y = (*pool_)((*res1_)(relu((*stem_)(x))));
  y = (*pool_)((*res2_)(relu((*conv2_)(y))));
  return (*fc2_)(relu((*fc1_)((*flatten_)(y))));
}

namespace models {

void register_mnist_resnet(ModelRegistry& registry) {
  registry.add<MnistResnet>(
      {.place = 5,
       .name = "mnist_resnet",
       .description =
           "3×3 convolutions (32, 64) with batch norm, a residual block behind each, two linear layers",
       .input = {1, 28, 28},
       .classes = 10,
       .presets = {{"accuracy",
                    {{"data", "mnist"},
                     {"optimizer", "adamw"},
                     {"schedule", "one-cycle"},
                     {"learning_rate", "0.005"},
                     {"epochs", "3"},
                     {"batch_size", "128"},
                     {"normalize", "true"}},
                    0.994}}});
}

}  // namespace models
}  // namespace treadle

#include "treadle/models/lenet5.h"

#include "treadle/models/model_registry.h"

namespace treadle {

Lenet5::Lenet5(Generator& generator)
    : conv1_(register_module(
          "conv1", std::make_shared<Conv2d>(1, 6, 5, Conv2dOptions{.padding = 2}, true, generator))),
      conv2_(register_module("conv2", std::make_shared<Conv2d>(6, 16, 5, Conv2dOptions{}, true, generator))),
      pool_(register_module("pool", std::make_shared<MaxPool2d>(Pair(2)))),
      relu_(register_module("relu", std::make_shared<ReLU>())),
      flatten_(register_module("flatten", std::make_shared<Flatten>())),
      fc1_(register_module("fc1", std::make_shared<Linear>(400, 120, true, generator))),
      fc2_(register_module("fc2", std::make_shared<Linear>(120, 84, true, generator))),
      fc3_(register_module("fc3", std::make_shared<Linear>(84, 10, true, generator))) {}

Tensor Lenet5::forward(const Tensor& x) {
  Tensor y = (*pool_)((*relu_)((*conv1_)(x)));
  y = (*pool_)((*relu_)((*conv2_)(y)));
  y = (*relu_)((*fc1_)((*flatten_)(y)));
  return (*fc3_)((*relu_)((*fc2_)(y)));
}

namespace models {

void register_lenet5(ModelRegistry& registry) {
  registry.add<Lenet5>({.place = 2,
                        .name = "lenet5",
                        .description = "two 5×5 convolutions with max-pooling, three linear layers",
                        .input = {1, 28, 28},
                        .classes = 10,
                        .presets = {{"accuracy",
                                     {{"data", "mnist"},
                                      {"optimizer", "adam"},
                                      {"schedule", "cosine"},
                                      {"learning_rate", "0.001"},
                                      {"epochs", "10"},
                                      {"batch_size", "32"}},
                                     0.991}}});
}

}  // namespace models
}  // namespace treadle

#include "treadle/models/mnist_cnn.h"

#include "treadle/models/model_registry.h"

namespace treadle {

MnistCnn::MnistCnn(Generator& generator)
    : conv1_(register_module("conv1", std::make_shared<Conv2d>(1, 16, 5, Conv2dOptions{}, true, generator))),
      conv2_(register_module("conv2", std::make_shared<Conv2d>(16, 32, 5, Conv2dOptions{}, true, generator))),
      pool_(register_module("pool", std::make_shared<MaxPool2d>(Pair(2)))),
      relu_(register_module("relu", std::make_shared<ReLU>())),
      flatten_(register_module("flatten", std::make_shared<Flatten>())),
      fc_(register_module("fc", std::make_shared<Linear>(512, 10, true, generator))) {}

Tensor MnistCnn::forward(const Tensor& x) {
  Tensor y = (*relu_)((*pool_)((*conv1_)(x)));
  y = (*relu_)((*pool_)((*conv2_)(y)));
  return (*fc_)((*flatten_)(y));
}

namespace models {

void register_mnist_cnn(ModelRegistry& registry) {
  registry.add<MnistCnn>({.place = 4,
                          .name = "mnist_cnn",
                          .description = "two 5×5 convolutions (16, 32) with max-pooling, one linear layer",
                          .input = {1, 28, 28},
                          .classes = 10,
                          .presets = {{"fast",
                                       {{"data", "mnist"},
                                        {"optimizer", "adam"},
                                        {"schedule", "one-cycle"},
                                        {"learning_rate", "0.004"},
                                        {"warm_up", "0.2"},
                                        {"epochs", "2"},
                                        {"batch_size", "32"},
                                        {"steps", "3000"},
                                        {"normalize", "true"},
                                        {"test", "last"}}}}});
}

}  // namespace models
}  // namespace treadle

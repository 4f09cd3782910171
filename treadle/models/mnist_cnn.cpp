#include "treadle/models/mnist_cnn.h"

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

}  // namespace treadle

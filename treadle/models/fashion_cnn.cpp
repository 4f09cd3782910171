#include "treadle/models/fashion_cnn.h"

#include "treadle/models/model_registry.h"
#include "treadle/ops/layout/copy.h"

namespace treadle {

FashionCnn::FashionCnn(Generator& generator)
    : conv1_(register_module("conv1", std::make_shared<Conv2d>(1, 64, 3, Conv2dOptions{}, true, generator))),
      conv2_(
          register_module("conv2", std::make_shared<Conv2d>(64, 128, 3, Conv2dOptions{}, true, generator))),
      pool_(register_module("pool", std::make_shared<MaxPool2d>(Pair(2)))),
      relu_(register_module("relu", std::make_shared<ReLU>())),
      flatten_(register_module("flatten", std::make_shared<Flatten>())),
      fc1_(register_module("fc1", std::make_shared<Linear>(3200, 256, true, generator))),
      fc2_(register_module("fc2", std::make_shared<Linear>(256, 10, true, generator))) {}

Tensor FashionCnn::forward(const Tensor& x) {
  Tensor y = (*relu_)((*pool_)((*conv1_)(x)));
  y = (*relu_)((*pool_)((*conv2_)(y)));
  return (*fc2_)((*relu_)((*fc1_)((*flatten_)(y))));
}

namespace models {

void register_fashion_cnn(ModelRegistry& registry) {
  registry.add<FashionCnn>(
      {.place = 3,
       .name = "fashion_cnn",
       .description = "two 3×3 convolutions (64, 128) with max-pooling, two linear layers",
       .input = {1, 28, 28},
       .classes = 10,
       .presets = {{"fast",
                    {{"data", "fashion-mnist"},
                     {"optimizer", "adam"},
                     {"schedule", "one-cycle"},
                     {"learning_rate", "0.0015"},
                     {"warm_up", "0.2"},
                     {"epochs", "3"},
                     {"batch_size", "48"},
                     {"steps", "3500"},
                     {"normalize", "true"},
                     {"test", "last"}}},
                   {"accuracy",
                    {{"data", "fashion-mnist"},
                     {"optimizer", "adam"},
                     {"schedule", "cosine"},
                     {"learning_rate", "0.001"},
                     {"epochs", "5"},
                     {"batch_size", "32"}},
                    0.917},
                   {"best",
                    {{"data", "fashion-mnist"},
                     {"augment", "flip,crop:2,cutout:8"},
                     {"optimizer", "adamw"},
                     {"weight_decay", "0.05"},
                     {"schedule", "one-cycle"},
                     {"learning_rate", "0.002"},
                     {"ema", "0.999"},
                     {"label_smoothing", "0.05"},
                     {"epochs", "40"},
                     {"batch_size", "64"},
                     {"normalize", "true"}},
                    0.935}},
       .usual = true});
}

}  // namespace models
}  // namespace treadle

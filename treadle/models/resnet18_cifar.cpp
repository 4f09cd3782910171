#include "treadle/models/resnet18_cifar.h"

#include "treadle/core/error.h"
#include "treadle/models/model_registry.h"
#include "treadle/nn/linear.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

const ModelTask kCifar{{3, 32, 32}, 10};
constexpr int64_t kWidths[] = {64, 128, 256, 512};

int64_t channels_of(const Shape& input) {
  require<ShapeError>(input.rank() == 3, "resnet18_cifar: examples have shape {}, expected [C, H, W]", input);
  return input[0];
}

}  // namespace

Resnet18Cifar::Resnet18Cifar(Generator& generator) : Resnet18Cifar(kCifar, generator) {}

Resnet18Cifar::Resnet18Cifar(const ModelTask& task, Generator& generator)
    : conv1_(
          register_module("conv1", std::make_shared<Conv2d>(channels_of(task.input), kWidths[0], 3,
                                                            Conv2dOptions{.padding = 1}, false, generator))),
      bn1_(register_module("bn1", std::make_shared<BatchNorm2d>(kWidths[0]))) {
  int64_t channels = kWidths[0];
  for (int64_t width : kWidths) {
    const int64_t stride = width == channels ? 1 : 2;
    auto first =
        std::make_shared<ResidualBlock>(channels, width, ResidualBlockSettings{.stride = stride}, generator);
    auto second = std::make_shared<ResidualBlock>(width, width, ResidualBlockSettings{}, generator);
    stages_.push_back(register_module(
        fmt::format("layer{}", stages_.size() + 1),
        std::make_shared<Sequential>(std::initializer_list<std::shared_ptr<Module>>{first, second})));
    channels = width;
  }
  fc_ = register_module("fc", std::make_shared<Linear>(channels, task.classes, true, generator));
}

Tensor Resnet18Cifar::forward(const Tensor& x) {
  Tensor y = relu((*bn1_)((*conv1_)(to_channels_last(x))));
  for (const auto& stage : stages_) y = (*stage)(y);
  return (*fc_)(mean(y, {2, 3}));
}

namespace models {

void register_resnet18_cifar(ModelRegistry& registry) {
  registry.add<Resnet18Cifar>({.place = 7,
                               .name = "resnet18_cifar",
                               .description = "ResNet-18 for small images: eight residual blocks (64 to 512)",
                               .input = kCifar.input,
                               .classes = kCifar.classes,
                               .presets = {{"accuracy",
                                            {{"data", "cifar-10"},
                                             {"optimizer", "sgd"},
                                             {"schedule", "one-cycle"},
                                             {"learning_rate", "0.1"},
                                             {"epochs", "15"},
                                             {"batch_size", "128"},
                                             {"normalize", "true"}}}}});
}

}  // namespace models
}  // namespace treadle

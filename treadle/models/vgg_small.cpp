#include "treadle/models/vgg_small.h"

#include "treadle/core/error.h"
#include "treadle/models/model_registry.h"
#include "treadle/models/numbered_layers.h"
#include "treadle/nn/activation.h"
#include "treadle/nn/batch_norm.h"
#include "treadle/nn/conv2d.h"
#include "treadle/nn/pooling.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

const ModelTask kCifar{{3, 32, 32}, 10};
constexpr int64_t kWidths[] = {64, 128, 256}, kSmallest = 8;

std::shared_ptr<Sequential> features(const Shape& input, Generator& generator) {
  require<ShapeError>(input.rank() == 3 && input[1] >= kSmallest && input[2] >= kSmallest,
                      "vgg_small: examples have shape {}, expected [C, H, W] of {}×{} or more", input,
                      kSmallest, kSmallest);
  NumberedLayers layers;
  int64_t channels = input[0];
  for (int64_t width : kWidths) {
    for (int i = 0; i < 2; ++i, channels = width) {
      layers.add(std::make_shared<Conv2d>(channels, width, 3, Conv2dOptions{.padding = 1}, true, generator));
      layers.add(std::make_shared<BatchNorm2d>(width));
      layers.add(std::make_shared<ReLU>());
    }
    layers.add(std::make_shared<MaxPool2d>(Pair(2)));
  }
  return std::move(layers).sequential();
}

}  // namespace

VggSmall::VggSmall(Generator& generator) : VggSmall(kCifar, generator) {}

VggSmall::VggSmall(const ModelTask& task, Generator& generator)
    : features_(register_module("features", features(task.input, generator))),
      classifier_(register_module("classifier",
                                  std::make_shared<Linear>(kWidths[2], task.classes, true, generator))) {}

Tensor VggSmall::forward(const Tensor& x) {
  return (*classifier_)(mean((*features_)(to_channels_last(x)), {2, 3}));
}

namespace models {

void register_vgg_small(ModelRegistry& registry) {
  registry.add<VggSmall>({.place = 6,
                          .name = "vgg_small",
                          .description =
                              "six 3×3 convolutions (64, 128, 256) with batch norm, global pooling, one "
                              "linear layer",
                          .input = kCifar.input,
                          .classes = kCifar.classes,
                          .presets = {{"accuracy",
                                       {{"data", "cifar-10"},
                                        {"optimizer", "adamw"},
                                        {"schedule", "one-cycle"},
                                        {"learning_rate", "0.003"},
                                        {"epochs", "10"},
                                        {"batch_size", "128"},
                                        {"normalize", "true"}}}}});
}

}  // namespace models
}  // namespace treadle

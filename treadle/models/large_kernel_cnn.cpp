#include "treadle/models/large_kernel_cnn.h"

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
constexpr int64_t kSmallest = 8;

struct Stage {
  int64_t channels, kernel;
};
constexpr Stage kStages[] = {{32, 7}, {64, 5}, {128, 5}};
constexpr int64_t kLast = 128;

std::shared_ptr<Sequential> features(const Shape& input, Generator& generator) {
  require<ShapeError>(input.rank() == 3 && input[1] >= kSmallest && input[2] >= kSmallest,
                      "large_kernel_cnn: examples have shape {}, expected [C, H, W] of {}×{} or more", input,
                      kSmallest, kSmallest);
  NumberedLayers layers;
  int64_t channels = input[0];
  for (const Stage& stage : kStages) {
    layers.add(std::make_shared<Conv2d>(channels, stage.channels, stage.kernel,
                                        Conv2dOptions{.padding = stage.kernel / 2}, false, generator));
    layers.add(std::make_shared<BatchNorm2d>(stage.channels));
    layers.add(std::make_shared<ReLU>());
    layers.add(std::make_shared<MaxPool2d>(Pair(2)));
    channels = stage.channels;
  }
  return std::move(layers).sequential();
}

}  // namespace

LargeKernelCnn::LargeKernelCnn(Generator& generator) : LargeKernelCnn(kCifar, generator) {}

LargeKernelCnn::LargeKernelCnn(const ModelTask& task, Generator& generator)
    : features_(register_module("features", features(task.input, generator))),
      classifier_(
          register_module("classifier", std::make_shared<Linear>(kLast, task.classes, true, generator))) {}

Tensor LargeKernelCnn::forward(const Tensor& x) {
  return (*classifier_)(mean((*features_)(to_channels_last(x)), {2, 3}));
}

namespace models {

void register_large_kernel_cnn(ModelRegistry& registry) {
  registry.add<LargeKernelCnn>(
      {.place = 9,
       .name = "large_kernel_cnn",
       .description = "a 7×7 convolution and two 5×5 ones (32, 64, 128) with batch norm and max-pooling",
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

#include "treadle/models/mobilenet_cifar.h"

#include "treadle/core/error.h"
#include "treadle/models/model_registry.h"
#include "treadle/models/numbered_layers.h"
#include "treadle/nn/activation.h"
#include "treadle/nn/batch_norm.h"
#include "treadle/nn/conv2d.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

const ModelTask kCifar{{3, 32, 32}, 10};
constexpr int64_t kFirst = 32;

struct Block {
  int64_t channels, stride;
};
constexpr Block kBlocks[] = {{64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}};
constexpr int64_t kLast = 256;

std::shared_ptr<Sequential> features(const Shape& input, Generator& generator) {
  require<ShapeError>(input.rank() == 3, "mobilenet_cifar: examples have shape {}, expected [C, H, W]",
                      input);
  NumberedLayers layers;
  auto add_convolution = [&](int64_t in, int64_t out, int64_t kernel, const Conv2dOptions& options) {
    layers.add(std::make_shared<Conv2d>(in, out, kernel, options, false, generator));
    layers.add(std::make_shared<BatchNorm2d>(out));
    layers.add(std::make_shared<ReLU>());
  };
  add_convolution(input[0], kFirst, 3, {.padding = 1});
  int64_t channels = kFirst;
  for (const Block& block : kBlocks) {
    add_convolution(channels, channels, 3, {.stride = block.stride, .padding = 1, .groups = channels});
    add_convolution(channels, block.channels, 1, {});
    channels = block.channels;
  }
  return std::move(layers).sequential();
}

}  // namespace

MobilenetCifar::MobilenetCifar(Generator& generator) : MobilenetCifar(kCifar, generator) {}

MobilenetCifar::MobilenetCifar(const ModelTask& task, Generator& generator)
    : features_(register_module("features", features(task.input, generator))),
      classifier_(
          register_module("classifier", std::make_shared<Linear>(kLast, task.classes, true, generator))) {}

Tensor MobilenetCifar::forward(const Tensor& x) {
  return (*classifier_)(mean((*features_)(to_channels_last(x)), {2, 3}));
}

namespace models {

void register_mobilenet_cifar(ModelRegistry& registry) {
  registry.add<MobilenetCifar>(
      {.place = 8,
       .name = "mobilenet_cifar",
       .description = "a 3×3 convolution and five depthwise separable ones (64 to 256) with batch norm",
       .input = kCifar.input,
       .classes = kCifar.classes,
       .presets = {{"accuracy",
                    {{"data", "cifar-10"},
                     {"optimizer", "adamw"},
                     {"schedule", "one-cycle"},
                     {"learning_rate", "0.004"},
                     {"epochs", "10"},
                     {"batch_size", "128"},
                     {"normalize", "true"}}}}});
}

}  // namespace models
}  // namespace treadle

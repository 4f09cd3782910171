#include "treadle/models/vision_transformer.h"

#include "treadle/core/error.h"
#include "treadle/models/model_registry.h"
#include "treadle/nn/init.h"
#include "treadle/nn/sequential.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

const ModelTask kDigits{{1, 28, 28}, 10};
constexpr int64_t kPatch = 4, kFeatures = 64, kHeads = 4, kLayers = 4, kHidden = 128;
constexpr double kDeviation = 0.02;  ///< of the first values of tokens and positions, as in the paper's code

int64_t tokens_of(const Shape& input) {
  require<ShapeError>(
      input.rank() == 3 && input[1] > 0 && input[2] > 0 && input[1] % kPatch == 0 && input[2] % kPatch == 0,
      "vision_transformer: examples have shape {}, expected [C, H, W] with sides that are "
      "multiples of {}",
      input, kPatch);
  return 1 + input[1] / kPatch * (input[2] / kPatch);
}

std::shared_ptr<Module> encoder(Generator& generator) {
  const TransformerEncoderLayerOptions options{
      .feedforward = kHidden, .dropout = 0, .gelu = true, .norm_first = true};
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> layers;
  for (int64_t i = 0; i < kLayers; ++i)
    layers.emplace_back(std::to_string(i),
                        std::make_shared<TransformerEncoderLayer>(kFeatures, kHeads, options, generator));
  return std::make_shared<Sequential>(std::move(layers));
}

Tensor truncated_normal(const Shape& shape, Generator& generator) {
  const Tensor values = Tensor::empty(shape);
  init_truncated_normal(values, 0, kDeviation, -2 * kDeviation, 2 * kDeviation, generator);
  return values;
}

}  // namespace

VisionTransformer::VisionTransformer(Generator& generator) : VisionTransformer(kDigits, generator) {}

VisionTransformer::VisionTransformer(const ModelTask& task, Generator& generator)
    : class_token(register_parameter("class_token", truncated_normal({1, 1, kFeatures}, generator))),
      position(
          register_parameter("position", truncated_normal({1, tokens_of(task.input), kFeatures}, generator))),
      patch_(register_module(
          "patch", std::make_shared<Conv2d>(task.input[0], kFeatures, kPatch, Conv2dOptions{.stride = kPatch},
                                            true, generator))),
      layers_(register_module("layers", encoder(generator))),
      norm_(register_module("norm", std::make_shared<LayerNorm>(kFeatures))),
      head_(register_module("head", std::make_shared<Linear>(kFeatures, task.classes, true, generator))) {}

Tensor VisionTransformer::forward(const Tensor& x) {
  const Tensor patches = transpose(flatten((*patch_)(x), 2), 1, 2);  // [N, patches, features]
  const Tensor first = expand(class_token, {x.size(0), 1, kFeatures});
  const Tensor encoded = (*norm_)((*layers_)(concat({first, patches}, 1) + position));
  return (*head_)(squeeze(slice(encoded, 1, 0, 1), 1));
}

namespace models {

void register_vision_transformer(ModelRegistry& registry) {
  registry.add<VisionTransformer>(
      {.place = 10,
       .name = "vision_transformer",
       .description = "patches of 4×4 as tokens, four encoder layers of 64 features",
       .input = kDigits.input,
       .classes = kDigits.classes,
       .presets = {{"accuracy",
                    {{"data", "fashion-mnist"},
                     {"optimizer", "adamw"},
                     {"schedule", "one-cycle"},
                     {"learning_rate", "0.002"},
                     {"epochs", "10"},
                     {"batch_size", "64"},
                     {"normalize", "true"}},
                    0.89}}});
}

}  // namespace models
}  // namespace treadle

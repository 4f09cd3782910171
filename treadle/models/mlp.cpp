#include "treadle/models/mlp.h"

#include "treadle/core/error.h"
#include "treadle/models/model_options.h"
#include "treadle/models/model_registry.h"

namespace treadle {

namespace {

const ModelTask kDigits{{1, 28, 28}, 10};
constexpr int64_t kMostLayers = 32, kMostFeatures = 16384;

const MlpOptions& checked(const MlpOptions& o) {
  const auto within = [](const char* name, int64_t value, int64_t most) {
    require<ValueError>(value >= 1 && value <= most, "mlp: {}={} is not within 1 to {}", name, value, most);
  };
  within("layers", o.layers, kMostLayers);
  within("features", o.features, kMostFeatures);
  return o;
}

}  // namespace

Mlp::Mlp(Generator& generator) : Mlp(kDigits, generator) {}

Mlp::Mlp(const ModelTask& task, Generator& generator)
    : Mlp(task, options_in<MlpOptions>(task.options), generator) {}

Mlp::Mlp(const ModelTask& task, const MlpOptions& options, Generator& generator)
    : flatten_(register_module("flatten", std::make_shared<Flatten>())) {
  int64_t in = checked_numel(task.input);
  const auto add = [&](int64_t out) {
    linear_.push_back(register_module(fmt::format("fc{}", linear_.size() + 1),
                                      std::make_shared<Linear>(in, out, true, generator)));
    in = out;
  };
  add(checked(options).features);
  relu_ = register_module("relu", std::make_shared<ReLU>());
  for (int64_t i = 1; i < options.layers; ++i) add(options.features);
  add(task.classes);
}

Tensor Mlp::forward(const Tensor& x) {
  Tensor y = (*linear_.front())((*flatten_)(x));
  for (size_t i = 1; i < linear_.size(); ++i) y = (*linear_[i])((*relu_)(y));
  return y;
}

namespace models {

void register_mlp(ModelRegistry& registry) {
  registry.add<Mlp>({.place = 1,
                     .name = "mlp",
                     .description = "784→128, ReLU, →10; other inputs and classes as the data set has",
                     .input = kDigits.input,
                     .classes = kDigits.classes,
                     .options = &schema_of<MlpOptions>(),
                     .presets = {{"accuracy",
                                  {{"data", "mnist"},
                                   {"optimizer", "adam"},
                                   {"schedule", "cosine"},
                                   {"learning_rate", "0.001"},
                                   {"epochs", "12"},
                                   {"normalize", "true"},
                                   {"batch_size", "32"}},
                                  0.98}}});
}

}  // namespace models
}  // namespace treadle

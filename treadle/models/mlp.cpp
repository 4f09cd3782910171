#include "treadle/models/mlp.h"

#include "treadle/models/model_registry.h"

namespace treadle {

namespace {
const ModelTask kDigits{{1, 28, 28}, 10};
}

Mlp::Mlp(Generator& generator) : Mlp(kDigits, generator) {}

Mlp::Mlp(const ModelTask& task, Generator& generator)
    : flatten_(register_module("flatten", std::make_shared<Flatten>())),
      fc1_(register_module("fc1", std::make_shared<Linear>(checked_numel(task.input), 128, true, generator))),
      relu_(register_module("relu", std::make_shared<ReLU>())),
      fc2_(register_module("fc2", std::make_shared<Linear>(128, task.classes, true, generator))) {}

Tensor Mlp::forward(const Tensor& x) { return (*fc2_)((*relu_)((*fc1_)((*flatten_)(x)))); }

namespace models {

void register_mlp(ModelRegistry& registry) {
  registry.add<Mlp>({.place = 1,
                     .name = "mlp",
                     .description = "784→128, ReLU, →10; other inputs and classes as the data set has",
                     .input = kDigits.input,
                     .classes = kDigits.classes,
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

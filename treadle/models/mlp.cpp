#include "treadle/models/mlp.h"

#include "treadle/models/model_registry.h"

namespace treadle {

Mlp::Mlp(Generator& generator)
    : flatten_(register_module("flatten", std::make_shared<Flatten>())),
      fc1_(register_module("fc1", std::make_shared<Linear>(784, 128, true, generator))),
      relu_(register_module("relu", std::make_shared<ReLU>())),
      fc2_(register_module("fc2", std::make_shared<Linear>(128, 10, true, generator))) {}

Tensor Mlp::forward(const Tensor& x) { return (*fc2_)((*relu_)((*fc1_)((*flatten_)(x)))); }

namespace models {

void register_mlp(ModelRegistry& registry) {
  registry.add<Mlp>(
      {.place = 1, .name = "mlp", .description = "784→128, ReLU, →10", .input = {1, 28, 28}, .classes = 10});
}

}  // namespace models
}  // namespace treadle

#include "treadle/models/mlp.h"

namespace treadle {

Mlp::Mlp(Generator& generator)
    : flatten_(register_module("flatten", std::make_shared<Flatten>())),
      fc1_(register_module("fc1", std::make_shared<Linear>(784, 128, true, generator))),
      relu_(register_module("relu", std::make_shared<ReLU>())),
      fc2_(register_module("fc2", std::make_shared<Linear>(128, 10, true, generator))) {}

Tensor Mlp::forward(const Tensor& x) { return (*fc2_)((*relu_)((*fc1_)((*flatten_)(x)))); }

}  // namespace treadle

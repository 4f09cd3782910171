#include "treadle/nn/sequential.h"

namespace treadle {

Sequential::Sequential(std::initializer_list<std::shared_ptr<Module>> layers) {
  for (auto& layer : layers) register_module(std::to_string(children().size()), layer);
}

Sequential::Sequential(std::vector<std::pair<std::string, std::shared_ptr<Module>>> layers) {
  for (auto& [name, layer] : layers) register_module(name, layer);
}

Tensor Sequential::forward(const Tensor& x) {
  Tensor y = x;
  for (auto& [name, layer] : children()) y = (*layer)(y);
  return y;
}

}  // namespace treadle

#include "treadle/nn/sequential.h"

namespace treadle {

Sequential::Sequential(std::initializer_list<std::shared_ptr<Module>> layers) {
  for (auto& layer : layers) register_module(std::to_string(children().size()), layer);
}

Sequential::Sequential(std::vector<std::pair<std::string, std::shared_ptr<Module>>> layers) {
  for (auto& [name, layer] : layers) register_module(name, layer);
}

std::vector<Tensor> Sequential::forward_all(std::span<const Tensor> inputs) {
  std::vector<Tensor> values(inputs.begin(), inputs.end());
  for (auto& [name, layer] : children()) values = layer->call(values);
  return values;
}

}  // namespace treadle

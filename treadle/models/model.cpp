#include "treadle/models/model.h"

#include "treadle/core/error.h"
#include "treadle/core/nearest_name.h"
#include "treadle/models/fashion_cnn.h"
#include "treadle/models/lenet5.h"
#include "treadle/models/mlp.h"
#include "treadle/models/mnist_cnn.h"

namespace treadle {

const std::vector<ModelInfo>& known_models() {
  static const Shape grey28{1, 28, 28};
  static const std::vector<ModelInfo> models{
      {"mlp", "784→128, ReLU, →10", grey28, 10,
       [](Generator& g) -> std::shared_ptr<Module> { return std::make_shared<Mlp>(g); }},
      {"lenet5", "two 5×5 convolutions with max-pooling, three linear layers", grey28, 10,
       [](Generator& g) -> std::shared_ptr<Module> { return std::make_shared<Lenet5>(g); }},
      {"fashion_cnn", "two 3×3 convolutions (64, 128) with max-pooling, two linear layers", grey28, 10,
       [](Generator& g) -> std::shared_ptr<Module> { return std::make_shared<FashionCnn>(g); }},
      {"mnist_cnn", "two 5×5 convolutions (16, 32) with max-pooling, one linear layer", grey28, 10,
       [](Generator& g) -> std::shared_ptr<Module> { return std::make_shared<MnistCnn>(g); }}};
  return models;
}

const ModelInfo& model_info(const std::string& name) {
  std::vector<std::string> known;
  for (const ModelInfo& info : known_models()) {
    if (info.name == name) return info;
    known.push_back(info.name);
  }
  throw ValueError(unknown_name("no model is called", name, known));
}

std::shared_ptr<Module> make_model(const std::string& name, uint64_t seed) {
  Generator generator(seed);
  return model_info(name).make(generator);
}

}  // namespace treadle

/// Where the files of models/ declare their models.
#pragma once

#include <vector>

#include "treadle/models/model.h"

namespace treadle {

class ModelRegistry {
 public:
  /// M is made of a generator.
  template <class M>
  void add(ModelInfo info) {
    info.make = [](Generator& generator) { return std::make_shared<M>(generator); };
    add(std::move(info));
  }

  const std::vector<ModelInfo>& models() const { return models_; }

 private:
  void add(ModelInfo info);

  std::vector<ModelInfo> models_;
};

}  // namespace treadle

/// Where the files of models/ declare their models.
#pragma once

#include <type_traits>
#include <vector>

#include "treadle/models/model.h"

namespace treadle {

class ModelRegistry {
 public:
  /// M is made of a generator; one that follows the data, of a task and a generator.
  template <class M>
  void add(ModelInfo info) {
    info.follows_data = std::is_constructible_v<M, const ModelTask&, Generator&>;
    info.make = [](const ModelTask& task, Generator& generator) {
      if constexpr (std::is_constructible_v<M, const ModelTask&, Generator&>)
        return std::make_shared<M>(task, generator);
      else
        return std::make_shared<M>(generator);
    };
    add(std::move(info));
  }

  const std::vector<ModelInfo>& models() const { return models_; }

 private:
  void add(ModelInfo info);

  std::vector<ModelInfo> models_;
};

}  // namespace treadle

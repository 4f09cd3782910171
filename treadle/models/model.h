/// The models the program knows, by name.
#pragma once  // public

#include <memory>
#include <string>
#include <vector>

#include "treadle/core/random.h"
#include "treadle/nn/module.h"

namespace treadle {

struct ModelInfo {
  std::string name, description;
  /// Shape of one image [C,H,W], pixel/255.
  Shape input;
  int64_t classes = 10;
  std::shared_ptr<Module> (*make)(Generator& generator) = nullptr;
};

TREADLE_API const std::vector<ModelInfo>& known_models();

/// Throws ValueError listing the known ones.
TREADLE_API const ModelInfo& model_info(const std::string& name);

/// A fresh model on the cpu, initialised from `seed`.
TREADLE_API std::shared_ptr<Module> make_model(const std::string& name, uint64_t seed = 0);

}  // namespace treadle

/// Layers that are called by their numbers, as in PyTorch.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "treadle/nn/sequential.h"

namespace treadle {

class NumberedLayers {
 public:
  void add(std::shared_ptr<Module> layer) {
    layers_.emplace_back(std::to_string(layers_.size()), std::move(layer));
  }
  /// All that were added, one after another.
  std::shared_ptr<Sequential> sequential() && { return std::make_shared<Sequential>(std::move(layers_)); }

 private:
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> layers_;
};

}  // namespace treadle

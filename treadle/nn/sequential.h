/// Layers one after another.
#pragma once  // public

#include "treadle/nn/module.h"

namespace treadle {

/// What one layer gives, one tensor or several, the next one takes.
class TREADLE_API Sequential final : public Module {
 public:
  /// Children are called "0", "1", … as in PyTorch.
  Sequential(std::initializer_list<std::shared_ptr<Module>> layers);
  /// Children with names of their own; those become the prefixes of their parameters.
  explicit Sequential(std::vector<std::pair<std::string, std::shared_ptr<Module>>> layers);
  std::string describe() const override { return "Sequential"; }

 protected:
  std::vector<Tensor> forward_all(std::span<const Tensor> inputs) override;
};

}  // namespace treadle

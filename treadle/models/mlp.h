/// A perceptron with hidden layers.
#pragma once  // public

#include "treadle/models/model.h"
#include "treadle/nn/activation.h"
#include "treadle/nn/flatten.h"
#include "treadle/nn/linear.h"

namespace treadle {

struct MlpOptions {
  int64_t layers = 1;      ///< hidden ones
  int64_t features = 128;  ///< of each

  static void describe(auto& field) {
    using O = MlpOptions;
    field("layers", &O::layers, "hidden ones, 1 to 32");
    field("features", &O::features, "of a hidden layer, up to 16384");
  }
};

/// [N,…] → flatten, then linear layers D→features, ReLU, …, features→K, called fc1, fc2 and so on. For images
/// of 28×28 and ten classes, 784→128→10, which is what it is made for where nothing else is said, 101,770
/// parameters.
class TREADLE_API Mlp final : public Module {
 public:
  explicit Mlp(Generator& generator = default_generator());
  /// For examples of any shape. Throws ShapeError where it overflows, ValueError for no elements or classes
  /// and for options out of range.
  explicit Mlp(const ModelTask& task, Generator& generator = default_generator());
  std::string describe() const override { return "Mlp"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Mlp(const ModelTask& task, const MlpOptions& options, Generator& generator);

  std::shared_ptr<Flatten> flatten_;
  std::vector<std::shared_ptr<Linear>> linear_;
  std::shared_ptr<ReLU> relu_;
};

}  // namespace treadle

/// A convolutional network of large kernels, for images of 32×32.
#pragma once  // public

#include "treadle/models/model.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/sequential.h"

namespace treadle {

/// [N,C,H,W] → features: a 7×7 convolution to 32 channels and 5×5 ones to 64 and 128, each with batch norm,
/// ReLU and max-pool 2; classifier: the mean over all places, 128→K. For images of 3×32×32 and ten classes
/// where nothing else is said, 262,442 parameters.
class TREADLE_API LargeKernelCnn final : public Module {
 public:
  explicit LargeKernelCnn(Generator& generator = default_generator());
  /// For images of at least 8×8. Throws ShapeError for others.
  explicit LargeKernelCnn(const ModelTask& task, Generator& generator = default_generator());
  std::string describe() const override { return "LargeKernelCnn"; }

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Sequential> features_;
  std::shared_ptr<Linear> classifier_;
};

}  // namespace treadle

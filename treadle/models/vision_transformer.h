/// A small vision transformer (Dosovitskiy et al., An Image is Worth 16x16 Words, 2021).
#pragma once  // public

#include "treadle/models/model.h"
#include "treadle/nn/conv2d.h"
#include "treadle/nn/transformer.h"

namespace treadle {

/// [N,C,H,W] → patches of 4×4 as tokens of 64 features, a token for the class in front, positions added; four
/// pre-norm encoder layers of 4 heads with 128 features in between and GELU; layer norm, and the class
/// token's 64→K. For images of 28×28 and ten classes where nothing else is said, 139,018 parameters.
class TREADLE_API VisionTransformer final : public Module {
 public:
  explicit VisionTransformer(Generator& generator = default_generator());
  /// For images whose sides are multiples of 4. Throws ShapeError for others.
  explicit VisionTransformer(const ModelTask& task, Generator& generator = default_generator());
  std::string describe() const override { return "VisionTransformer"; }

  Tensor class_token, position;  ///< [1, 1, 64] and [1, 1 + patches, 64]

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::shared_ptr<Conv2d> patch_;
  std::shared_ptr<Module> layers_;
  std::shared_ptr<LayerNorm> norm_;
  std::shared_ptr<Linear> head_;
};

}  // namespace treadle

#include "treadle/nn/resampling.h"

#include "treadle/core/error.h"
#include "treadle/ops/layout/views.h"

namespace treadle {

Upsample::Upsample(Pair factor, std::string mode, bool align_corners)
    : factor_(factor), mode_(std::move(mode)), align_corners_(align_corners) {
  auto sound = [](int64_t times) { return times > 0 && times <= kMostGeometry; };
  require<ValueError>(sound(factor.height) && sound(factor.width),
                      "Upsample: the factor [{}, {}] must be from 1 to {}", factor.height, factor.width,
                      kMostGeometry);
}

Tensor Upsample::forward(const Tensor& x) {
  require<ShapeError>(x.rank() == 4, "Upsample: x has shape {}, expected 4 axes", x.shape());
  return interpolate2d(x, {{x.size(2) * factor_.height, x.size(3) * factor_.width}, mode_, align_corners_});
}

std::string Upsample::describe() const {
  return fmt::format("Upsample({}×{}, {}{})", factor_.height, factor_.width, mode_,
                     align_corners_ ? ", corners aligned" : "");
}

std::string PixelShuffle::describe() const { return fmt::format("PixelShuffle({})", factor_); }
Tensor PixelShuffle::forward(const Tensor& x) { return pixel_shuffle(x, factor_); }
std::string PixelUnshuffle::describe() const { return fmt::format("PixelUnshuffle({})", factor_); }
Tensor PixelUnshuffle::forward(const Tensor& x) { return pixel_unshuffle(x, factor_); }

}  // namespace treadle

/// Layers that change the size of images: upsampling, and channels as places.
#pragma once  // public

#include "treadle/nn/module.h"
#include "treadle/ops/resample/interpolate2d.h"

namespace treadle {

/// interpolate2d to `factor` times x's height and width, by "nearest" or "bilinear". Throws ValueError for a
/// factor that is not positive, and ValueError for another mode where it is called.
class TREADLE_API Upsample final : public Module {
 public:
  explicit Upsample(Pair factor, std::string mode = "nearest", bool align_corners = false);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  Pair factor_;
  std::string mode_;
  bool align_corners_;
};

/// pixel_shuffle: [N,C·r²,H,W] → [N,C,H·r,W·r].
class TREADLE_API PixelShuffle final : public Module {
 public:
  explicit PixelShuffle(int64_t factor) : factor_(factor) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  int64_t factor_;
};

/// pixel_unshuffle: [N,C,H·r,W·r] → [N,C·r²,H,W].
class TREADLE_API PixelUnshuffle final : public Module {
 public:
  explicit PixelUnshuffle(int64_t factor) : factor_(factor) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  int64_t factor_;
};

}  // namespace treadle

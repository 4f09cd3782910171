/// conv2d of 3×3 windows and stride 1 by Winograd's F(2×2, 3×3).
///
/// Four neighbouring results are linear in 16 pixels and 9 taps. In the right bases, in which polynomials are
/// told by their values at four points, 16 products make them, where directly they take 36: 2.25 times fewer
/// for every channel and filter. Changing the bases takes additions, once for each tile and channel, and
/// memory for what is transformed: 4 times x, and 4 times y. Winograd, Arithmetic Complexity of Computations,
/// 1980; Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016.
#include "treadle/ops/conv2d/cuda/winograd.cuh"

namespace treadle::TREADLE_TARGET {

/// The error's growth: where all pixels and all taps have one size, those of what is added for a result along
/// one axis, |Aᵀ|(|G|1 ⊙ |Bᵀ|1), are 8 in place of 3.
void register_conv2d_cuda_winograd_2x2(Registry& registry) {
  add_variant(registry, "conv2d",
              {.name = "winograd_2x2",
               .device = kDevice,
               .run = run_winograd<TwoResults>,
               .when = takes_winograd,
               .preference = kWinogradPreference,
               .error_growth = 8.0 * 8 / 9,
               .rung = 4,
               .idea = "tiles of 2×2 results in 16 products, not 36"});
}

}  // namespace treadle::TREADLE_TARGET

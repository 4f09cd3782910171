/// conv2d of 3×3 windows and stride 1 by Winograd's F(4×4, 3×3).
///
/// As winograd_2x2, with tiles of 4×4 results: 36 products for what takes 144 directly, four times fewer, and
/// what is transformed is 2.25 times x and y, not 4. But six points lie further apart than four, and their
/// powers grow, and with them the roundings. Lavin and Gray, Fast Algorithms for Convolutional Neural
/// Networks, 2016.
#include "treadle/ops/conv2d/cuda/winograd.cuh"

namespace treadle::TREADLE_TARGET {

/// The error's growth, as in winograd_2x2: |Aᵀ|(|G|1 ⊙ |Bᵀ|1) is 22, 10.5, 10.5 and 22 for the four results
/// of an axis, in place of 3.
void register_conv2d_cuda_winograd_4x4(Registry& registry) {
  add_variant(registry, "conv2d",
              {.name = "winograd_4x4",
               .device = kDevice,
               .run = run_winograd<FourResults>,
               .when = takes_winograd,
               .preference = kWinogradPreference,
               .error_growth = 22.0 * 22 / 9,
               .rung = 5,
               .idea = "tiles of 4×4 results in 36 products, not 144"});
}

}  // namespace treadle::TREADLE_TARGET

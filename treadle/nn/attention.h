/// Attention with several heads.
#pragma once  // public

#include "treadle/core/random.h"
#include "treadle/nn/linear.h"
#include "treadle/nn/module.h"

namespace treadle {

struct MultiheadAttentionOptions {
  double dropout = 0;  ///< of the weights, in training
  bool bias = true;
  bool causal = false;  ///< whether a query sees only keys up to its own place
};

/// Scaled dot-product attention in `heads` parts of the features, between linear maps in and out: query [N,
/// L, features], key and value [N, S, features] → [N, L, features], as PyTorch's with batch_first. Called
/// with (x), with (query, key, value), or with these and a mask, which is that of
/// scaled_dot_product_attention(): broadcast to [N, heads, L, S], added, or of bool, true where a key is
/// seen, which is the opposite of PyTorch's here.
///
/// in_proj_weight [3·features, features] and in_proj_bias are those of query, key and value, one behind the
/// other: Xavier uniform and 0; out_proj is a Linear with a bias of 0. Throws ShapeError unless the heads
/// divide the features, ValueError for a dropout outside [0, 1].
class TREADLE_API MultiheadAttention final : public Module {
 public:
  MultiheadAttention(int64_t features, int64_t heads, const MultiheadAttentionOptions& options = {},
                     Generator& generator = default_generator());
  std::string describe() const override;
  int64_t multiply_adds(std::span<const Shape> inputs, std::span<const Shape> outputs) const override;

  Tensor in_proj_weight, in_proj_bias;
  std::shared_ptr<Linear> out_proj;

 protected:
  std::vector<Tensor> forward_all(std::span<const Tensor> inputs) override;

 private:
  std::vector<Tensor> project(std::span<const Tensor> inputs) const;
  Tensor split(const Tensor& x) const;
  Tensor attend(const std::vector<Tensor>& projected, const Tensor& mask) const;

  int64_t features_, heads_;
  MultiheadAttentionOptions options_;
};

}  // namespace treadle

/// The encoder layer of a transformer.
#pragma once  // public

#include "treadle/nn/attention.h"
#include "treadle/nn/dropout.h"
#include "treadle/nn/layer_norm.h"

namespace treadle {

struct TransformerEncoderLayerOptions {
  int64_t feedforward = 2048;  ///< features between linear1 and linear2
  double dropout = 0.1;     ///< of what is added to x, between the linear layers, and of attention's weights
  bool gelu = false;        ///< GELU in place of ReLU
  bool norm_first = false;  ///< pre-norm: each block sees normalised features, and x is passed on as it is
  bool causal = false;      ///< as a decoder that sees no later token: what a GPT is made of
  double epsilon = 1e-5;    ///< of both norms
};

/// Attention, then two linear layers with an activation between them, each added to what it gets: x [N, L,
/// features] → the same shape. Norms behind the sums, as in Vaswani et al., Attention Is All You Need, 2017,
/// or before the blocks (Xiong et al., On Layer Normalization in the Transformer Architecture, 2020). Called
/// with (x) or (x, mask), the mask as in MultiheadAttention. Children have PyTorch's names: self_attn,
/// linear1, linear2, norm1, norm2. Throws what these throw.
class TREADLE_API TransformerEncoderLayer final : public Module {
 public:
  TransformerEncoderLayer(int64_t features, int64_t heads, const TransformerEncoderLayerOptions& options = {},
                          Generator& generator = default_generator());
  std::string describe() const override;

 protected:
  std::vector<Tensor> forward_all(std::span<const Tensor> inputs) override;

 private:
  Tensor attend(const Tensor& x, const Tensor& mask);
  Tensor feed_forward(const Tensor& x);

  TransformerEncoderLayerOptions options_;
  std::shared_ptr<MultiheadAttention> self_attn_;
  std::shared_ptr<Linear> linear1_, linear2_;
  std::shared_ptr<LayerNorm> norm1_, norm2_;
  std::shared_ptr<Dropout> dropout_, dropout1_, dropout2_;
};

}  // namespace treadle

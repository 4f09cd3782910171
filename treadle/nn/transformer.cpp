#include "treadle/nn/transformer.h"

#include "treadle/core/error.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {

TransformerEncoderLayer::TransformerEncoderLayer(int64_t features, int64_t heads,
                                                 const TransformerEncoderLayerOptions& options,
                                                 Generator& generator)
    : options_(options) {
  const LayerNormOptions norm{options.epsilon};
  const MultiheadAttentionOptions attention{.dropout = options.dropout, .causal = options.causal};
  self_attn_ = register_module("self_attn",
                               std::make_shared<MultiheadAttention>(features, heads, attention, generator));
  linear1_ =
      register_module("linear1", std::make_shared<Linear>(features, options.feedforward, true, generator));
  dropout_ = register_module("dropout", std::make_shared<Dropout>(options.dropout));
  linear2_ =
      register_module("linear2", std::make_shared<Linear>(options.feedforward, features, true, generator));
  norm1_ = register_module("norm1", std::make_shared<LayerNorm>(features, norm));
  norm2_ = register_module("norm2", std::make_shared<LayerNorm>(features, norm));
  dropout1_ = register_module("dropout1", std::make_shared<Dropout>(options.dropout));
  dropout2_ = register_module("dropout2", std::make_shared<Dropout>(options.dropout));
}

Tensor TransformerEncoderLayer::attend(const Tensor& x, const Tensor& mask) {
  return (*dropout1_)(mask.defined() ? (*self_attn_)(x, x, x, mask) : (*self_attn_)(x));
}

Tensor TransformerEncoderLayer::feed_forward(const Tensor& x) {
  const Tensor hidden = (*linear1_)(x);
  return (*dropout2_)((*linear2_)((*dropout_)(options_.gelu ? gelu(hidden) : relu(hidden))));
}

std::vector<Tensor> TransformerEncoderLayer::forward_all(std::span<const Tensor> inputs) {
  require<ValueError>(inputs.size() == 1 || inputs.size() == 2,
                      "TransformerEncoderLayer takes x and perhaps a mask, not {} tensors", inputs.size());
  Tensor x = inputs[0];
  const Tensor mask = inputs.size() > 1 ? inputs[1] : Tensor();
  if (options_.norm_first) {
    x = x + attend((*norm1_)(x), mask);
    return {x + feed_forward((*norm2_)(x))};
  }
  x = (*norm1_)(x + attend(x, mask));
  return {(*norm2_)(x + feed_forward(x))};
}

std::string TransformerEncoderLayer::describe() const {
  return fmt::format("TransformerEncoderLayer({}{}{})", options_.gelu ? "GELU" : "ReLU",
                     options_.norm_first ? ", norm first" : "", options_.causal ? ", causal" : "");
}

}  // namespace treadle

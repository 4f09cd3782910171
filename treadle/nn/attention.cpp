#include "treadle/nn/attention.h"

#include "treadle/core/error.h"
#include "treadle/nn/init.h"
#include "treadle/ops/attention/attention.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/random/dropout.h"

namespace treadle {

MultiheadAttention::MultiheadAttention(int64_t features, int64_t heads,
                                       const MultiheadAttentionOptions& options, Generator& generator)
    : features_(features), heads_(heads), options_(options) {
  require<ShapeError>(heads > 0 && features > 0 && features % heads == 0,
                      "MultiheadAttention: {} features do not divide into {} heads", features, heads);
  require<ValueError>(options.dropout >= 0 && options.dropout <= 1,
                      "MultiheadAttention: dropout {} is outside [0, 1]", options.dropout);
  in_proj_weight = register_parameter("in_proj_weight", Tensor::empty({3 * features, features}));
  init_xavier_uniform(in_proj_weight, 1, 1, generator);
  if (options.bias) in_proj_bias = register_parameter("in_proj_bias", Tensor::zeros({3 * features}));
  out_proj =
      register_module("out_proj", std::make_shared<Linear>(features, features, options.bias, generator));
  if (options.bias) init_constant(out_proj->bias, 0);
}

namespace {

/// Part i of three along an axis.
Tensor third(const Tensor& x, int64_t axis, int64_t i) {
  const int64_t extent = x.defined() ? x.size(int(axis)) / 3 : 0;
  return x.defined() ? slice(x, axis, i * extent, (i + 1) * extent) : x;
}

}  // namespace

/// Query, key and value; of one tensor by one product.
std::vector<Tensor> MultiheadAttention::project(std::span<const Tensor> inputs) const {
  std::vector<Tensor> projected;
  const bool of_one = inputs.size() == 1 || (inputs[0].same_as(inputs[1]) && inputs[1].same_as(inputs[2]));
  const Tensor all = of_one ? linear(inputs[0], in_proj_weight, in_proj_bias) : Tensor();
  for (int64_t i = 0; i < 3; ++i)
    projected.push_back(
        of_one ? third(all, -1, i)
               : linear(inputs[size_t(i)], third(in_proj_weight, 0, i), third(in_proj_bias, 0, i)));
  return projected;
}

/// [N, L, features] → [N, heads, L, features of a head].
Tensor MultiheadAttention::split(const Tensor& x) const {
  return permute(reshape(x, {x.size(0), x.size(1), heads_, features_ / heads_}), {0, 2, 1, 3});
}

Tensor MultiheadAttention::attend(const std::vector<Tensor>& projected, const Tensor& mask) const {
  const Tensor v = split(projected[2]);
  const auto [y, weights] = scaled_dot_product_attention_with_weights(
      split(projected[0]), split(projected[1]), v, mask, {.causal = options_.causal});
  return options_.dropout > 0 && is_training() ? matmul(dropout(weights, options_.dropout), v) : y;
}

std::vector<Tensor> MultiheadAttention::forward_all(std::span<const Tensor> inputs) {
  require<ValueError>(inputs.size() == 1 || inputs.size() == 3 || inputs.size() == 4,
                      "MultiheadAttention takes x, or query, key, value and perhaps a mask, not {} tensors",
                      inputs.size());
  for (const Tensor& input : inputs.first(std::min<size_t>(inputs.size(), 3)))
    require<ShapeError>(input.rank() == 3 && input.size(2) == features_,
                        "MultiheadAttention: an input has shape {}, expected [N, L, {}]", input.shape(),
                        features_);
  const Tensor y = attend(project(inputs), inputs.size() > 3 ? inputs[3] : Tensor());
  return {(*out_proj)(reshape(permute(y, {0, 2, 1, 3}), inputs[0].shape()))};
}

std::string MultiheadAttention::describe() const {
  return fmt::format("MultiheadAttention({}, {} heads{})", features_, heads_,
                     options_.causal ? ", causal" : "");
}

/// The three maps in, scores and means; the map out is a layer of its own.
int64_t MultiheadAttention::multiply_adds(std::span<const Shape> inputs, std::span<const Shape>) const {
  const Shape &query = inputs[0], &key = inputs[inputs.size() > 1 ? 1 : 0];
  return (query.numel() + 2 * key.numel()) * features_ + 2 * query.numel() * key[1];
}

}  // namespace treadle

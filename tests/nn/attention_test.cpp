/// MultiheadAttention and the encoder layer made of it: parameters, each head on its own, masks, causality.
#include "treadle/nn/attention.h"

#include <cmath>

#include "tests/refused.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/nn/transformer.h"
#include "treadle/ops/attention/attention.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/norm/layer_norm.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"

namespace treadle {
namespace {

using Names = std::vector<std::string>;

Names names_of(const Module& module) {
  Names names;
  for (auto& [name, tensor] : module.state_dict()) names.push_back(name);
  return names;
}

void expect_near(const Tensor& value, const Tensor& expected) {
  ASSERT_EQ(value.shape(), expected.shape());
  const auto a = value.to_vector<float>(), b = expected.to_vector<float>();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-5) << "element " << i;
}

/// All parameters random, biases too.
void fill(Module& module) {
  for (const Tensor& parameter : module.parameters()) uniform_(parameter.detach(), -0.7, 0.7);
}

/// From the definition: each head's slices of the maps, one after another.
Tensor by_heads(const MultiheadAttention& layer, int64_t heads, const Tensor& query, const Tensor& key,
                const Tensor& value, const Tensor& added = {}) {
  const int64_t features = query.size(2), of_head = features / heads;
  auto map = [&](const Tensor& x, int64_t which, int64_t head) {
    const int64_t begin = which * features + head * of_head;
    return linear(x, slice(layer.in_proj_weight, 0, begin, begin + of_head),
                  slice(layer.in_proj_bias, 0, begin, begin + of_head));
  };
  std::vector<Tensor> results;
  for (int64_t head = 0; head < heads; ++head) {
    Tensor scores =
        matmul(map(query, 0, head), transpose(map(key, 1, head), 1, 2)) / std::sqrt(double(of_head));
    if (added.defined()) scores = scores + added;
    results.push_back(matmul(softmax(scores, -1), map(value, 2, head)));
  }
  return linear(concat(results, 2), layer.out_proj->weight, layer.out_proj->bias);
}

/// [L, L] of bool: true up to the diagonal.
Tensor up_to_diagonal(int64_t L) {
  std::vector<float> values;
  for (int64_t i = 0; i < L; ++i)
    for (int64_t j = 0; j < L; ++j) values.push_back(j <= i);
  return greater(Tensor::from(values, {L, L}), 0);
}

TEST(MultiheadAttention, BeginsAsPyTorchs) {
  MultiheadAttention layer(32, 4);
  EXPECT_EQ(names_of(layer), (Names{"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"}));
  EXPECT_EQ(layer.in_proj_weight.shape(), (Shape{96, 32}));
  EXPECT_EQ(sum(abs(layer.in_proj_bias)).item(), 0);
  EXPECT_EQ(sum(abs(layer.out_proj->bias)).item(), 0);
  const double bound = std::sqrt(6.0 / (96 + 32)), largest = max(abs(layer.in_proj_weight)).item();
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.98 * bound);
  EXPECT_EQ(names_of(MultiheadAttention(6, 2, {.bias = false})),
            (Names{"in_proj_weight", "out_proj.weight"}));
}

TEST(MultiheadAttention, IsHeadByHead) {
  MultiheadAttention layer(12, 3);
  fill(layer);
  const Tensor x = rand({2, 5, 12}), key = rand({2, 7, 12}), value = rand({2, 7, 12}), mask = rand({5, 7});
  expect_near(layer(x), by_heads(layer, 3, x, x, x));
  expect_near(layer(x, x, x), by_heads(layer, 3, x, x, x));
  expect_near(layer(x, key, value), by_heads(layer, 3, x, key, value));
  expect_near(layer(x, key, value, mask), by_heads(layer, 3, x, key, value, mask));
}

TEST(MultiheadAttention, CausalIsAMask) {
  MultiheadAttention free(8, 2), causal(8, 2, {.causal = true});
  fill(free);
  causal.load_state_dict(free.state_dict());
  const Tensor x = rand({2, 6, 8});
  expect_near(causal(x), free(x, x, x, up_to_diagonal(6)));
}

TEST(MultiheadAttention, DropsWeightsInTraining) {
  MultiheadAttention layer(8, 2, {.dropout = 0.5});
  fill(layer);
  const Tensor x = rand({2, 6, 8});
  EXPECT_NE(layer(x).to_vector<float>(), layer(x).to_vector<float>());
  layer.eval();
  expect_near(layer(x), by_heads(layer, 2, x, x, x));
}

/// Compiled steps give the eager gradients.
TEST(MultiheadAttention, TrainsCompiled) {
  TransformerEncoderLayer layer(8, 2, {.feedforward = 10, .dropout = 0, .gelu = true, .causal = true});
  fill(layer);
  auto step = [&](std::span<const Tensor> inputs) {
    layer.zero_grad();
    const Tensor y = layer(inputs[0]);
    sum(y * y).backward();
    std::vector<Tensor> results{y.detach()};
    for (const Tensor& parameter : layer.parameters()) results.push_back(parameter.grad());
    return results;
  };
  const Tensor x = rand({3, 5, 8});
  const auto eager = step({&x, 1});
  CompiledFunction compiled(step);
  for (int call = 0; call < 3; ++call) {
    const auto results = compiled({&x, 1});
    for (size_t i = 0; i < eager.size(); ++i) expect_near(results[i], eager[i]);
  }
}

TEST(TransformerEncoderLayer, HasPyTorchsNames) {
  EXPECT_EQ(names_of(TransformerEncoderLayer(4, 2, {.feedforward = 6})),
            (Names{"self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight",
                   "self_attn.out_proj.bias", "linear1.weight", "linear1.bias", "linear2.weight",
                   "linear2.bias", "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"}));
}

TEST(TransformerEncoderLayer, IsItsParts) {
  for (bool norm_first : {false, true})
    for (bool gelus : {false, true}) {
      TransformerEncoderLayer layer(
          8, 2, {.feedforward = 10, .gelu = gelus, .norm_first = norm_first, .epsilon = 0.25});
      fill(layer);
      layer.eval();
      const auto p = layer.parameters();
      auto& attention = dynamic_cast<MultiheadAttention&>(*layer.children()[0].second);
      auto norm = [&](const Tensor& x, size_t first) {
        return layer_norm(x, p[first], p[first + 1], {0.25});
      };
      auto attend = [&](const Tensor& x) { return by_heads(attention, 2, x, x, x); };
      auto feed = [&](const Tensor& x) {
        const Tensor hidden = linear(x, p[4], p[5]);
        return linear(gelus ? gelu(hidden) : relu(hidden), p[6], p[7]);
      };
      const Tensor x = rand({2, 5, 8});
      const Tensor a = norm_first ? x + attend(norm(x, 8)) : norm(x + attend(x), 8);
      expect_near(layer(x), norm_first ? a + feed(norm(a, 10)) : norm(a + feed(a), 10));
    }
}

/// No result depends on what comes later: neither by the option nor by a mask.
TEST(TransformerEncoderLayer, SeesNothingLater) {
  for (bool by_option : {false, true}) {
    TransformerEncoderLayer layer(8, 2, {.feedforward = 10, .dropout = 0, .causal = by_option});
    const Tensor x = rand({1, 6, 8}), other = concat({slice(x, 1, 0, 4), rand({1, 2, 8})}, 1);
    auto first_four = [&](const Tensor& all) {
      return slice(by_option ? layer(all) : layer(all, up_to_diagonal(6)), 1, 0, 4);
    };
    expect_near(first_four(x), first_four(other));
  }
}

TEST(MultiheadAttention, SaysItsHeads) {
  EXPECT_EQ(MultiheadAttention(6, 2).describe(), "MultiheadAttention(6, 2 heads)");
  EXPECT_EQ(MultiheadAttention(6, 2, {.causal = true}).describe(), "MultiheadAttention(6, 2 heads, causal)");
  EXPECT_EQ(TransformerEncoderLayer(6, 2, {.gelu = true, .norm_first = true}).describe(),
            "TransformerEncoderLayer(GELU, norm first)");
}

TEST(MultiheadAttention, RefusesWhatDoesNotFit) {
  MultiheadAttention layer(6, 2);
  const Tensor x = Tensor::zeros({1, 3, 6});
  expect_refused({
      refused<ShapeError>("heads", {"6 features", "4 heads"}, [] { MultiheadAttention(6, 4); }),
      refused<ShapeError>("no heads", {"0 heads"}, [] { MultiheadAttention(6, 0); }),
      refused<ShapeError>("no features", {"0 features"}, [] { MultiheadAttention(0, 1); }),
      refused<ValueError>("dropout", {"dropout 2"}, [] { MultiheadAttention(6, 2, {.dropout = 2}); }),
      refused<ShapeError>("features", {"[1, 3, 5]", "6"},
                          [&] {
                            layer(Tensor::zeros({1, 3, 5}));
                          }),
      refused<ShapeError>("axes", {"[3, 6]"},
                          [&] {
                            layer(Tensor::zeros({3, 6}));
                          }),
      refused<ValueError>("two inputs", {"2 tensors"}, [&] { layer(x, x); }),
      refused<ValueError>("three", {"TransformerEncoderLayer", "3 tensors"},
                          [&] { TransformerEncoderLayer(6, 2)(x, x, x); }),
  });
}

}  // namespace
}  // namespace treadle

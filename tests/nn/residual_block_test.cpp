/// ResidualBlock: its parts under torchvision's names, the shortcut with and without a convolution.
#include "treadle/nn/residual_block.h"

#include <gtest/gtest.h>

#include "tests/random_tensor.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

std::vector<std::string> names_of(const Module& module) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : module.named_parameters()) names.push_back(parameter.name);
  return names;
}

TEST(ResidualBlock, HasTheNamesOfABasicBlock) {
  EXPECT_EQ(names_of(ResidualBlock(4, 4)),
            (std::vector<std::string>{"conv1.weight", "bn1.weight", "bn1.bias", "conv2.weight", "bn2.weight",
                                      "bn2.bias"}));
  const auto names = names_of(ResidualBlock(4, 8, {.stride = 2}));
  EXPECT_EQ(std::vector(names.end() - 3, names.end()),
            (std::vector<std::string>{"downsample.0.weight", "downsample.1.weight", "downsample.1.bias"}));
}

/// In evaluation, at first, batch normalisation does next to nothing; with convolutions of zeros x is left.
TEST(ResidualBlock, AddsItsInput) {
  const NoGrad no_grad;
  ResidualBlock block(4, 4, {.norm = {.epsilon = 0}});
  block.eval();
  const Tensor x = random_tensor({2, 4, 5, 6}, 1);
  EXPECT_NE(block(x).to_vector<float>(), relu(x).to_vector<float>());
  for (const NamedTensor& parameter : block.named_parameters())
    if (parameter.name.starts_with("conv2"))
      copy_into(parameter.tensor, Tensor::zeros(parameter.tensor.shape()));
  EXPECT_EQ(block(x).to_vector<float>(), relu(x).to_vector<float>());
}

TEST(ResidualBlock, HalvesAndWidens) {
  ResidualBlock block(4, 8, {.stride = 2});
  EXPECT_EQ(block(random_tensor({2, 4, 6, 8}, 1)).shape(), (Shape{2, 8, 3, 4}));
  EXPECT_EQ(block.describe(), "ResidualBlock(4→8, with downsample)");
  EXPECT_EQ(ResidualBlock(4, 4).describe(), "ResidualBlock(4→4)");
}

}  // namespace
}  // namespace treadle

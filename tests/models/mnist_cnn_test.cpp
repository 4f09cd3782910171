/// mnist_cnn: its parameters, and what it computes where every number is known.
#include "treadle/models/mnist_cnn.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/ops/fill/fill.h"

namespace treadle {
namespace {

TEST(MnistCnn, HasTheNamesAndShapesOfItsTwin) {
  std::vector<std::string> described;
  for (const NamedTensor& parameter : make_model("mnist_cnn")->state_dict())
    described.push_back(parameter.name + " " + to_string(parameter.tensor.shape()));
  const std::vector<std::string> expected{"conv1.weight [16, 1, 5, 5]",  "conv1.bias [16]",
                                          "conv2.weight [32, 16, 5, 5]", "conv2.bias [32]",
                                          "fc.weight [10, 512]",         "fc.bias [10]"};
  EXPECT_EQ(described, expected);
  EXPECT_EQ(make_model("mnist_cnn")->parameter_count(), 18'378);
}

/// With weights of one value everywhere, every output is a product of the numbers of terms.
TEST(MnistCnn, AddsUpWhatItsLayersSay) {
  NoGrad no_grad;
  MnistCnn model;
  for (auto& [name, parameter] : model.named_parameters())
    fill_(parameter, name.find("bias") != std::string::npos ? 0.0 : 1.0 / 64);
  Tensor logits = model(full({2, 1, 28, 28}, 1.0));
  ASSERT_EQ(logits.shape(), (Shape{2, 10}));
  // 25 pixels, then 25 · 16 of those, then 512: exact in f32.
  float expected = 25.0f / 64 * 400 / 64 * 512 / 64;
  for (float value : logits.to_vector<float>()) EXPECT_EQ(value, expected);
}

}  // namespace
}  // namespace treadle

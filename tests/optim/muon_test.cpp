/// Muon: which parameters it takes, and what it refuses. Its numbers are compared with PyTorch's elsewhere,
/// its recorded steps with eager ones as those of all optimizers.
#include "treadle/optim/muon/muon.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/goldens/golden_numbers.h"
#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/matmul.h"

namespace treadle {
namespace {

Tensor muon_parameter(const Shape& shape, uint32_t seed = 1) {
  Tensor p = goldens::signed_tensor(seed, shape).set_requires_grad();
  p.set_grad(goldens::signed_tensor(seed + 100, shape));
  return p;
}

/// Without decay a step is -lr·scale·O: the eigenvalues of OOᵀ are near 1, their sum near the number of rows.
TEST(Muon, StepsAreNearlyOrthogonal) {
  Tensor p = muon_parameter({4, 9});
  const Tensor before = clone(p.detach());
  Optimizer({{{{"p", p}}, update_by_muon({.weight_decay = 0, .scale = "original"})}}, 0.5).step();
  double trace = 0;
  for (size_t i = 0; i < 36; ++i) trace += std::pow((before.to_doubles()[i] - p.to_doubles()[i]) / 0.5, 2);
  EXPECT_GT(trace, 4 * 0.5);
  EXPECT_LT(trace, 4 * 1.5);
}

/// Filters are matrices of K rows; biases go to AdamW.
TEST(Muon, TakesFiltersAsMatricesAndLeavesVectorsToAdamW) {
  Tensor filter = muon_parameter({3, 2, 2, 2}), matrix = muon_parameter({3, 8}),
         bias = muon_parameter({5}, 2), other = muon_parameter({5}, 2);
  const MuonOptions options{.weight_decay = 0.25};
  Optimizer muon(muon_groups({{"filter", filter}, {"bias", bias}}, options), 0.1);
  Optimizer alone({{{{"matrix", matrix}}, update_by_muon(options)}}, 0.1);
  auto adamw = make_optimizer("adamw", {{"other", other}}, 0.1, {.options = {{"weight_decay", 0.25}}});
  for (int i = 0; i < 2; ++i) muon.step(), alone.step(), adamw->step();
  EXPECT_EQ(filter.to_doubles(), matrix.to_doubles());
  EXPECT_EQ(bias.to_doubles(), other.to_doubles());
  std::vector<std::string> names;
  for (const NamedTensor& state : muon.state()) names.push_back(state.name);
  EXPECT_EQ(names, (std::vector<std::string>{"step", "filter.momentum", "bias.first_moment",
                                             "bias.second_moment", "bias.group"}));
}

TEST(Muon, VectorsMayStayWithoutDecay) {
  Tensor decayed = muon_parameter({2}), kept = muon_parameter({2});
  make_optimizer("muon", {{"p", decayed}}, 0.5, {.options = {{"weight_decay", 0.5}}})->step();
  make_optimizer("muon", {{"p", kept}}, 0.5, {.options = {{"weight_decay", 0.5}}, .decay_vectors = false})
      ->step();
  EXPECT_LT(std::abs(decayed.to_doubles()[0] - kept.to_doubles()[0]), 0.25);
  EXPECT_NE(decayed.to_doubles(), kept.to_doubles());
}

TEST(Muon, AGradientOfZerosAndAnEmptyMatrixAreNoTrouble) {
  Tensor p = muon_parameter({2, 3}), empty = Tensor::zeros({0, 3}).set_requires_grad();
  p.set_grad(Tensor::zeros({2, 3})), empty.set_grad(Tensor::zeros({0, 3}));
  const auto before = p.to_doubles();
  Optimizer({{{{"p", p}, {"empty", empty}}, update_by_muon({.weight_decay = 0})}}, 0.5).step();
  EXPECT_EQ(p.to_doubles(), before);
}

TEST(Muon, OptionsAreFoundByTheNameOfARuleOrOfAGroupedOne) {
  EXPECT_EQ(optimizer_options("muon").field("iterations").name, "iterations");
  EXPECT_EQ(optimizer_options("momentum").field("nesterov").name, "nesterov");
}

TEST(Muon, RefusesWhatMakesNoStep) {
  expect_refused({
      refused<ValueError>("momentum", {"momentum", "-1"}, [] { update_by_muon({.momentum = -1}); }),
      refused<ValueError>("decay", {"weight decay", "nan"}, [] { update_by_muon({.weight_decay = NAN}); }),
      refused<ValueError>("iterations", {"100"}, [] { update_by_muon({.iterations = 100}); }),
      refused<ValueError>("scale", {"'orginal'", "original"}, [] { update_by_muon({.scale = "orginal"}); }),
      refused<ShapeError>("vector", {"[3]", "two axes"},
                          [] {
                            Tensor p = muon_parameter({3});
                            Optimizer({{{{"p", p}}, update_by_muon()}}, 1).step();
                          }),
      refused<ValueError>("unknown", {"no rule is called 'adamv'", "adamw"}, [] { update_called("adamv"); }),
      refused<ValueError>("options of an unknown one", {"no optimizer is called 'muom'", "muon"},
                          [] { optimizer_options("muom"); }),
  });
}

}  // namespace
}  // namespace treadle

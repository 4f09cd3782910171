/// Moving averages of weights: what is kept, exchanged and loaded, and compiled steps. The numbers are
/// compared with PyTorch's elsewhere.
#include "treadle/optim/weight_average.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/compile/options.h"
#include "tests/refused.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/optimizer.h"

namespace treadle {
namespace {

/// A parameter, a buffer and a count.
struct Averaged : Module {
  Tensor w = register_parameter("w", full({2}, 1));
  Tensor seen = register_buffer("seen", full({1}, 8));
  Tensor count = register_buffer("count", full({1}, 3, DType::i64));
  std::string describe() const override { return "Averaged"; }

  double sum_of_all() const { return sum(w.detach()).item() + seen.item() + count.item(); }
};

TEST(WeightAverage, HoldsParametersAndBuffersAndCopiesIntegers) {
  Averaged model;
  WeightAverage average(model, 0.75);
  fill_(model.w.detach(), 5), fill_(model.seen, 0), fill_(model.count, 4);
  average.update();
  ASSERT_EQ(average.shadows().size(), 3u);
  EXPECT_EQ(average.shadows()[0].name, "w");
  EXPECT_EQ(average.shadows()[0].tensor.to_doubles(), (std::vector<double>{2, 2}));  // 0.75·1 + 0.25·5
  EXPECT_EQ(average.shadows()[1].tensor.item(), 6);
  EXPECT_EQ(average.shadows()[2].tensor.item(), 4);
}

TEST(WeightAverage, IsExchangedWithTheWeightsAndBack) {
  Averaged model;
  WeightAverage average(model, 0.5);
  fill_(model.w.detach(), 3);
  average.update();
  {
    AveragedWeights averaged(&average);
    EXPECT_EQ(model.sum_of_all(), 2 + 2 + 8 + 3);
    EXPECT_EQ(average.shadows()[0].tensor.to_doubles(), (std::vector<double>{3, 3}));
  }
  EXPECT_EQ(model.sum_of_all(), 3 + 3 + 8 + 3);
  EXPECT_TRUE(model.w.requires_grad());
  { AveragedWeights none(nullptr); }
}

TEST(WeightAverage, IsLoadedWholeOrNotAtAll) {
  Averaged model;
  WeightAverage average(model, 0.5);
  const auto saved = [&](const std::string& name, const Tensor& value) {
    std::vector<NamedTensor> state{
        {"w", full({2}, 7)}, {"seen", full({1}, 7)}, {"count", full({1}, 7, DType::i64)}};
    std::erase_if(state, [&](const NamedTensor& one) { return one.name == name; });
    if (value.defined()) state.push_back({name, value});
    return [&average, state] { average.load_shadows(state); };
  };
  expect_refused({
      refused<ValueError>("missing", {"'count'"}, saved("count", {})),
      refused<ShapeError>("shape", {"'seen'", "[2]", "[1]"}, saved("seen", full({2}, 1))),
      refused<DTypeError>("dtype", {"'count'", "f32", "i64"}, saved("count", full({1}, 1))),
      refused<ValueError>("decay", {"1"}, [&] { WeightAverage(model, 1); }),
      refused<ValueError>("negative", {"-0.5"}, [&] { WeightAverage(model, -0.5); }),
      refused<ValueError>("nan", {"nan"}, [&] { WeightAverage(model, NAN); }),
  });
  EXPECT_EQ(average.shadows()[0].tensor.to_doubles(), (std::vector<double>{1, 1}));
  saved("", {})();
  for (const NamedTensor& shadow : average.shadows())
    EXPECT_EQ(shadow.tensor.to_doubles()[0], 7) << shadow.name;
}

TEST(WeightAverage, CompiledStepsGiveTheBitsOfEagerOnes) {
  struct Training {
    Averaged model;
    WeightAverage average;
    std::unique_ptr<Optimizer> optimizer = make_optimizer("momentum", model.named_parameters(), 0.1);
    explicit Training(Device device) : average((model.to(device), model), 0.9) {}
    void operator()(const Tensor& x) {
      optimizer->zero_grad();
      sum(model.w * x).backward();
      optimizer->step();
      average.update();
    }
  };
  for (Device device : {kCpu, kSimt}) {
    Training eager(device), recorded(device);
    auto compiled = compile([&](Tensor x) { recorded(x); }, kDeclared);
    for (int i = 0; i < 5; ++i) {
      const Tensor x = to(Tensor::from({0.1f * float(i), 0.7f}, {2}), device);
      eager(x), compiled(x);
      for (size_t k = 0; k < 3; ++k)
        EXPECT_EQ(recorded.average.shadows()[k].tensor.to_doubles(),
                  eager.average.shadows()[k].tensor.to_doubles());
    }
    AveragedWeights averaged(&recorded.average);
    EXPECT_NE(recorded.model.w.to_doubles(), eager.model.w.to_doubles());
  }
}

}  // namespace
}  // namespace treadle

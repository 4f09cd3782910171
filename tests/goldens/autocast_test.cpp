/// Models under Autocast against their twins under PyTorch's, as autocast/NAME.json holds them.
#include "treadle/graph/autocast.h"

#include "tests/compile/options.h"
#include "tests/goldens/golden_files.h"
#include "tests/goldens/golden_models.h"
#include "treadle/models/model.h"
#include "treadle/optim/sgd/sgd.h"
#include "treadle/train/class_loss.h"

namespace treadle::goldens {
namespace {

class AutocastGoldens : public testing::TestWithParam<std::string> {
 protected:
  AutocastGoldens() { fill_parameters(*model); }

  /// A result that is rounded to bf16 may be its neighbour, 2^-7 of it at most, where its sum is added in
  /// another order; so may each of those that it is made of.
  double tolerance(double scale) const { return golden["roundings"].get<double>() * 0x1p-7 * scale; }

  double largest_logit() const {
    double largest = 0;
    for (double value : golden["logits"]) largest = std::max(largest, std::fabs(value));
    return largest;
  }

  Tensor input(uint32_t step) const {
    const ModelInfo& info = model_info(GetParam());
    Shape batch{16};
    for (int64_t extent : info.input) batch.push_back(extent);
    return uniform_tensor(contents("models/" + GetParam())["input_seed"].get<uint32_t>() + step, batch);
  }

  Tensor step(const Tensor& x, const Tensor& labels) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const Autocast scope(DType::bf16);
      loss = class_loss((*model)(x), labels);
    }
    loss.backward();
    optimizer.step();
    return loss;
  }

  void expect_gradients() const {
    if (golden.contains("no_gradients")) return;
    for (auto& [name, parameter] : model->named_parameters()) {
      EXPECT_EQ(parameter.grad().dtype(), DType::f32) << name;
      if (contents("models/" + GetParam())["gradients"][name].contains("cancels"))
        continue;  // rounding alone
      const Json& record = golden["gradients"][name];
      const auto found = measures(parameter.grad());
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], record[i].get<double>(), tolerance(record[0])) << name << " measure " << i;
    }
  }

  const Json& golden = contents("autocast/" + GetParam());
  const std::shared_ptr<Module> model = make_model(GetParam());
  Sgd optimizer{model->named_parameters(), 0.005};
};

/// Where each result is rounded shows in the bits: most are those of PyTorch.
TEST_P(AutocastGoldens, Logits) {
  const Autocast scope(DType::bf16);
  const Tensor logits = (*model)(input(0));
  EXPECT_EQ(logits.dtype(), DType::bf16);
  const auto found = logits.to_doubles(), wanted = golden["logits"].get<std::vector<double>>();
  ASSERT_EQ(found.size(), wanted.size());
  size_t equal = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(found[i], wanted[i], tolerance(largest_logit())) << i;
    equal += found[i] == wanted[i];
  }
  const size_t least = golden.contains("rounded_elsewhere") ? 0 : wanted.size() / 2;
  EXPECT_GE(equal, least);
}

TEST_P(AutocastGoldens, FirstLossesAndFirstGradients) {
  for (bool compiled : {false, true}) {
    fill_parameters(*model);
    auto program = compile([&](Tensor x, Tensor labels) { return step(x, labels); }, kUnfused);
    for (uint32_t t = 0; t < golden["losses"].size(); ++t) {
      const Tensor x = input(t), labels = label_tensor(2000 + t, 16, 10);
      const double loss = (compiled ? program(x, labels) : step(x, labels)).item(),
                   wanted = golden["losses"][t];
      // Two logits count, the label's and the largest; the weights change little.
      EXPECT_NEAR(loss, wanted, 2 * tolerance(largest_logit())) << "step " << t << ", compiled: " << compiled;
      if (t == 0 && !compiled) expect_gradients();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AutocastGoldens, testing::ValuesIn(names_in("autocast")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace treadle::goldens

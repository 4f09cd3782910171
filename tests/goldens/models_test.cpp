/// Every model against its twin in PyTorch, as models/NAME.json holds its losses and gradients.
#include <cmath>

#include "tests/goldens/golden_files.h"
#include "tests/goldens/golden_models.h"
#include "treadle/compile/compile.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/optim/sgd/sgd.h"
#include "treadle/train/class_loss.h"

namespace treadle::goldens {
namespace {

Tensor classes_of(uint32_t seed, const Shape& shape, int64_t classes) {
  return reshape(label_tensor(seed, shape.numel(), classes), shape);
}

class Models : public testing::TestWithParam<std::string> {
 protected:
  Models() { fill_parameters(*model); }

  Tensor step(const Tensor& x, const Tensor& labels) {
    optimizer.zero_grad();
    Tensor loss = class_loss((*model)(x), labels);
    loss.backward();
    optimizer.step();
    return loss;
  }

  /// Some steps; the losses may be off by what `terms` roundings make.
  template <class Step>
  void expect_losses(Step&& step, double terms) {
    const ModelInfo& info = model_info(GetParam());
    const bool numbers = info.input_dtype == DType::i64;  // a class for each of them, else one for all
    Shape batch{golden.value("batch", 16)};
    for (int64_t extent : info.input) batch.push_back(extent);
    const Shape labels = numbers ? batch : Shape{batch[0]};
    const auto& losses = golden["losses"];
    for (uint32_t t = 0; t < losses["value"].size(); ++t) {
      const uint32_t seed = golden["input_seed"].get<uint32_t>() + t;
      const Tensor x = numbers ? classes_of(seed, batch, info.classes) : uniform_tensor(seed, batch);
      const double loss = step(x, classes_of(2000 + t, labels, info.classes)).item(),
                   wanted = exact(losses["value"][t], losses["deviation"][t]);
      EXPECT_NEAR(loss, wanted, tolerance(terms, wanted)) << "loss of step " << t;
    }
  }

  /// What cancels is as small as rounding leaves it of the weight before.
  void expect_gradients() const {
    double before = 0;
    for (auto& [name, parameter] : model->named_parameters()) {
      const Json& record = golden.at("gradients").at(name);
      const double norm = measures(parameter.grad())[0];
      if (record.contains("cancels"))
        EXPECT_LE(norm, tolerance(terms, before)) << name;
      else
        expect_measures(parameter.grad(), record, terms, name);
      before = norm;
    }
  }

  const Json& golden = contents("models/" + GetParam());
  const double terms = golden["terms"];
  const std::shared_ptr<Module> model = make_model(GetParam());
  Sgd optimizer{model->named_parameters(), golden.value("learning_rate", 0.05)};
};

TEST_P(Models, FirstLossesAndFirstGradients) {
  EXPECT_EQ(model->parameter_count(), golden["parameters"].get<int64_t>());
  bool first = true;
  auto observed = [&](const Tensor& x, const Tensor& labels) {
    const Tensor loss = step(x, labels);
    if (std::exchange(first, false)) expect_gradients();
    return loss;
  };
  expect_losses(observed, terms);
}

/// The same in compiled steps: recorded, fused, replayed. Winograd's transforms add a few roundings per sum.
TEST_P(Models, FirstLossesCompiled) {
  expect_losses(compile([&](Tensor x, Tensor labels) { return step(x, labels); }), 4 * terms);
}

INSTANTIATE_TEST_SUITE_P(All, Models, testing::ValuesIn(model_names()),
                         [](const auto& info) { return info.param; });

TEST(ModelGoldens, AreOfModels) {
  auto names = model_names();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names_in("models"), names);
}

}  // namespace
}  // namespace treadle::goldens

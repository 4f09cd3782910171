/// What is done to gradients and weights beside the optimiser's step, as training.json holds it.
#include <cmath>

#include "tests/goldens/golden_files.h"
#include "treadle/compile/compile.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/optim/clip_gradients.h"
#include "treadle/optim/loss_scaler.h"
#include "treadle/optim/muon/muon.h"
#include "treadle/optim/weight_average.h"

namespace treadle::goldens {
namespace {

/// Rounding errors of the sums over all gradients.
constexpr double kTerms = 3 * 67 + 5;

std::vector<Tensor> clipped_parameters(DType dtype) {
  std::vector<Tensor> parameters;
  for (const Shape& shape : {Shape{3, 67}, Shape{5}}) {
    Tensor p = Tensor::zeros(shape, dtype).set_requires_grad();
    p.set_grad(cast(signed_tensor(6000 + uint32_t(parameters.size()), shape, 4), dtype));
    parameters.push_back(p);
  }
  return parameters;
}

void expect_tensor(const Tensor& tensor, const Json& record, const std::string& what) {
  const double scale = tensor.dtype() == DType::f64 ? 0x1p-29 : 1;
  const auto found = measures(tensor);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], record[i], scale * tolerance(kTerms, record[0]))
        << what << ' ' << name_of(tensor.dtype()) << " measure " << i;
}

void expect_gradients(const std::vector<Tensor>& parameters, const Json& record) {
  for (size_t k = 0; k < parameters.size(); ++k)
    expect_tensor(parameters[k].grad(), record["gradients"][k], record["bound"].dump());
}

TEST(ClipGradients, NormEqualsPyTorch) {
  for (DType dtype : {DType::f32, DType::f64})
    for (const Json& record : contents("training")["clip_norm"]) {
      const auto parameters = clipped_parameters(dtype);
      const Tensor norm = clip_gradient_norm(parameters, record["bound"]);
      EXPECT_EQ(norm.dtype(), dtype);
      EXPECT_NEAR(norm.item(), record["norm"],
                  (dtype == DType::f64 ? 0x1p-29 : 1) * tolerance(kTerms, record["norm"]));
      expect_gradients(parameters, record);
    }
}

TEST(ClipGradients, ValuesEqualPyTorch) {
  for (DType dtype : {DType::f32, DType::f64})
    for (const Json& record : contents("training")["clip_values"]) {
      const auto parameters = clipped_parameters(dtype);
      clip_gradient_values(parameters, record["bound"]);
      expect_gradients(parameters, record);
    }
}

struct Values : Module {
  Tensor a = register_parameter("a", signed_tensor(6100, {3, 67}));
  Tensor b = register_parameter("b", signed_tensor(6101, {5}));
  std::string describe() const override { return "Values"; }
};

TEST(WeightAverage, EqualsPyTorch) {
  const Json& golden = contents("training")["average"];
  for (DType dtype : {DType::f32, DType::f64}) {
    Values values;
    values.to(dtype);
    WeightAverage average(values, golden["decay"]);
    for (uint32_t t = 1; t <= golden["steps"].size(); ++t) {
      copy_into(values.a.detach(), cast(signed_tensor(6100 + 2 * t, {3, 67}), dtype));
      copy_into(values.b.detach(), cast(signed_tensor(6101 + 2 * t, {5}), dtype));
      average.update();
      for (size_t k = 0; k < 2; ++k)
        expect_tensor(average.shadows()[k].tensor, golden["steps"][t - 1][k], std::to_string(t));
    }
  }
}

MuonOptions muon_options(const Json& record) {
  MuonOptions o;
  o.scale = record["adjust_lr_fn"];
  o.momentum = record.value("momentum", o.momentum),
  o.weight_decay = record.value("weight_decay", o.weight_decay);
  o.iterations = record.value("ns_steps", o.iterations), o.epsilon = record.value("eps", o.epsilon);
  o.nesterov = record.value("nesterov", o.nesterov);
  return o;
}

TEST(Muon, EqualsPyTorch) {
  for (const Json& record : contents("training")["muon"])
    for (DType dtype : {DType::f32, DType::f64}) {
      const Shape shape{record["shape"][0].get<int64_t>(), record["shape"][1].get<int64_t>()};
      Tensor p = cast(signed_tensor(6200, shape), dtype).set_requires_grad();
      Optimizer optimizer({{{{"p", p}}, update_by_muon(muon_options(record["options"]))}}, record["rate"]);
      for (uint32_t t = 0; t < record["steps"].size(); ++t) {
        p.set_grad(cast(signed_tensor(6201 + t, shape), dtype));
        optimizer.step();
        expect_tensor(p, record["steps"][t], record["options"].dump());
      }
    }
}

/// Each element of a slope, one of which may be no number.
Tensor planted_slope(const Json& golden, uint32_t step) {
  Tensor slope = signed_tensor(6301 + step, {3, 67});
  for (const Json& place : golden["planted"])
    if (place[0] == step) {
      const std::string value = place[1];
      const float planted = value == "nan" ? NAN : value == "inf" ? INFINITY : -INFINITY;
      copy_into(slice(slice(slope, 0, 1, 2), 1, 5, 6), Tensor::from(std::vector<float>{planted}, {1, 1}));
    }
  return slope;
}

/// Factors, counts and parameters, of steps that run eagerly and of one program's replays.
TEST(LossScaler, EqualsPyTorch) {
  const Json& golden = contents("training")["loss_scaler"];
  const Json& o = golden["options"];
  for (bool compiled : {false, true}) {
    Tensor p = signed_tensor(6300, {3, 67}).set_requires_grad();
    Adam optimizer({{"p", p}}, golden["rate"]);
    LossScaler scaler({o["initial"], o["growth"], o["backoff"], o["interval"]});
    auto train = [&](const Tensor& slope) {
      optimizer.zero_grad();
      const Tensor loss = sum(p * slope);
      scaler.scale(loss).backward();
      scaler.step(optimizer);
      scaler.update();
      return loss;
    };
    auto program = compile([&](Tensor slope) { return train(slope); });
    for (uint32_t t = 0; t < golden["steps"].size(); ++t) {
      const Json& record = golden["steps"][t];
      const Tensor slope = planted_slope(golden, t);
      compiled ? program(slope) : train(slope);
      EXPECT_EQ(scaler.factor(), record["factor"]) << "step " << t << ", compiled: " << compiled;
      EXPECT_EQ(scaler.good_steps(), record["good_steps"]) << "step " << t << ", compiled: " << compiled;
      expect_tensor(p, record["parameter"], fmt::format("step {}, compiled: {}", t, compiled));
    }
    EXPECT_EQ(scaler.skipped_steps(), int64_t(golden["planted"].size()));
    EXPECT_EQ(optimizer.step_count(), int64_t(golden["steps"].size() - golden["planted"].size()));
  }
}

}  // namespace
}  // namespace treadle::goldens

/// What is done to gradients beside the optimiser's step, as training.json holds it.
#include "tests/goldens/golden_files.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/optim/clip_gradients.h"

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

void expect_gradients(const std::vector<Tensor>& parameters, const Json& record, DType dtype) {
  const double scale = dtype == DType::f64 ? 0x1p-29 : 1;
  for (size_t k = 0; k < parameters.size(); ++k) {
    const auto found = measures(parameters[k].grad());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], record["gradients"][k][i], scale * tolerance(kTerms, record["gradients"][k][0]))
          << record["bound"] << ' ' << name_of(dtype) << " parameter " << k << " measure " << i;
  }
}

TEST(ClipGradients, NormEqualsPyTorch) {
  for (DType dtype : {DType::f32, DType::f64})
    for (const Json& record : contents("training")["clip_norm"]) {
      const auto parameters = clipped_parameters(dtype);
      const Tensor norm = clip_gradient_norm(parameters, record["bound"]);
      EXPECT_EQ(norm.dtype(), dtype);
      EXPECT_NEAR(norm.item(), record["norm"],
                  (dtype == DType::f64 ? 0x1p-29 : 1) * tolerance(kTerms, record["norm"]));
      expect_gradients(parameters, record, dtype);
    }
}

TEST(ClipGradients, ValuesEqualPyTorch) {
  for (DType dtype : {DType::f32, DType::f64})
    for (const Json& record : contents("training")["clip_values"]) {
      const auto parameters = clipped_parameters(dtype);
      clip_gradient_values(parameters, record["bound"]);
      expect_gradients(parameters, record, dtype);
    }
}

}  // namespace
}  // namespace treadle::goldens

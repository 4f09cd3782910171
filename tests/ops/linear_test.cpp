/// The fused ops around linear against the ops they stand for.
#include "treadle/ops/matrix/linear.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/linear_sgd_update.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/update/optimizer_update.h"

namespace treadle {
namespace {

Tensor numbers(const Shape& shape, int seed) {
  Tensor x = Tensor::zeros(shape);
  uint32_t state = uint32_t(seed) * 2654435761u + 1;
  for (int64_t i = 0; i < x.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    x.view().as<float>()[i] = float(state >> 8) * 0x1p-23f - 1;
  }
  return x;
}

Tensor copy_of(const Tensor& x) {
  Tensor y = Tensor::zeros(x.shape());
  std::memcpy(y.view().data, x.view().data, size_t(x.numel()) * sizeof(float));
  return y;
}

/// The same elements with strides (1, rows).
Tensor by_input(const Tensor& x) {
  Tensor y = Tensor::empty_strided(x.shape(), {1, x.size(0)}, DType::f32, kCpu);
  copy_into(y, x);
  return y;
}

void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_EQ(std::memcmp(a.view().data, b.view().data, size_t(a.numel()) * sizeof(float)), 0);
}

/// Runs `test` with one thread and with three.
template <class Test>
void with_threads(Test test) {
  const int before = num_threads();
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    test();
  }
  set_num_threads(before);
}

TEST(LinearSgdUpdate, HasTheBitsOfGradientAndUpdate) {
  with_threads([] {
    for (auto [N, in, out] : {std::array<int64_t, 3>{32, 300, 45}, {1, 70, 9}, {7, 5, 130}})
      for (bool transposed : {false, true}) {
        const Tensor x = numbers({N, in}, 1), dy = numbers({N, out}, 2), b = numbers({out}, 4);
        const Tensor w = transposed ? by_input(numbers({out, in}, 3)) : numbers({out, in}, 3);
        Tensor state = Tensor::zeros({2}, DType::f64);
        state.view().as<double>()[0] = 0.1;
        Tensor updated_w = clone(w), updated_b = copy_of(b);
        linear_sgd_update(x, dy, state, updated_w, updated_b, {.weight_decay = 0.01});
        const auto [dw, db] = linear_weight_gradient(x, dy, {.transposed = transposed});
        EXPECT_EQ(dw.strides(), w.strides());
        sgd_update(w, dw, {}, {.learning_rate = 0.1, .weight_decay = 0.01});
        sgd_update(b, db, {}, {.learning_rate = 0.1, .weight_decay = 0.01});
        expect_same_bits(updated_w, w);
        expect_same_bits(updated_b, b);
      }
  });
}

TEST(LinearSgdUpdate, RefusesOperandsThatDoNotFit) {
  const Tensor x = numbers({4, 3}, 1), dy = numbers({4, 2}, 2), w = numbers({2, 3}, 3), b = numbers({2}, 4),
               state = Tensor::zeros({2}, DType::f64);
  EXPECT_THROW(linear_sgd_update(x, dy, state, numbers({3, 2}, 3), b), ShapeError);
  EXPECT_THROW(linear_sgd_update(x, dy, state, w, numbers({3}, 4)), ShapeError);
  EXPECT_THROW(linear_sgd_update(x, dy, Tensor::zeros({1}, DType::f64), w, b), ShapeError);
  EXPECT_THROW(linear_sgd_update(x, dy, Tensor::zeros({2}), w, b), DTypeError);
  EXPECT_THROW(linear_weight_gradient(x, numbers({3, 2}, 2)), ShapeError);
}

TEST(LinearRelu, EqualsLinearThenReluAndSoDoItsGradients) {
  with_threads([] {
    for (auto [N, in, out, transposed] :
         {std::array<int64_t, 4>{33, 300, 45, 0}, {1, 70, 9, 0}, {33, 300, 45, 1}, {1, 70, 9, 1}}) {
      const Tensor w = numbers({out, in}, 2);
      std::vector<Tensor> fused{numbers({N, in}, 1), transposed ? by_input(w) : w, numbers({out}, 3)}, plain;
      for (Tensor& tensor : fused) {
        plain.push_back(clone(tensor));
        tensor.set_requires_grad(), plain.back().set_requires_grad();
      }
      Tensor y = linear_relu(fused[0], fused[1], fused[2]), z = relu(linear(plain[0], plain[1], plain[2]));
      expect_same_bits(y, z);
      const Tensor dy = numbers({N, out}, 5);
      y.backward(dy), z.backward(dy);
      for (int i = 0; i < 3; ++i) expect_same_bits(fused[i].grad(), plain[i].grad());
    }
  });
}

TEST(LinearRelu, NaNPropagates) {
  Tensor x = numbers({5, 20}, 1), w = numbers({9, 20}, 2);
  x.view().as<float>()[3 * 20 + 19] = std::numeric_limits<float>::quiet_NaN();
  const auto y = linear_relu(x, w).to_doubles();
  for (int64_t i = 0; i < 5 * 9; ++i) EXPECT_EQ(std::isnan(y[i]), i / 9 == 3);
}

TEST(LinearWeightGradient, BiasIsLeftOutOnRequest) {
  const auto [dw, db] = linear_weight_gradient(numbers({4, 3}, 1), numbers({4, 2}, 2), {.bias = false});
  EXPECT_EQ(dw.shape(), (Shape{2, 3}));
  EXPECT_FALSE(db.defined());
}

}  // namespace
}  // namespace treadle

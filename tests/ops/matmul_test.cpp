// matmul and linear through their typed functions: ranks, errors, gradients of vectors, and large products
// cut into blocks. Values against the reference for all variants, dtypes and layouts are the op contract's.
#include "treadle/ops/matrix/matmul.h"

#include <gtest/gtest.h>

#include "treadle/core/error.h"
#include "treadle/core/parallel_for.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/cpu/matrix_blocks.h"
#include "treadle/ops/matrix/linear.h"

namespace treadle {
namespace {

using Floats = std::vector<float>;

/// Small whole numbers: their sums are exact in any order.
Tensor whole_numbers(const Shape& shape, int seed) {
  Floats values(size_t(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(int((i * 7919 + size_t(seed) * 104729) % 13) - 6);
  return Tensor::from(values, shape);
}

TEST(Matmul, VectorsAreRowsAndColumns) {
  const Tensor m = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}), u = Tensor::from({1, 10}, {2}),
               v = Tensor::from({1, 10, 100}, {3});
  EXPECT_EQ(matmul(m, v).to_vector<float>(), (Floats{321, 654}));
  EXPECT_EQ(matmul(m, v).shape(), Shape{2});
  EXPECT_EQ(matmul(u, m).to_vector<float>(), (Floats{41, 52, 63}));
  EXPECT_EQ(matmul(u, m).shape(), Shape{3});
  EXPECT_EQ(matmul(v, v).shape(), Shape{});
  EXPECT_EQ(matmul(v, v).item(), 10101);
  EXPECT_EQ(matmul(whole_numbers({4, 2, 3}, 1), v).shape(), (Shape{4, 2}));
  EXPECT_EQ(matmul(v, whole_numbers({4, 3, 2}, 1)).shape(), (Shape{4, 2}));
}

TEST(Matmul, GradientsOfVectorsHaveTheirShape) {
  Tensor m = whole_numbers({2, 3}, 1), v = Tensor::from({1, 10, 100}, {3});
  m.set_requires_grad();
  v.set_requires_grad();
  matmul(m, v).backward(Tensor::from({2, 3}, {2}));
  EXPECT_EQ(m.grad().to_vector<float>(), (Floats{2, 20, 200, 3, 30, 300}));
  EXPECT_EQ(v.grad().shape(), Shape{3});
}

/// One product over the stacked rows must be what the sum over the batch is.
TEST(Matmul, GradientOfASharedMatrixSumsOverTheBatch) {
  const Tensor a = whole_numbers({4, 5, 3}, 1), upstream = whole_numbers({4, 5, 2}, 3);
  Tensor b = whole_numbers({3, 2}, 2);
  b.set_requires_grad();
  matmul(a, b).backward(upstream);
  const Floats x = a.to_vector<float>(), dc = upstream.to_vector<float>(), db = b.grad().to_vector<float>();
  for (int k = 0; k < 3; ++k)
    for (int n = 0; n < 2; ++n) {
      float sum = 0;
      for (int row = 0; row < 20; ++row) sum += x[row * 3 + k] * dc[row * 2 + n];
      EXPECT_EQ(db[k * 2 + n], sum);
    }
}

TEST(Matmul, ErrorsNameBothShapes) {
  try {
    matmul(whole_numbers({2, 3}, 1), whole_numbers({4, 5}, 1));
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("[2, 3]"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("[4, 5]"), std::string::npos) << error.what();
  }
  EXPECT_THROW(matmul(whole_numbers({2, 2, 3}, 1), whole_numbers({3, 3, 5}, 1)), ShapeError);
  EXPECT_THROW(matmul(whole_numbers({}, 1), whole_numbers({3}, 1)), ShapeError);
  EXPECT_THROW(matmul(whole_numbers({2, 3}, 1), Tensor::zeros({3, 2}, DType::f64)), DTypeError);
  EXPECT_THROW(matmul(Tensor::zeros({2, 2}, DType::i32), Tensor::zeros({2, 2}, DType::i32)), DTypeError);
}

/// Every variant, on 1 to 5 threads, over shapes that are cut along either side: whole numbers, so equal to
/// the bit.
TEST(Matmul, BlocksCoverTheProduct) {
  const int threads = num_threads();
  for (auto [M, K, N] :
       {std::array<int64_t, 3>{37, 300, 521}, {521, 300, 37}, {130, 129, 131}, {3, 100'003, 1}}) {
    const Tensor a = whole_numbers({M, K}, 1), b = transpose(whole_numbers({N, K}, 2), 0, 1);
    settings().variants = {{"matmul", "loop"}};
    set_num_threads(1);
    const Floats expected = matmul(a, b).to_vector<float>();
    for (const char* variant : {"loop", "gemm"})
      for (int count : {1, 2, 5}) {
        set_num_threads(count);
        settings().variants = {{"matmul", variant}};
        EXPECT_EQ(matmul(a, b).to_vector<float>(), expected) << variant << " on " << count << " threads";
      }
  }
  settings().variants.clear();
  set_num_threads(threads);
}

/// The products of a fully connected layer of 3200 → 256 on a batch of 32: each thread has its half of the
/// weights.
TEST(Matmul, LongerSideIsCutFirst) {
  MatrixProduct p{};
  p.batch.numel = 1;
  const auto size_for = [&](int64_t M, int64_t N, int64_t K, int threads) {
    p.M = M, p.N = N, p.K = K;
    const int before = num_threads();
    set_num_threads(threads);
    const BlockSize size = block_size(p);
    set_num_threads(before);
    return size;
  };
  EXPECT_EQ(size_for(32, 256, 3200, 2).columns, 128);
  EXPECT_EQ(size_for(32, 256, 3200, 2).rows, 32);
  EXPECT_EQ(size_for(32, 3200, 256, 2).columns, 1600);
  EXPECT_EQ(size_for(3200, 256, 32, 2).rows, 1600);
  EXPECT_EQ(size_for(3200, 256, 32, 2).columns, 256);
  EXPECT_EQ(size_for(32, 10, 256, 2).columns, 10) << "too little work to share";
  EXPECT_EQ(size_for(32, 32, 100'000, 4).rows, 16) << "both sides are cut when one is too short";
}

TEST(Linear, MapsTheLastAxis) {
  const Tensor w = Tensor::from({1, 2, 3, 10, 20, 30}, {2, 3}), b = Tensor::from({0.5, -0.5}, {2});
  const Tensor x = whole_numbers({2, 4, 3}, 1);
  const Tensor y = linear(x, w, b);
  EXPECT_EQ(y.shape(), (Shape{2, 4, 2}));
  EXPECT_EQ(y.to_vector<float>(), linear(reshape(x, {8, 3}), w, b).to_vector<float>());
  EXPECT_EQ(linear(Tensor::from({1, 1, 1}, {3}), w, b).to_vector<float>(), (Floats{6.5, 59.5}));
  EXPECT_EQ(linear(Tensor::from({1, 1, 1}, {3}), w).shape(), Shape{2});
}

TEST(Linear, ErrorsNameBothShapes) {
  const Tensor w = whole_numbers({2, 3}, 1);
  EXPECT_THROW(linear(whole_numbers({4, 2}, 1), w), ShapeError);
  EXPECT_THROW(linear(whole_numbers({4, 3}, 1), w, whole_numbers({3}, 1)), ShapeError);
  EXPECT_THROW(linear(whole_numbers({}, 1), w), ShapeError);
}

}  // namespace
}  // namespace treadle

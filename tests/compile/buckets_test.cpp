/// Batches of any size through a few programs.
#include <gtest/gtest.h>

#include "tests/compile/network_bounds.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/index_select.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

TEST(Buckets, EveryBatchSizeGivesItsOwnRows) {
  NoGrad no_grad;
  auto model = make_model("lenet5", 2);
  auto predict =
      compile([&](Tensor x) { return (*model)(x); }, {.measure = false, .batch_buckets = {1, 4, 16}});
  for (int64_t rows : {1, 2, 4, 5, 15, 16, 17, 35, 3}) {
    Generator generator{uint64_t(rows)};
    Tensor x = rand({rows, 1, 28, 28}, DType::f32, kCpu, generator);
    expect_logits("lenet5", *model, x, predict(x).to_vector<float>());
    EXPECT_FALSE(HasFailure()) << rows << " rows";
  }
  EXPECT_EQ(predict.programs().size(), 3u);
}

TEST(Buckets, EmptyBatch) {
  auto f = compile([](Tensor x) { return x * 2.0; }, {.measure = false, .batch_buckets = {4}});
  EXPECT_EQ(f(full({0, 3}, 1)).shape(), (Shape{0, 3}));
}

/// Rows that are added hold zeros, which are good positions as long as there is anything to choose from.
TEST(Buckets, PaddedPositionsAreValid) {
  const Tensor table = full({1, 3}, 7);
  auto f =
      compile([&](Tensor i) { return index_select(table, 0, i); }, {.measure = false, .batch_buckets = {4}});
  EXPECT_EQ(f(Tensor::zeros({3}, DType::i64)).to_vector<float>(), std::vector<float>(9, 7));
}

TEST(Buckets, ArgumentsOfOtherBatchSizesAreRefused) {
  auto f = compile([](Tensor x, Tensor y) { return std::pair(x * 2.0, y * 2.0); },
                   {.measure = false, .batch_buckets = {4}});
  for (auto [one, other] : {std::pair(2, 3), std::pair(3, 2)}) {
    try {
      f(full({one}, 1), full({other}, 1));
      ADD_FAILURE() << "not refused";
    } catch (const ShapeError& error) {
      EXPECT_NE(std::string(error.what()).find("arguments of"), std::string::npos) << error.what();
    }
  }
}

TEST(Buckets, ResultsWithoutRowsAreRefused) {
  auto f = compile([](Tensor x) { return sum(x); }, {.measure = false, .batch_buckets = {4}});
  EXPECT_THROW(f(full({3, 2}, 1)), ShapeError);
  EXPECT_THROW(f(Tensor::from({1}, {})), ShapeError);
}

TEST(Buckets, UpdatesAreRefused) {
  Tensor count = full({1}, 0);
  auto f = compile(
      [&](Tensor x) {
        fill_(count, 7);
        return x + 1.0;
      },
      {.measure = false, .batch_buckets = {4}});
  EXPECT_THROW(f(full({3, 2}, 1)), RecordingError);
  EXPECT_EQ(count.item(), 0);
}

TEST(Buckets, UndefinedArgumentsAreRefused) {
  auto f = compile([](Tensor x, Tensor y) { return x + y; }, {.batch_buckets = {4}});
  EXPECT_THROW(f(Tensor(), full({2}, 1)), ValueError);
  EXPECT_THROW(f(full({2}, 1), Tensor()), ValueError);
}

TEST(Buckets, MustRise) {
  EXPECT_THROW(compile([](Tensor x) { return x; }, {.batch_buckets = {4, 2}}), ValueError);
}

}  // namespace
}  // namespace treadle

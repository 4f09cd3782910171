/// Pieces of a batch: programs of rows are cut where a batch is too large for the caches, others are not, and
/// a piece gives the bits that its rows give alone.
#include "treadle/compile/pieces.h"

#include <gtest/gtest.h>

#include "tests/compile/restored_settings.h"
#include "treadle/compile/compile.h"
#include "treadle/core/random.h"
#include "treadle/data/batches.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"

namespace treadle {
namespace {

/// Pieces as small as they come, of four rows.
class Pieces : public testing::Test {
 protected:
  Pieces() { detail::piece_bytes = 1; }
  ~Pieces() override { detail::piece_bytes = 0; }

  Tensor random(const Shape& shape) { return rand(shape, DType::f32, kCpu, generator_) - 0.5; }

  using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

  int pieces_of(const Function& function, const std::vector<Tensor>& arguments) {
    CompiledFunction compiled(function);
    compiled(arguments);
    return compiled.programs().back().program->pieces;
  }

  /// Compiled, the function has pieces of `rows` rows, with the bits that it has for these alone.
  void expect_rows(const Function& function, const std::vector<Tensor>& arguments, int64_t rows) {
    CompiledFunction whole(function), part(function);
    for (int call = 0; call < 3; ++call) {
      const auto results = whole(arguments);
      const int64_t all = arguments[0].size(0);
      ASSERT_EQ(whole.programs().back().program->pieces, all / rows);
      for (int64_t begin = 0; begin < all; begin += rows) {
        std::vector<Tensor> piece;
        for (const Tensor& argument : arguments) piece.push_back(slice(argument, 0, begin, begin + rows));
        const auto wanted = part(piece);
        for (size_t k = 0; k < results.size(); ++k) {
          const int64_t ratio = results[k].size(0) / all;
          const Tensor got = slice(results[k], 0, begin * ratio, (begin + rows) * ratio);
          ASSERT_EQ(got.to_doubles(), wanted[k].to_doubles()) << "result " << k << ", rows from " << begin;
        }
      }
    }
    EXPECT_EQ(part.programs().back().program->pieces, 1);
  }

  void expect_whole(const Function& function, const std::vector<Tensor>& arguments) {
    EXPECT_EQ(pieces_of(function, arguments), 1);
  }

  DeterministicRuns deterministic_;
  NoGrad no_grad_;
  Generator generator_{7};
};

Tensor examples_for(const std::string& model, int64_t rows, Generator& generator) {
  const ModelInfo& info = model_info(model);
  const Shape shape = batch_shape(rows, info.input);
  if (is_floating(info.input_dtype)) return rand(shape, DType::f32, kCpu, generator);
  return Tensor::zeros(shape, info.input_dtype);
}

TEST_F(Pieces, GiveEachModelTheBitsOfItsRows) {
  for (const std::string& name : model_names()) {
    SCOPED_TRACE(name);
    auto model = make_model(name, 3);
    model->eval();
    expect_rows([&](std::span<const Tensor> x) { return std::vector{(*model)(x[0])}; },
                {examples_for(name, 12, generator_)}, 4);
  }
}

TEST_F(Pieces, HaveRowsThatAreSeveralOfTheBatch) {
  const Tensor w = random({5, 6});
  expect_rows(
      [&](std::span<const Tensor> x) {
        const Tensor tokens = linear(reshape(x[0], {x[0].size(0) * 3, 6}), w);
        return std::vector{reshape(tokens, {x[0].size(0), 3, 5}), softmax(tokens, -1)};
      },
      {random({16, 3, 6})}, 4);
}

TEST_F(Pieces, TakeSeveralArgumentsAndWhatAllRowsShare) {
  const Tensor bias = random({1, 6}), matrix = random({6, 6});
  expect_rows(
      [&](std::span<const Tensor> x) {
        return std::vector{matmul(x[0] + bias, matrix) * x[1], concat({x[0], x[1]}, 1),
                           x[1] + expand(bias, {x[1].size(0), 6})};
      },
      {random({8, 6}), random({8, 6})}, 4);
}

TEST_F(Pieces, FollowTheWeights) {
  Tensor w = random({5, 6});
  CompiledFunction f([&](std::span<const Tensor> x) { return std::vector{linear(x[0], w * 2)}; });
  const Tensor x = random({8, 6});
  f(std::vector{x});
  copy_into(w, random({5, 6}));
  const Tensor got = f(std::vector{x})[0], wanted = matmul(x, transpose(w * 2, 0, 1));
  ASSERT_EQ(f.programs().back().program->pieces, 2);
  const auto a = got.to_doubles(), b = wanted.to_doubles();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
}

TEST_F(Pieces, AreNotMadeWhereRowsMeet) {
  const std::vector<Tensor> x{random({16, 4})};
  const Tensor of_all = random({16, 4}), square = random({16, 16});
  auto one = [](auto f) { return [f](std::span<const Tensor> x) { return std::vector<Tensor>{f(x[0])}; }; };
  expect_whole(one([](const Tensor& t) { return t - mean(t, {0}); }), x);
  expect_whole(one([](const Tensor& t) { return softmax(t, 0); }), x);
  expect_whole(one([](const Tensor& t) { return sum(t); }), x);
  expect_whole(one([](const Tensor& t) { return concat({t, t}, 0); }), x);
  expect_whole(one([](const Tensor& t) { return clone(transpose(t, 0, 1)); }), x);
  expect_whole(one([](const Tensor& t) { return matmul(t, transpose(t, 0, 1)); }), x);
  expect_whole(one([&](const Tensor& t) { return t * of_all; }), x);
  expect_whole(one([&](const Tensor& t) { return matmul(square, t); }), x);
  expect_whole(one([&](const Tensor& t) { return clone(slice(t, 0, 0, 8)); }), x);
}

TEST_F(Pieces, AreNotMadeWhereAnythingIsUpdated) {
  const Tensor seen = Tensor::zeros({4});
  expect_whole(
      [&](std::span<const Tensor> x) {
        copy_into(seen, mean(x[0], {0}));
        return std::vector{x[0] * 2.0};
      },
      {random({16, 4})});
  Tensor calls = Tensor::zeros({1});
  CompiledFunction counting([&](std::span<const Tensor> x) {
    copy_into(calls, calls + 1.0);
    return std::vector{x[0] * 2.0};
  });
  for (int call = 0; call < 3; ++call) counting(std::vector{random({16, 4})});
  EXPECT_EQ(calls.to_doubles()[0], 3);
}

TEST_F(Pieces, AreNotMadeOfWhatTheCachesHoldOrOpByOp) {
  const Function twice = [](std::span<const Tensor> x) { return std::vector{x[0] * 2.0}; };
  CompiledFunction op_by_op(twice, {.fuse = false});
  op_by_op(std::vector{random({16, 4})});
  EXPECT_EQ(op_by_op.programs().back().program->pieces, 1);
  expect_whole(twice, {random({7, 4})});  // of fewer than two pieces
  detail::piece_bytes = 0;
  expect_whole(twice, {random({16, 4})});
}

TEST_F(Pieces, AreTimedAndPrinted) {
  CompiledFunction f([](std::span<const Tensor> x) { return std::vector{softmax(x[0], 1)}; });
  const std::vector<Tensor> x{random({16, 4})};
  const StepTimes times = f.time_steps(x, 3);
  ASSERT_EQ(times.seconds.size(), 1u);
  EXPECT_GT(times.seconds[0], 0);
  EXPECT_LT(times.seconds[0], 1);
  EXPECT_NE(times.program->to_string().find("for each of 4 pieces"), std::string::npos)
      << times.program->to_string();
}

}  // namespace
}  // namespace treadle

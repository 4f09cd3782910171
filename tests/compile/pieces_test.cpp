/// Pieces of a batch: programs of rows are cut where a batch is too large for the caches, others are not, and
/// a piece gives the bits that its rows give alone.
#include "treadle/compile/pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/compile/restored_settings.h"
#include "treadle/compile/compile.h"
#include "treadle/core/random.h"
#include "treadle/data/batches.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/embedding.h"
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
class PiecesOfTraining : public testing::Test {
 protected:
  PiecesOfTraining() { detail::piece_bytes = 1; }
  ~PiecesOfTraining() override { detail::piece_bytes = 0; }

  Tensor random(const Shape& shape) { return rand(shape, DType::f32, kCpu, generator_) - 0.5; }

  using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

  std::shared_ptr<const Program> program_of(const Function& function, const std::vector<Tensor>& arguments) {
    CompiledFunction compiled(function);
    compiled(arguments);
    return compiled.programs().back().program;
  }

  /// Of loops the numbers of pieces.
  std::vector<int> pieces_of(const Program& program) {
    std::vector<int> pieces;
    for (const PieceLoop& loop : program.loops) pieces.push_back(loop.pieces);
    return pieces;
  }

  /// Compiled, the function has pieces of `rows` rows, with the bits that it has for these alone. `loops` of
  /// them; by default one of all steps, or none where there are not several.
  void expect_rows(const Function& function, const std::vector<Tensor>& arguments, int64_t rows,
                   size_t loops = 1) {
    CompiledFunction whole(function), part(function);
    for (int call = 0; call < 3; ++call) {
      const auto results = whole(arguments);
      const int64_t all = arguments[0].size(0);
      const Program& program = *whole.programs().back().program;
      const auto once = std::ranges::count_if(program.steps, &ProgramStep::prepared);
      if (std::ssize(program.steps) - once < 2) loops = 0;
      ASSERT_EQ(pieces_of(program), std::vector<int>(loops, int(all / rows))) << program.to_string();
      if (loops == 1) {
        ASSERT_EQ(program.loops[0].end - program.loops[0].first, std::ssize(program.steps) - once);
      }
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
    EXPECT_TRUE(part.programs().back().program->loops.empty());
  }

  void expect_whole(const Function& function, const std::vector<Tensor>& arguments) {
    const auto program = program_of(function, arguments);
    EXPECT_TRUE(program->loops.empty()) << program->to_string();
  }

  DeterministicRuns deterministic_;
  Generator generator_{7};
};

class Pieces : public PiecesOfTraining {
  NoGrad no_grad_;
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
  CompiledFunction f([&](std::span<const Tensor> x) { return std::vector{exp(linear(x[0], w * 2))}; });
  const Tensor x = random({8, 6});
  f(std::vector{x});
  copy_into(w, random({5, 6}));
  const Tensor got = f(std::vector{x})[0], wanted = exp(matmul(x, transpose(w * 2, 0, 1)));
  ASSERT_EQ(pieces_of(*f.programs().back().program), std::vector{2});
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
  const Function twice = [](std::span<const Tensor> x) { return std::vector{softmax(x[0] * 2.0, 1)}; };
  CompiledFunction op_by_op(twice, {.fuse = false});
  op_by_op(std::vector{random({16, 4})});
  EXPECT_TRUE(op_by_op.programs().back().program->loops.empty());
  expect_whole(twice, {random({7, 4})});  // of fewer than two pieces
  detail::piece_bytes = 0;
  expect_whole(twice, {random({16, 4})});
}

TEST_F(Pieces, AreTimedAndPrinted) {
  CompiledFunction f([](std::span<const Tensor> x) { return std::vector{softmax(exp(x[0]), 1), sum(x[0])}; });
  const std::vector<Tensor> x{random({16, 4})};
  const StepTimes times = f.time_steps(x, 3);
  ASSERT_EQ(times.seconds.size(), 3u);
  for (double seconds : times.seconds) {
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds, 1);
  }
  EXPECT_EQ(times.program->run_order().size(), 9u);
  EXPECT_NE(times.program->to_string().find("for each of 4 pieces"), std::string::npos)
      << times.program->to_string();
}

// ---- loops in a program that has other steps

TEST_F(Pieces, LieAroundStepsOfTheWholeBatch) {
  const Function centred = [](std::span<const Tensor> x) {
    const Tensor before = softmax(x[0] * 2.0, 1);
    const Tensor after = exp(before - mean(before, {0}));
    return std::vector{softmax(after, 1), before};
  };
  const std::vector<Tensor> x{random({16, 8})};
  const auto program = program_of(centred, x);
  EXPECT_EQ(pieces_of(*program), (std::vector{4, 4})) << program->to_string();
  CompiledFunction cut(centred);
  for (int call = 0; call < 3; ++call) {
    const auto got = cut(x), wanted = centred(x);
    for (size_t k = 0; k < got.size(); ++k) EXPECT_EQ(got[k].to_doubles(), wanted[k].to_doubles());
  }
}

/// Small integers: every sum is exact, whatever its order.
Tensor integers(const Tensor& uniform) { return cast(cast(uniform * 8.0, DType::i32), DType::f32); }

TEST_F(Pieces, AddUpSums) {
  const Function gradients = [](std::span<const Tensor> x) {
    const Tensor dy = relu(x[1]);
    const auto gradient = linear_weight_gradient(x[0], dy, {.bias = true});
    return std::vector{gradient.dw, gradient.db, dy * 2.0};
  };
  const std::vector<Tensor> x{integers(random({24, 5})), integers(random({24, 3}))};
  const auto program = program_of(gradients, x);
  EXPECT_EQ(pieces_of(*program), std::vector{6}) << program->to_string();
  EXPECT_EQ(std::ranges::count_if(program->steps, [](const auto& step) { return step.op->name == "sum"; }),
            2);
  CompiledFunction cut(gradients);
  for (int call = 0; call < 3; ++call) {
    const auto got = cut(x), wanted = gradients(x);
    for (size_t k = 0; k < got.size(); ++k)
      EXPECT_EQ(got[k].to_doubles(), wanted[k].to_doubles()) << "result " << k;
  }
}

/// In f64, in which what the order of sums changes is far below the tolerance: gradients have at most 2^17
/// terms, and are compared within 2^-30 of the largest. Models of a million parameters and more, in f64 and
/// by the general variants, take half a minute, and have the same layers.
TEST_F(PiecesOfTraining, GiveEachModelItsGradients) {
  size_t loops = 0;
  for (const std::string& name : model_names()) {
    SCOPED_TRACE(name);
    int64_t parameters = 0;
    for (const Tensor& parameter : make_model(name, 3)->parameters()) parameters += parameter.numel();
    if (parameters > 1'000'000) continue;
    const auto gradients = [&](size_t bytes) {
      detail::piece_bytes = bytes;
      auto model = make_model(name, 3);
      model->to(DType::f64);
      CompiledFunction step([&](std::span<const Tensor> x) {
        model->zero_grad();
        const Tensor y = (*model)(x[0]);
        sum(y * y).backward();
        std::vector<Tensor> list;
        for (const Tensor& parameter : model->parameters()) list.push_back(parameter.grad());
        return list;
      });
      Generator generator(5);
      Tensor x = examples_for(name, 8, generator);
      if (is_floating(x.dtype())) x = cast(x, DType::f64);
      const std::vector<Tensor> results = step(std::vector{x});
      if (bytes > 0) loops += step.programs().back().program->loops.size();
      return results;
    };
    const auto cut = gradients(1), whole = gradients(~size_t(0));
    ASSERT_EQ(cut.size(), whole.size());
    for (size_t k = 0; k < cut.size(); ++k) {
      const auto a = cut[k].to_doubles(), b = whole[k].to_doubles();
      double largest = 0;
      for (double value : b) largest = std::max(largest, std::abs(value));
      for (size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], b[i], 0x1p-30 * largest) << "gradient " << k << ", element " << i;
    }
  }
  EXPECT_GT(loops, 20u);
}

TEST_F(Pieces, LetStepsRunBeforeThatNeedNothingOfThem) {
  Tensor w = random({6, 6});
  const Function f = [&](std::span<const Tensor> x) {
    const Tensor first = exp(x[0]), shared = mean(x[1], {0});
    return std::vector{softmax(matmul(first, w) * shared, 1)};
  };
  const std::vector<Tensor> x{random({12, 6}), random({12, 6})};
  const auto program = program_of(f, x);
  ASSERT_EQ(pieces_of(*program), std::vector{3}) << program->to_string();
  EXPECT_EQ(program->loops[0].first, 1) << program->to_string();
  EXPECT_EQ(program->steps[0].op->name, "mean");
  CompiledFunction cut(f);
  EXPECT_EQ(cut(x)[0].to_doubles(), f(x)[0].to_doubles());
}

TEST_F(Pieces, AreWhereTheyWereAfterAFailure) {
  const Tensor table = random({5, 4});
  const Function f = [&](std::span<const Tensor> x) {
    return std::vector{mean(exp(embedding(table, x[0])), {0})};
  };
  CompiledFunction cut(f);
  const auto positions = [](int64_t at, int64_t position) {
    std::vector<int64_t> list(16, 3);
    list[size_t(at)] = position;
    return std::vector{Tensor::from(list, {16})};
  };
  cut(positions(0, 1));
  ASSERT_EQ(pieces_of(*cut.programs().back().program), std::vector{4});
  EXPECT_THROW(cut(positions(9, 5)), Error);
  const auto x = positions(10, 2);
  EXPECT_EQ(cut(x)[0].to_doubles(), f(x)[0].to_doubles());
}

}  // namespace
}  // namespace treadle

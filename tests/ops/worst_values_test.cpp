/// The worst values of parameters that several ops share or that typed functions take: refused with a message
/// that names both sides, or defined as the headers say. What a single op refuses stands beside its test
/// cases.
#include <cmath>
#include <limits>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/graph/apply.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/loss/mse.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_chain.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr Device kThirdCpu{DeviceKind::cpu, 3};

Tensor matrix() { return Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}); }
Tensor empty_of(Shape shape, DType dtype = DType::f32) { return Tensor::zeros(shape, dtype); }

TEST(WorstValues, Views) {
  const Tensor x = matrix(), none = empty_of({0, 3}), eight = empty_of({1, 1, 1, 1, 1, 1, 1, 1});
  expect_refused({
      refused<ShapeError>("other number", {"[4]", "[2, 3]"}, [&] { reshape(x, {4}); }),
      refused<ShapeError>("two open", {"negative"},
                          [&] {
                            reshape(x, {-1, -1});
                          }),
      refused<ShapeError>("minus two", {"negative"},
                          [&] {
                            reshape(x, {-2, -3});
                          }),
      refused<ShapeError>("open beside nothing", {"[0, -1]"},
                          [&] {
                            reshape(none, {0, -1});
                          }),
      refused<ShapeError>("open that does not divide", {"[4, -1]", "[2, 3]"},
                          [&] {
                            reshape(x, {4, -1});
                          }),
      refused<ShapeError>("too many", {"too many"},
                          [&] {
                            reshape(x, {kMost, kMost});
                          }),
      refused<ShapeError>("flatten", {"flatten", "axis 2"}, [&] { flatten(x, 2); }),
      refused<ShapeError>("flatten least", {"flatten"}, [&] { flatten(x, kLeast); }),
      refused<ShapeError>("squeeze", {"squeeze", "[2, 3]"}, [&] { squeeze(x, 1); }),
      refused<ShapeError>("squeeze axis", {"squeeze", "axis 2"}, [&] { squeeze(x, 2); }),
      refused<ShapeError>("squeeze rank 0", {"0 axes"}, [&] { squeeze(sum(x), 0); }),
      refused<ShapeError>("unsqueeze axis", {"unsqueeze", "axis 3"}, [&] { unsqueeze(x, 3); }),
      refused<ShapeError>("ninth axis", {"8 axes"}, [&] { unsqueeze(eight, 0); }),
      refused<ShapeError>("permute twice", {"[0, 0]", "twice"},
                          [&] {
                            permute(x, {0, 0});
                          }),
      refused<ShapeError>("permute twice by sign", {"[1, -1]", "twice"},
                          [&] {
                            permute(x, {1, -1});
                          }),
      refused<ShapeError>("permute few", {"[0]", "[2, 3]"}, [&] { permute(x, {0}); }),
      refused<ShapeError>("permute axis", {"axis 2"},
                          [&] {
                            permute(x, {0, 2});
                          }),
      refused<ShapeError>("transpose", {"transpose", "axis 5"}, [&] { transpose(x, 0, 5); }),
      refused<ValueError>("step 0", {"step", "0"}, [&] { slice(x, 0, 0, 2, 0); }),
      refused<ValueError>("step -1", {"step", "-1"}, [&] { slice(x, 0, 1, 0, -1); }),
      refused<ShapeError>("slice axis", {"slice", "axis 2"}, [&] { slice(x, 2, 0); }),
      refused<ShapeError>("slice rank 0", {"0 axes"}, [&] { slice(sum(x), 0, 0); }),
      refused<ShapeError>("expand", {"[2, 3]", "[4, 3]"},
                          [&] {
                            expand(x, {4, 3});
                          }),
      refused<ShapeError>("expand to fewer axes", {"[2, 3]", "[3]"}, [&] { expand(x, {3}); }),
      refused<ShapeError>("expand negative", {"negative"},
                          [&] {
                            expand(x, {-1, 2, 3});
                          }),
      refused<ShapeError>("expand too far", {"too many"},
                          [&] {
                            expand(x, {kMost, 2, 3});
                          }),
      refused<ShapeError>("sum_to", {"sum_to", "[2]", "[2, 3]"}, [&] { sum_to(x, {2}); }),
      refused<ShapeError>("sum_to longer", {"[1, 2, 3]"},
                          [&] {
                            sum_to(x, {1, 2, 3});
                          }),
  });
  EXPECT_EQ(slice(x, 1, kLeast, kMost, kMost).to_vector<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(slice(x, 1, kMost, kLeast).shape(), (Shape{2, 0}));
  EXPECT_EQ(reshape(none, {-1, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(expand(none, {2, 0, 3}).numel(), 0);
}

TEST(WorstValues, ReductionsOfNothing) {
  const Tensor x = matrix(), none = empty_of({0, 3});
  EXPECT_TRUE(std::isnan(mean(none).item()));
  EXPECT_EQ(sum(none).item(), 0);
  EXPECT_EQ(sum(greater(x, 2)).to_vector<int64_t>(), (std::vector<int64_t>{4}));
  EXPECT_EQ(argmax(none, 1).shape(), (Shape{0}));
}

TEST(WorstValues, FillAndRanges) {
  const Tensor bytes = empty_of({3}, DType::u8);
  expect_refused({
      refused<ValueError>("fill u8", {"fill", "300", "u8"}, [&] { fill_(bytes, 300); }),
      refused<ValueError>("fill negative", {"-1", "u8"}, [&] { fill_(bytes, -1); }),
      refused<ValueError>("fill NaN", {"nan", "u8"}, [&] { fill_(bytes, NAN); }),
      refused<ValueError>("full", {"1e+300", "i64"}, [] { full({2}, 1e300, DType::i64); }),
      refused<ShapeError>("full of negative shape", {"[-2]"}, [] { full({-2}, 1); }),
      refused<ValueError>("full_like", {"256", "u8"}, [&] { full_like(bytes, 256); }),
      refused<ValueError>("scalar_like", {"256", "u8"}, [&] { scalar_like(256, bytes); }),
      refused<ValueError>("step 0", {"arange", "steps of 0"}, [] { arange(0, 5, 0); }),
      refused<ValueError>("away", {"from 5 to 0"}, [] { arange(5, 0, 1); }),
      refused<ValueError>("NaN", {"nan"}, [] { arange(NAN, 5); }),
      refused<ValueError>("infinite end", {"inf"}, [] { arange(0, kInfinite); }),
      refused<ValueError>("infinite step", {"inf"}, [] { arange(0, 1, kInfinite); }),
      refused<ValueError>("endless", {"arange"}, [] { arange(0, 1, 1e-300); }),
      refused<ValueError>("beyond u8", {"arange", "299", "u8"}, [] { arange(0, 300, 1, DType::u8); }),
      refused<ValueError>("below u8", {"arange", "-1", "u8"}, [] { arange(-1, 3, 1, DType::u8); }),
      refused<DTypeError>("bool", {"arange", "bool"}, [] { arange(0, 1, 1, DType::boolean); }),
  });
  EXPECT_EQ(arange(3, 3).numel(), 0);
  fill_(bytes, 255.9);
  EXPECT_EQ(bytes.to_vector<uint8_t>(), (std::vector<uint8_t>{255, 255, 255}));
}

TEST(WorstValues, Random) {
  const Tensor x = empty_of({3}), integers = empty_of({3}, DType::i64);
  expect_refused({
      refused<ValueError>("uniform backwards", {"1", "0"}, [&] { uniform_(x, 1, 0); }),
      refused<ValueError>("uniform NaN", {"nan"}, [&] { uniform_(x, NAN, 1); }),
      refused<ValueError>("uniform infinite", {"inf"}, [&] { uniform_(x, 0, kInfinite); }),
      refused<ValueError>("uniform too wide", {"1e+308"}, [&] { uniform_(x, -1e308, 1e308); }),
      refused<DTypeError>("uniform integers", {"uniform", "i64"}, [&] { uniform_(integers); }),
      refused<ValueError>("normal", {"-1"}, [&] { normal_(x, 0, -1); }),
      refused<ValueError>("normal NaN", {"nan"}, [&] { normal_(x, 0, NAN); }),
      refused<ValueError>("normal mean", {"inf"}, [&] { normal_(x, kInfinite, 1); }),
      refused<ValueError>("bernoulli", {"1.5"}, [&] { bernoulli_(x, 1.5); }),
      refused<ValueError>("bernoulli NaN", {"nan"}, [&] { bernoulli_(x, NAN); }),
      refused<ShapeError>("rand", {"[-1]"}, [] { rand({-1}); }),
      refused<DTypeError>("randn", {"normal", "i32"}, [] { randn({2}, DType::i32); }),
  });
  uniform_(x, 2, 2);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 2, 2}));
  Generator last(~uint64_t(0), ~uint64_t(0));  // any seed and offset is one
  uniform_(x, 0, 1, last);
}

TEST(WorstValues, CopiesAndDevices) {
  Tensor x = matrix(), wide = expand(Tensor::from({1, 2, 3}, {3}), {2, 3});
  expect_refused({
      refused<ShapeError>("channels last", {"[2, 3]"}, [&] { to_channels_last(x); }),
      refused<ShapeError>("copy_into", {"[2, 3]", "[4]"}, [&] { copy_into(x, empty_of({4})); }),
      refused<ShapeError>("copy_into smaller", {"[2, 3]", "[3]"}, [&] { copy_into(empty_of({3}), x); }),
      refused<DTypeError>("copy_into dtype", {"copy_into", "f32", "f64"},
                          [&] {
                            copy_into(x, empty_of({2, 3}, DType::f64));
                          }),
      refused<DTypeError>("fractions into integers", {"i64", "f32"},
                          [&] { copy_into(cast(x, DType::i64), x); }),
      refused<ValueError>("copy_into expanded", {"copy_into", "[0, 1]"}, [&] { copy_into(wide, x); }),
      refused<ValueError>("fill expanded", {"fill", "[0, 1]"}, [&] { fill_(wide, 1); }),
      refused<ValueError>("uniform expanded", {"uniform", "[0, 1]"}, [&] { uniform_(wide); }),
      refused<ValueError>("fill overlapping", {"[1, 1]"},
                          [&] {
                            fill_(x.alias({3, 3}, {1, 1}), 1);
                          }),
      refused<DeviceError>("two devices", {"add", "cpu", "simt"}, [&] { x + to(x, kSimt); }),
      refused<DeviceAbsent>("absent", {"cpu:3"}, [&] { to(x, kThirdCpu); }),
  });
}

TEST(WorstValues, OverlappingCopiesAreAsIfTheSourceWereCopiedBefore) {
  for (Device device : {kCpu, kSimt}) {
    auto line = [&] { return to(Tensor::from({1, 2, 3, 4, 5, 6, 7, 8}, {8}), device); };
    Tensor up = line(), down = line(), swapped = to(matrix(), device), same = line(), apart = line();
    copy_into(slice(up, 0, 1), slice(up, 0, 0, 7));
    EXPECT_EQ(up.to_vector<float>(), (std::vector<float>{1, 1, 2, 3, 4, 5, 6, 7}));
    copy_into(slice(down, 0, 0, 7), slice(down, 0, 1));
    EXPECT_EQ(down.to_vector<float>(), (std::vector<float>{2, 3, 4, 5, 6, 7, 8, 8}));
    Tensor square = slice(swapped, 1, 0, 2);
    copy_into(square, transpose(square, 0, 1));
    EXPECT_EQ(swapped.to_vector<float>(), (std::vector<float>{1, 4, 3, 2, 5, 6}));
    copy_into(same, same.alias({8}, {1}));
    EXPECT_EQ(same.to_vector<float>(), line().to_vector<float>());
    copy_into(slice(apart, 0, 0, 4), slice(apart, 0, 7));  // one element, broadcast, from behind
    EXPECT_EQ(apart.to_vector<float>(), (std::vector<float>{8, 8, 8, 8, 5, 6, 7, 8}));
    copy_into(apart, slice(apart, 0, 3, 4));  // one element, broadcast, from inside
    EXPECT_EQ(apart.to_vector<float>(), std::vector<float>(8, 8));
  }
}

TEST(WorstValues, ConcatOfNothing) {
  expect_refused({refused<ValueError>("none", {"concat"}, [] { concat({}); })});
}

TEST(WorstValues, Products) {
  const Tensor x = matrix(), one = sum(x), w = empty_of({2, 4});
  expect_refused({
      refused<ShapeError>("matmul rank 0", {"[]", "[2, 3]"}, [&] { matmul(one, x); }),
      refused<ShapeError>("linear rank 0", {"[]", "[2, 4]"}, [&] { linear(one, w); }),
      refused<ShapeError>("linear_relu rank 3", {"[1, 2, 3]"}, [&] { linear_relu(unsqueeze(x, 0), x); }),
  });
}

TEST(WorstValues, LossesOfNothing) {
  const Tensor none = empty_of({0, 3}), no_labels = empty_of({0}, DType::i64);
  EXPECT_TRUE(std::isnan(cross_entropy(none, no_labels).item()) && std::isnan(mse(none, none).item()));
  EXPECT_EQ(cross_entropy(none, no_labels, "sum").item(), 0);
  EXPECT_EQ(mse(none, none, "none").shape(), (Shape{0, 3}));
}

TEST(WorstValues, Pointwise) {
  const Tensor x = matrix(), flag = greater(x, 2), bytes = cast(x, DType::u8), integers = cast(x, DType::i64);
  expect_refused({
      refused<ShapeError>("shapes", {"add", "[2, 3]", "[2]"}, [&] { x + empty_of({2}); }),
      refused<ValueError>("two numbers", {"add", "numbers"}, [] { add(1, 2.0); }),
      refused<DTypeError>("bools subtracted", {"sub", "bool"}, [&] { flag - flag; }),
      refused<DTypeError>("bool negated", {"neg", "bool"}, [&] { -flag; }),
      refused<DTypeError>("bool raised", {"pow", "bool"}, [&] { pow(flag, flag); }),
      refused<ValueError>("integers to -1", {"pow", "i64", "-1"}, [&] { pow(integers, -1); }),
      refused<DTypeError>("clamped bools", {"clamp", "bool"}, [&] { clamp(flag, false, true); }),
      refused<DTypeError>("gelu", {"gelu", "i64"}, [&] { gelu(integers); }),
      refused<DTypeError>("condition", {"where", "f32", "bool"}, [&] { where(x, x, x); }),
      refused<ValueError>("where number", {"where", "300", "u8"}, [&] { where(flag, bytes, 300); }),
      refused<ShapeError>("where shapes", {"[2, 3]", "[4]"}, [&] { where(flag, x, empty_of({4})); }),
  });
}

TEST(PointwiseChain, HasAnEnd) {
  auto negated = [](int times) {
    std::string text = "neg(x0)";
    for (int i = 1; i < times; ++i) text += "; neg(t" + std::to_string(i - 1) + ")";
    return Attributes::of(PointwiseChain::parse(text));
  };
  const Tensor x = Tensor::from({3.0f}, {1});
  EXPECT_EQ(apply(pointwise_chain_op(), {x}, negated(24))[0].to_vector<float>()[0], 3);
  expect_refused({refused<ValueError>("one step more", {"pointwise_chain", "25 steps", "24"},
                                      [&] { apply(pointwise_chain_op(), {x}, negated(25)); })});
}

TEST(Clamp, BoundsThatCrossOrAreNoNumbers) {
  for (Device device : {kCpu, kSimt}) {
    const Tensor x = to(Tensor::from({-1, 0, 1.5, 3, NAN}, {5}), device);
    auto values = [&](double low, double high) { return clamp(x, low, high).to_vector<float>(); };
    const std::vector<float> crossed = values(2, 1);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(crossed[i], 1) << i;
    EXPECT_TRUE(std::isnan(crossed[4]));
    for (float value : values(NAN, 1)) EXPECT_TRUE(std::isnan(value));
    for (float value : values(0, NAN)) EXPECT_TRUE(std::isnan(value));
    EXPECT_EQ(values(-kInfinite, 1)[3], 1);
  }
}

}  // namespace
}  // namespace treadle

/// The worst values of every parameter of the typed functions of ops/: refused with a message that names both
/// sides, or defined as the headers say.
#include <cmath>
#include <limits>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/graph/apply.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layer_norm/layer_norm.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/concat.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/layout/index_select.h"
#include "treadle/ops/layout/slice_gradient.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/loss/mse.h"
#include "treadle/ops/matrix/linear.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/pointwise/pointwise_chain.h"
#include "treadle/ops/pool2d/avg_pool2d.h"
#include "treadle/ops/pool2d/max_pool2d.h"
#include "treadle/ops/random/random.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"

namespace treadle {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
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

TEST(WorstValues, SliceGradients) {
  const Tensor dy = Tensor::from({1, 2, 3}, {3});
  auto with = [&](int64_t begin, int64_t step, int64_t extent) {
    return [=] { slice_gradient(dy, {.axis = 0, .begin = begin, .step = step, .extent = extent}); };
  };
  expect_refused({
      refused<ShapeError>("beyond", {"extent of 3"}, with(1, 1, 3)),
      refused<ShapeError>("step that overflows", {"3 elements"}, with(0, kMost, 5)),
      refused<ShapeError>("begin that overflows", {"3 elements"}, with(kMost, 1, 5)),
      refused<ShapeError>("negative begin", {"-1"}, with(-1, 1, 5)),
      refused<ShapeError>("negative extent", {"-5"}, with(0, 1, -5)),
      refused<ShapeError>("step 0", {"0 apart"}, with(0, 0, 5)),
  });
}

TEST(WorstValues, Reductions) {
  const Tensor x = matrix(), none = empty_of({0, 3}), integers = cast(x, DType::i64);
  expect_refused({
      refused<ShapeError>("axis", {"sum", "axis 2", "2 axes"}, [&] { sum(x, {2}); }),
      refused<ShapeError>("axis twice", {"sum", "twice"},
                          [&] {
                            sum(x, {0, -2});
                          }),
      refused<ShapeError>("mean axis", {"mean", "axis -3"}, [&] { mean(x, {-3}); }),
      refused<DTypeError>("mean of integers", {"mean", "i64"}, [&] { mean(integers); }),
      refused<ShapeError>("largest of none", {"[0, 3]"}, [&] { max(none); }),
      refused<ShapeError>("smallest of none", {"[0, 3]"}, [&] { min(none, {0}); }),
      refused<ShapeError>("argmax of none", {"[0, 3]"}, [&] { argmax(none, 0); }),
      refused<ShapeError>("argmax axis", {"argmax", "axis 2"}, [&] { argmax(x, 2); }),
      refused<ShapeError>("softmax axis", {"softmax", "axis 2"}, [&] { softmax(x, 2); }),
      refused<DTypeError>("softmax of integers", {"softmax", "i64"}, [&] { softmax(integers); }),
  });
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
      refused<ValueError>("infinite end", {"inf"}, [] { arange(0, kInfinity); }),
      refused<ValueError>("infinite step", {"inf"}, [] { arange(0, 1, kInfinity); }),
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
      refused<ValueError>("uniform infinite", {"inf"}, [&] { uniform_(x, 0, kInfinity); }),
      refused<ValueError>("uniform too wide", {"1e+308"}, [&] { uniform_(x, -1e308, 1e308); }),
      refused<DTypeError>("uniform integers", {"uniform", "i64"}, [&] { uniform_(integers); }),
      refused<ValueError>("normal", {"-1"}, [&] { normal_(x, 0, -1); }),
      refused<ValueError>("normal NaN", {"nan"}, [&] { normal_(x, 0, NAN); }),
      refused<ValueError>("normal mean", {"inf"}, [&] { normal_(x, kInfinity, 1); }),
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

TEST(WorstValues, IndicesAndConcat) {
  const Tensor x = matrix(), two = Tensor::from(std::vector<int64_t>{0, 1}, {2});
  auto at = [&](int64_t index) {
    return [&x, index] { index_select(x, 0, Tensor::from(std::vector<int64_t>{index}, {1})); };
  };
  expect_refused({
      refused<ValueError>("index", {"index 2", "[0, 2)"}, at(2)),
      refused<ValueError>("negative index", {"index -1"}, at(-1)),
      refused<ShapeError>("axis", {"index_select", "axis 2"}, [&] { index_select(x, 2, two); }),
      refused<DTypeError>("dtype", {"i64", "f32"}, [&] { index_select(x, 0, Tensor::from({0}, {1})); }),
      refused<ShapeError>("rank", {"[1, 2]"}, [&] { index_select(x, 0, unsqueeze(two, 0)); }),
      refused<ShapeError>("extent", {"-1"}, [&] { index_select_gradient(x, 0, two, -1); }),
      refused<ShapeError>("great extent", {"too many"}, [&] { index_select_gradient(x, 0, two, kMost / 2); }),
      refused<ShapeError>("number", {"[2, 3]", "2 indices"}, [&] { index_select_gradient(x, 1, two, 5); }),
      refused<ValueError>("none to concat", {"concat"}, [] { concat({}); }),
      refused<ShapeError>("concat axis", {"concat", "axis 2"}, [&] { concat({x}, 2); }),
      refused<ShapeError>("concat shapes", {"[2, 3]", "[3, 2]"},
                          [&] {
                            concat({x, transpose(x, 0, 1)});
                          }),
      refused<ShapeError>("concat ranks", {"[2, 3]", "[]"},
                          [&] {
                            concat({x, sum(x)});
                          }),
      refused<ShapeError>("concat rank 0", {"0 axes"}, [&] { concat({sum(x)}); }),
      refused<DTypeError>("concat dtypes", {"f32", "i64"},
                          [&] {
                            concat({x, cast(x, DType::i64)});
                          }),
  });
}

TEST(WorstValues, Products) {
  const Tensor x = matrix(), one = sum(x), wrong = empty_of({2, 4}), doubles = cast(x, DType::f64);
  expect_refused({
      refused<ShapeError>("matmul", {"[2, 3]", "[2, 4]"}, [&] { matmul(x, wrong); }),
      refused<ShapeError>("matmul rank 0", {"[]", "[2, 3]"}, [&] { matmul(one, x); }),
      refused<ShapeError>("matmul batches", {"[2]", "[3]"},
                          [] {
                            matmul(empty_of({2, 4, 4}), empty_of({3, 4, 4}));
                          }),
      refused<DTypeError>("matmul dtypes", {"matmul", "f32", "f64"},
                          [&] { matmul(x, transpose(doubles, 0, 1)); }),
      refused<DTypeError>("matmul integers", {"matmul", "i64"},
                          [&] { matmul(cast(x, DType::i64), cast(transpose(x, 0, 1), DType::i64)); }),
      refused<ShapeError>("linear", {"[2, 3]", "[2, 4]"}, [&] { linear(x, wrong); }),
      refused<ShapeError>("linear rank 0", {"[]", "[2, 4]"}, [&] { linear(one, wrong); }),
      refused<ShapeError>("linear bias", {"[3]", "[2, 3]"}, [&] { linear(x, x, empty_of({3})); }),
      refused<DTypeError>("linear dtypes", {"linear", "f32", "f64"}, [&] { linear(x, doubles); }),
      refused<DTypeError>("bias dtype", {"linear", "f32", "f64"},
                          [&] { linear(x, x, empty_of({2}, DType::f64)); }),
      refused<ShapeError>("linear_relu rank 3", {"[1, 2, 3]"}, [&] { linear_relu(unsqueeze(x, 0), x); }),
  });
}

TEST(WorstValues, Convolutions) {
  const Tensor x = empty_of({1, 2, 5, 5}), w = empty_of({4, 2, 3, 3}), dy = empty_of({1, 4, 3, 3});
  auto with = [&](const Conv2dOptions& options) { return [=] { conv2d(x, w, {}, options); }; };
  expect_refused({
      refused<ShapeError>("stride 0", {"stride [0, 1]"}, with({.stride = {0, 1}})),
      refused<ShapeError>("stride -1", {"stride [1, -1]"}, with({.stride = {1, -1}})),
      refused<ShapeError>("great stride", {"stride"}, with({.stride = kMost})),
      refused<ShapeError>("dilation 0", {"dilation [0, 0]"}, with({.dilation = 0})),
      refused<ShapeError>("great dilation", {"dilation"}, with({.dilation = kMost})),
      refused<ShapeError>("wide dilation", {"[4, 2, 3, 3]", "[1, 2, 5, 5]"},
                          with({.dilation = kMostGeometry})),
      refused<ShapeError>("padding -1", {"padding [-1"}, with({.padding = {-1, 0, 0, 0}})),
      refused<ShapeError>("great padding", {"padding"}, with({.padding = kMost})),
      refused<ShapeError>("groups 0", {"groups", "0"}, with({.groups = 0})),
      refused<ShapeError>("groups -2", {"groups", "-2"}, with({.groups = -2})),
      refused<ShapeError>("great groups", {"groups"}, with({.groups = kMost})),
      refused<ShapeError>("other groups", {"[1, 2, 5, 5]", "3 groups"}, with({.groups = 3})),
      refused<ShapeError>("kernel too large", {"[4, 2, 6, 3]", "[1, 2, 5, 5]"},
                          [&] {
                            conv2d(x, empty_of({4, 2, 6, 3}));
                          }),
      refused<ShapeError>("empty kernel", {"[4, 2, 0, 3]"},
                          [&] {
                            conv2d(x, empty_of({4, 2, 0, 3}));
                          }),
      refused<ShapeError>("rank 3", {"x", "[2, 5, 5]"},
                          [&] {
                            conv2d(empty_of({2, 5, 5}), w);
                          }),
      refused<ShapeError>("bias", {"[3]", "[4]"}, [&] { conv2d(x, w, empty_of({3})); }),
      refused<DTypeError>("dtypes", {"conv2d", "f32", "f64"}, [&] { conv2d(x, cast(w, DType::f64)); }),
      refused<ShapeError>("dx groups", {"groups"},
                          [&] {
                            conv2d_input_gradient(dy, w, {{.groups = kMost}, {5, 5}});
                          }),
      refused<ShapeError>("dx negative", {"negative"},
                          [&] {
                            conv2d_input_gradient(dy, w, {{}, {-5, 5}});
                          }),
      refused<ShapeError>("dx size", {"[1, 4, 3, 3]", "[1, 2, 9, 5]"},
                          [&] {
                            conv2d_input_gradient(dy, w, {{}, {9, 5}});
                          }),
      refused<ShapeError>("dw size", {"[1, 4, 3, 3]"},
                          [&] {
                            conv2d_weight_gradient(x, dy, {{}, {2, 3}});
                          }),
      refused<ShapeError>("dw negative", {"negative"},
                          [&] {
                            conv2d_weight_gradient(x, dy, {{}, {-3, 3}});
                          }),
      refused<ShapeError>("dw great", {"too many"},
                          [&] {
                            conv2d_weight_gradient(x, dy, {{}, {kMost, kMost}});
                          }),
      refused<ShapeError>("fused groups", {"groups"},
                          [&] {
                            conv2d_max_pool2d_input_gradient(dy, dy, w, {{{.groups = kMost}}, {5, 5}});
                          }),
      refused<ShapeError>("fused window", {"[300, 1]", "254"},
                          [&] {
                            conv2d_max_pool2d(x, w, {}, {{}, {300, 1}});
                          }),
  });
}

TEST(WorstValues, Pooling) {
  const Tensor x = empty_of({1, 2, 5, 5});
  auto with = [&](const MaxPool2dOptions& options) { return [=] { max_pool2d(x, options); }; };
  auto mean_with = [&](const AvgPool2dOptions& options) { return [=] { avg_pool2d(x, options); }; };
  expect_refused({
      refused<ShapeError>("kernel 0", {"kernel [0, 2]"}, with({.kernel = {0, 2}})),
      refused<ShapeError>("kernel too large", {"[6, 6]", "[1, 2, 5, 5]"}, with({.kernel = 6})),
      refused<ShapeError>("great kernel", {"kernel"}, with({.kernel = kMost})),
      refused<ShapeError>("stride -1", {"stride [-1, -1]"}, with({.stride = -1})),
      refused<ShapeError>("great stride", {"stride"}, with({.stride = kMost})),
      refused<ShapeError>("dilation 0", {"dilation [0, 0]"}, with({.dilation = 0})),
      refused<ShapeError>("great dilation", {"dilation"}, with({.dilation = kMost})),
      refused<ShapeError>("wide dilation", {"[1, 2, 5, 5]"}, with({.dilation = kMostGeometry})),
      refused<ShapeError>("padding", {"padding [2", "[2, 2]"}, with({.padding = 2})),
      refused<ShapeError>("negative padding", {"padding [-1"}, with({.padding = -1})),
      refused<ShapeError>("rank 2", {"[2, 3]"}, [] { max_pool2d(matrix()); }),
      refused<ShapeError>("empty image", {"[1, 2, 0, 5]"},
                          [] {
                            max_pool2d(empty_of({1, 2, 0, 5}));
                          }),
      refused<DTypeError>("integers", {"max_pool2d", "i64"},
                          [] {
                            max_pool2d(empty_of({1, 1, 4, 4}, DType::i64));
                          }),
      refused<ShapeError>("mean kernel", {"kernel [0, 0]"}, mean_with({.kernel = 0})),
      refused<ShapeError>("mean padding", {"padding [3"}, mean_with({.kernel = 3, .padding = 3})),
      refused<ShapeError>("mean gradient", {"[1, 2, 5, 5]"},
                          [&] {
                            avg_pool2d_gradient(x, {{}, {9, 9}});
                          }),
      refused<ShapeError>("max gradient", {"[1, 2, 5, 5]"},
                          [&] {
                            max_pool2d_gradient(x, empty_of({1, 2, 5, 5}, DType::i32), {{}, {9, 9}});
                          }),
      refused<DTypeError>("positions", {"f32", "i32"},
                          [&] {
                            max_pool2d_gradient(x, x, {{.kernel = 1}, {5, 5}});
                          }),
  });
}

TEST(WorstValues, Normalisation) {
  const Tensor x = matrix(), w = empty_of({3});
  auto with = [&](double epsilon) { return [=] { layer_norm(x, w, {}, {epsilon}); }; };
  expect_refused({
      refused<ValueError>("epsilon -1", {"epsilon", "-1"}, with(-1)),
      refused<ValueError>("epsilon NaN", {"epsilon", "nan"}, with(NAN)),
      refused<ShapeError>("weight", {"[2]", "[2, 3]"}, [&] { layer_norm(x, empty_of({2})); }),
      refused<ShapeError>("bias", {"[2]", "[3]"}, [&] { layer_norm(x, w, empty_of({2})); }),
      refused<ShapeError>("rank 0", {"no axis"}, [&] { layer_norm(sum(x), w); }),
      refused<DTypeError>("dtypes", {"layer_norm", "f32", "f64"},
                          [&] { layer_norm(x, cast(w, DType::f64)); }),
      refused<DTypeError>("integers", {"layer_norm", "i64"},
                          [&] { layer_norm(cast(x, DType::i64), cast(w, DType::i64)); }),
  });
  EXPECT_EQ(layer_norm(x, w, {}, {kInfinity}).to_vector<float>(), std::vector<float>(6, 0));
}

TEST(WorstValues, Losses) {
  const Tensor x = matrix(), labels = Tensor::from(std::vector<int64_t>{0, 2}, {2}), none = empty_of({0, 3}),
               no_labels = empty_of({0}, DType::i64);
  auto label = [&](int64_t value) {
    return [&x, value] { cross_entropy(x, Tensor::from(std::vector<int64_t>{0, value}, {2})); };
  };
  expect_refused({
      refused<ValueError>("reduction", {"'median'", "mean sum none"},
                          [&] { cross_entropy(x, labels, "median"); }),
      refused<ValueError>("mse reduction", {"''"}, [&] { mse(x, x, ""); }),
      refused<ShapeError>("labels", {"[2, 3]", "[3]"}, [&] { cross_entropy(x, empty_of({3}, DType::i64)); }),
      refused<ShapeError>("rank", {"[2]"}, [&] { cross_entropy(slice(flatten(x, 0), 0, 0, 2), labels); }),
      refused<ShapeError>("no classes", {"[2, 0]"},
                          [&] {
                            cross_entropy(empty_of({2, 0}), labels);
                          }),
      refused<DTypeError>("float labels", {"f32", "i64"}, [&] { cross_entropy(x, empty_of({2})); }),
      refused<DTypeError>("integer logits", {"cross_entropy", "i64"},
                          [&] { cross_entropy(cast(x, DType::i64), labels); }),
      refused<ValueError>("label above", {"3"}, label(3)),
      refused<ValueError>("label below", {"-1"}, label(-1)),
      refused<ShapeError>("mse shapes", {"[2, 3]", "[3]"}, [&] { mse(x, empty_of({3})); }),
      refused<DTypeError>("mse dtypes", {"f32", "f64"}, [&] { mse(x, cast(x, DType::f64)); }),
  });
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
    EXPECT_EQ(values(-kInfinity, 1)[3], 1);
  }
}

}  // namespace
}  // namespace treadle

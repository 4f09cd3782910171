// Opens libtreadle-onednn.so as Treadle does and checks every function against plain loops in double.
// Usage: onednn_plugin_test PATH, or TREADLE_ONEDNN_PLUGIN=PATH.
//
// Tolerance: a sum of L products in f32, in any order, with or without fused multiply-add, differs from the
// exact one by at most L u / (1 - L u) times the sum of the absolute products, u = 2^-24 (Higham, Accuracy
// and Stability of Numerical Algorithms, section 3.1). The references carry that sum and L along for every
// element.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "treadle/engines/onednn/plugin/api.h"

namespace {

using Tensor = TreadleOnednnTensor;
using Shape = std::vector<int64_t>;

constexpr float kUntouched = 12345.0f;

void* library = nullptr;
const TreadleOnednnApi* api = nullptr;

enum class Layout { kPlain, kChannelsLast, kGaps };

int64_t count(const Shape& shape) {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

/// The order of dimensions in memory, slowest first.
std::vector<int> memory_order(size_t rank, Layout layout) {
  if (layout == Layout::kChannelsLast && rank == 4) return {0, 2, 3, 1};
  std::vector<int> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = static_cast<int>(i);
  return order;
}

/// A tensor with its memory, seen by linear logical index. With gaps, three elements lie after each row and
/// one between neighbours, and all of them must stay as they are.
class Array {
 public:
  explicit Array(const Shape& shape, Layout layout = Layout::kPlain)
      : Array(shape, memory_order(shape.size(), layout), layout == Layout::kGaps) {}
  Array(const Shape& shape, const std::vector<int>& order, bool gaps) : size_(count(shape)) {
    view_.dtype = TREADLE_ONEDNN_F32;
    view_.rank = static_cast<int32_t>(shape.size());
    int64_t step = gaps ? 2 : 1;
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      view_.shape[*d] = shape[*d];
      view_.strides[*d] = step;
      step = step * shape[*d] + (gaps && d == order.rbegin() ? 3 : 0);
    }
    memory_.assign(step, kUntouched);
    view_.data = memory_.data();
  }
  static Array random(const Shape& shape, uint32_t seed, Layout layout = Layout::kPlain) {
    Array array(shape, layout);
    array.fill_random(seed);
    return array;
  }
  Array(const Array&) = delete;
  Array(Array&&) = default;

  void fill_random(uint32_t seed) {
    for (int64_t i = 0; i < size_; ++i) {
      uint32_t h = static_cast<uint32_t>(i) * 2654435761u + seed * 40503u + 1u;
      h = (h ^ (h >> 15)) * 2246822519u;
      at(i) = static_cast<float>((h ^ (h >> 13)) >> 8) / 8388608.0f - 1.0f;
    }
  }
  float& at(int64_t index) { return memory_[place(index)]; }
  float at(int64_t index) const { return memory_[place(index)]; }
  /// The elements in logical order.
  std::vector<float> values() const {
    std::vector<float> values(size_);
    for (int64_t i = 0; i < size_; ++i) values[i] = at(i);
    return values;
  }
  int64_t size() const { return size_; }
  const Tensor* view() const { return &view_; }
  bool gaps_are_untouched() const {
    std::vector<bool> is_element(memory_.size());
    for (int64_t i = 0; i < size_; ++i) is_element[place(i)] = true;
    for (size_t i = 0; i < memory_.size(); ++i)
      if (!is_element[i] && memory_[i] != kUntouched) return false;
    return true;
  }

 private:
  int64_t place(int64_t index) const {
    int64_t place = 0;
    for (int d = view_.rank - 1; d >= 0; --d) {
      place += index % view_.shape[d] * view_.strides[d];
      index /= view_.shape[d];
    }
    return place;
  }

  Tensor view_{};
  std::vector<float> memory_;
  int64_t size_;
};

/// Sums in double, with what the tolerance needs.
class Reference {
 public:
  explicit Reference(int64_t size) : value_(size), magnitude_(size), terms_(size) {}
  void add(int64_t at, double a, double b) {
    value_[at] += a * b;
    magnitude_[at] += std::abs(a * b);
    ++terms_[at];
  }
  void expect_equal(const Array& actual, const std::string& what) const {
    constexpr double kUnit = 1.0 / (1 << 24);
    ASSERT_EQ(actual.size(), static_cast<int64_t>(value_.size())) << what;
    for (size_t i = 0; i < value_.size(); ++i) {
      const double growth = terms_[i] * kUnit;
      ASSERT_NEAR(actual.at(i), value_[i], growth / (1 - growth) * magnitude_[i]) << what << " at " << i;
    }
    EXPECT_TRUE(actual.gaps_are_untouched()) << what;
  }

 private:
  std::vector<double> value_, magnitude_;
  std::vector<int64_t> terms_;
};

struct ConvCase {
  const char* name;
  int64_t n, c, h, w, k, r, s;
  TreadleOnednnConv2d options;
};

constexpr TreadleOnednnConv2d kDense{{1, 1}, {0, 0}, {0, 0}, {1, 1}, 1, 0};

const ConvCase kConvCases[] = {
    {"one_element", 1, 1, 1, 1, 1, 1, 1, kDense},
    {"fashion_first", 2, 1, 28, 28, 64, 3, 3, kDense},
    {"fashion_second", 1, 64, 13, 13, 128, 3, 3, kDense},
    {"odd", 3, 5, 9, 7, 11, 3, 2, kDense},
    {"padded_eights", 2, 16, 8, 8, 24, 3, 3, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, 0}},
    {"stride_two", 2, 8, 11, 10, 16, 3, 3, {{2, 2}, {1, 1}, {1, 1}, {1, 1}, 1, 0}},
    {"stride_uneven", 2, 3, 12, 11, 9, 5, 3, {{3, 2}, {2, 1}, {2, 1}, {1, 1}, 1, 0}},
    {"dilation", 2, 8, 13, 12, 8, 3, 3, {{1, 1}, {2, 2}, {2, 2}, {2, 2}, 1, 0}},
    {"dilation_odd", 1, 3, 14, 9, 5, 3, 2, {{1, 2}, {0, 1}, {1, 0}, {3, 2}, 1, 0}},
    {"asymmetric", 2, 6, 7, 9, 10, 3, 3, {{1, 1}, {0, 2}, {1, 0}, {1, 1}, 1, 0}},
    {"asymmetric_stride", 2, 16, 8, 9, 8, 4, 4, {{2, 2}, {1, 0}, {2, 1}, {1, 1}, 1, 0}},
    {"groups", 2, 6, 8, 7, 9, 3, 3, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 3, 0}},
    {"groups_eights", 2, 16, 8, 7, 32, 3, 3, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 2, 0}},
    {"depthwise", 2, 16, 9, 9, 16, 3, 3, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 16, 0}},
    {"depthwise_odd", 2, 5, 9, 8, 10, 3, 3, {{2, 1}, {1, 1}, {1, 1}, {1, 1}, 5, 0}},
    {"pointwise", 2, 24, 6, 5, 16, 1, 1, kDense},
};

int64_t output_extent(const ConvCase& t, int axis) {
  const TreadleOnednnConv2d& o = t.options;
  const int64_t input = axis == 0 ? t.h : t.w, filter = axis == 0 ? t.r : t.s;
  return (input + o.pad_begin[axis] + o.pad_end[axis] - o.dilation[axis] * (filter - 1) - 1) /
             o.stride[axis] +
         1;
}

Shape x_shape(const ConvCase& t) { return {t.n, t.c, t.h, t.w}; }
Shape w_shape(const ConvCase& t) { return {t.k, t.c / t.options.groups, t.r, t.s}; }
Shape y_shape(const ConvCase& t) { return {t.n, t.k, output_extent(t, 0), output_extent(t, 1)}; }

/// The filter's inputs for one output position: calls visit(y, x, w) with linear logical indices.
template <class Visit>
void visit_window(const ConvCase& t, int64_t n, int64_t k, int64_t p, int64_t q, const Visit& visit) {
  const TreadleOnednnConv2d& o = t.options;
  const int64_t cg = t.c / o.groups, first = k / (t.k / o.groups) * cg;
  const int64_t y = ((n * t.k + k) * output_extent(t, 0) + p) * output_extent(t, 1) + q;
  for (int64_t c = 0; c < cg; ++c)
    for (int64_t r = 0; r < t.r; ++r)
      for (int64_t s = 0; s < t.s; ++s) {
        const int64_t h = p * o.stride[0] + r * o.dilation[0] - o.pad_begin[0];
        const int64_t w = q * o.stride[1] + s * o.dilation[1] - o.pad_begin[1];
        if (h < 0 || h >= t.h || w < 0 || w >= t.w) continue;
        visit(y, ((n * t.c + first + c) * t.h + h) * t.w + w, ((k * cg + c) * t.r + r) * t.s + s);
      }
}

template <class Visit>
void visit_products(const ConvCase& t, const Visit& visit) {
  for (int64_t n = 0; n < t.n; ++n)
    for (int64_t k = 0; k < t.k; ++k)
      for (int64_t p = 0; p < output_extent(t, 0); ++p)
        for (int64_t q = 0; q < output_extent(t, 1); ++q) visit_window(t, n, k, p, q, visit);
}

int64_t output_channel(const ConvCase& t, int64_t y) {
  return y / (output_extent(t, 0) * output_extent(t, 1)) % t.k;
}

void expect_success(int status, const char* message) { ASSERT_EQ(status, TREADLE_ONEDNN_OK) << message; }

/// A reference implementation of oneDNN's is a hundred times slower: the automatic choice must not end there.
void expect_fast() {
  EXPECT_FALSE(std::string_view(api->last_implementation()).starts_with("ref")) << api->last_implementation();
}

void expect_fast(const ConvCase& t) {
  if (t.options.layout == TREADLE_ONEDNN_LAYOUT_AUTOMATIC) expect_fast();
}

void check_forward(const ConvCase& t, Layout layout, bool with_bias) {
  const Array x = Array::random(x_shape(t), 1, layout), w = Array::random(w_shape(t), 2);
  const Array b = Array::random({t.k}, 3);
  Array y(y_shape(t), layout);
  char message[200] = "";
  expect_success(api->conv2d_forward(&t.options, x.view(), w.view(), with_bias ? b.view() : nullptr, y.view(),
                                     message, sizeof message),
                 message);
  expect_fast(t);
  Reference reference(y.size());
  visit_products(t, [&, x = x.values(), w = w.values()](int64_t yi, int64_t xi, int64_t wi) {
    reference.add(yi, x[xi], w[wi]);
  });
  for (int64_t i = 0; with_bias && i < y.size(); ++i) reference.add(i, b.at(output_channel(t, i)), 1);
  reference.expect_equal(y, "y");
}

void check_input_gradient(const ConvCase& t, Layout layout) {
  const Array dy = Array::random(y_shape(t), 4, layout), w = Array::random(w_shape(t), 5);
  Array dx(x_shape(t), layout);
  char message[200] = "";
  expect_success(
      api->conv2d_input_gradient(&t.options, dy.view(), w.view(), dx.view(), message, sizeof message),
      message);
  expect_fast(t);
  Reference reference(dx.size());
  visit_products(t, [&, dy = dy.values(), w = w.values()](int64_t yi, int64_t xi, int64_t wi) {
    reference.add(xi, dy[yi], w[wi]);
  });
  reference.expect_equal(dx, "dx");
}

void check_weight_gradient(const ConvCase& t, Layout layout, bool with_bias) {
  const Array x = Array::random(x_shape(t), 6, layout), dy = Array::random(y_shape(t), 7, layout);
  Array dw(w_shape(t)), db({t.k});
  char message[200] = "";
  expect_success(api->conv2d_weight_gradient(&t.options, x.view(), dy.view(), dw.view(),
                                             with_bias ? db.view() : nullptr, message, sizeof message),
                 message);
  expect_fast(t);
  Reference reference(dw.size()), bias(db.size());
  visit_products(t, [&, x = x.values(), dy = dy.values()](int64_t yi, int64_t xi, int64_t wi) {
    reference.add(wi, x[xi], dy[yi]);
  });
  reference.expect_equal(dw, "dw");
  for (int64_t i = 0; i < dy.size(); ++i) bias.add(output_channel(t, i), dy.at(i), 1);
  if (with_bias) bias.expect_equal(db, "db");
}

void check_convolution(const ConvCase& t, Layout layout) {
  for (const bool with_bias : {false, true}) {
    check_forward(t, layout, with_bias);
    check_weight_gradient(t, layout, with_bias);
  }
  check_input_gradient(t, layout);
}

using ConvParameters = std::tuple<ConvCase, Layout, TreadleOnednnLayout>;

class Conv2d : public testing::TestWithParam<ConvParameters> {};

TEST_P(Conv2d, AgreesWithPlainLoops) {
  auto [t, layout, inner] = GetParam();
  t.options.layout = inner;
  check_convolution(t, layout);
}

std::string conv_name(const testing::TestParamInfo<ConvParameters>& info) {
  static constexpr const char* kLayouts[] = {"plain", "channels_last", "gaps"};
  static constexpr const char* kInner[] = {"automatic", "given", "plain", "blocked"};
  const auto& [t, layout, inner] = info.param;
  return std::string(t.name) + "_" + kLayouts[static_cast<int>(layout)] + "_in_" + kInner[inner];
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Conv2d,
    testing::Combine(testing::ValuesIn(kConvCases),
                     testing::Values(Layout::kPlain, Layout::kChannelsLast, Layout::kGaps),
                     testing::Values(TREADLE_ONEDNN_LAYOUT_AUTOMATIC, TREADLE_ONEDNN_LAYOUT_PLAIN,
                                     TREADLE_ONEDNN_LAYOUT_BLOCKED)),
    conv_name);

// Only the dense layouts: oneDNN need not take any others as they are.
INSTANTIATE_TEST_SUITE_P(Given, Conv2d,
                         testing::Combine(testing::ValuesIn(kConvCases),
                                          testing::Values(Layout::kPlain, Layout::kChannelsLast),
                                          testing::Values(TREADLE_ONEDNN_LAYOUT_GIVEN)),
                         conv_name);

struct MatmulCase {
  const char* name;
  Shape a, b, c;
};

const MatmulCase kMatmulCases[] = {
    {"one_element", {1, 1}, {1, 1}, {1, 1}},
    {"linear", {32, 320}, {320, 25}, {32, 25}},
    {"odd", {7, 13}, {13, 5}, {7, 5}},
    {"row", {1, 33}, {33, 17}, {1, 17}},
    {"column", {19, 21}, {21, 1}, {19, 1}},
    {"outer", {9, 1}, {1, 11}, {9, 11}},
    {"batch", {3, 4, 6}, {3, 6, 5}, {3, 4, 5}},
    {"shared_right", {3, 4, 6}, {1, 6, 5}, {3, 4, 5}},
    {"shared_left", {1, 4, 6}, {3, 6, 5}, {3, 4, 5}},
    {"single_rows", {3, 1, 6}, {1, 6, 5}, {3, 1, 5}},
    {"heads", {2, 3, 8, 16}, {2, 3, 16, 9}, {2, 3, 8, 9}},
    {"crossed", {2, 1, 3, 4}, {1, 5, 4, 6}, {2, 5, 3, 6}},
    {"rank_six", {2, 1, 2, 3, 4, 5}, {2, 2, 1, 3, 5, 3}, {2, 2, 2, 3, 4, 3}},
};

/// How the last two dimensions lie in memory.
enum class Order { kRows, kColumns, kGaps };

Array matrix(const Shape& shape, Order order) {
  std::vector<int> dimensions = memory_order(shape.size(), Layout::kPlain);
  if (order == Order::kColumns) std::swap(dimensions[shape.size() - 2], dimensions[shape.size() - 1]);
  return Array(shape, dimensions, order == Order::kGaps);
}

/// The linear index of the matrix of `shape` that serves entry `batch` of the batch of `c`.
int64_t matrix_index(const Shape& shape, const Shape& c, int64_t batch) {
  int64_t index = 0, step = 1;
  for (int d = static_cast<int>(c.size()) - 3; d >= 0; --d) {
    if (shape[d] > 1) index += batch % c[d] * step;
    step *= shape[d];
    batch /= c[d];
  }
  return index;
}

void check_matmul(const MatmulCase& t, Order a_order, Order b_order, Order c_order, bool with_bias,
                  float beta) {
  const size_t rank = t.c.size();
  const int64_t rows = t.c[rank - 2], columns = t.c[rank - 1], length = t.a[rank - 1];
  Array a = matrix(t.a, a_order), b = matrix(t.b, b_order), c = matrix(t.c, c_order), bias({columns});
  a.fill_random(1);
  b.fill_random(2);
  bias.fill_random(3);
  if (beta != 0) c.fill_random(4);
  Reference reference(c.size());
  for (int64_t i = 0; i < c.size(); ++i) {
    const int64_t batch = i / (rows * columns), m = i / columns % rows, n = i % columns;
    const int64_t a_row = (matrix_index(t.a, t.c, batch) * rows + m) * length;
    const int64_t b_matrix = matrix_index(t.b, t.c, batch) * length;
    for (int64_t l = 0; l < length; ++l)
      reference.add(i, a.at(a_row + l), b.at((b_matrix + l) * columns + n));
    if (with_bias) reference.add(i, bias.at(n), 1);
    if (beta != 0) reference.add(i, c.at(i), beta);
  }
  char message[200] = "";
  expect_success(api->matmul(a.view(), b.view(), with_bias ? bias.view() : nullptr, beta, c.view(), message,
                             sizeof message),
                 message);
  reference.expect_equal(c, "c");
}

using MatmulParameters = std::tuple<MatmulCase, Order, Order, Order>;

class Matmul : public testing::TestWithParam<MatmulParameters> {};

TEST_P(Matmul, AgreesWithPlainLoops) {
  const auto& [t, a, b, c] = GetParam();
  for (const bool with_bias : {false, true})
    for (const float beta : {0.0f, 1.0f, -0.5f}) check_matmul(t, a, b, c, with_bias, beta);
  expect_fast();
}

std::string matmul_name(const testing::TestParamInfo<MatmulParameters>& info) {
  static constexpr char kOrders[] = {'r', 'c', 'g'};
  const auto& [t, a, b, c] = info.param;
  const std::string orders{kOrders[static_cast<int>(a)], kOrders[static_cast<int>(b)],
                           kOrders[static_cast<int>(c)]};
  return std::string(t.name) + "_" + orders;
}

INSTANTIATE_TEST_SUITE_P(Cases, Matmul,
                         testing::Combine(testing::ValuesIn(kMatmulCases),
                                          testing::Values(Order::kRows, Order::kColumns, Order::kGaps),
                                          testing::Values(Order::kRows, Order::kColumns, Order::kGaps),
                                          testing::Values(Order::kRows, Order::kColumns, Order::kGaps)),
                         matmul_name);

size_t threads_at_start = 0;

size_t threads_of_process() {
  size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++n;
  return n;
}

TEST(Threads, NoneIsCreated) {
  for (const ConvCase& t : kConvCases) check_convolution(t, Layout::kChannelsLast);
  check_matmul({"large", {256, 512}, {512, 256}, {256, 256}}, Order::kRows, Order::kRows, Order::kRows, true,
               0);
  EXPECT_EQ(threads_of_process(), threads_at_start);
}

TEST(Threads, CallersSettingComesBack) {
  using Get = int (*)();
  using Set = void (*)(int);
  const auto get = reinterpret_cast<Get>(dlsym(library, "omp_get_max_threads"));
  const auto set = reinterpret_cast<Set>(dlsym(library, "omp_set_num_threads"));
  ASSERT_TRUE(get && set);
  set(3);
  check_forward(kConvCases[0], Layout::kPlain, true);
  EXPECT_EQ(get(), 3);
}

TEST(Threads, SeveralCallAtOnce) {
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([i] {
      for (size_t j = 0; j < std::size(kConvCases); ++j)
        check_convolution(kConvCases[(j + 4 * i) % std::size(kConvCases)], Layout::kChannelsLast);
      for (const MatmulCase& t : kMatmulCases)
        check_matmul(t, Order::kRows, Order::kColumns, Order::kRows, true, 1);
    });
  for (std::thread& caller : callers) caller.join();
}

TEST(Plans, AreRightAfterEviction) {
  for (int64_t round = 0; round < 2; ++round)
    for (int64_t n = 1; n <= 300; ++n)
      check_matmul({"sized", {n, 3}, {3, 2}, {n, 2}}, Order::kRows, Order::kRows, Order::kRows, false, 0);
}

TEST(Errors, AreCodesWithASentence) {
  const Array x({1, 4, 5, 5}), w({2, 3, 3, 3}), y({1, 2, 3, 3});
  char message[200] = "";
  EXPECT_EQ(api->conv2d_forward(&kDense, x.view(), w.view(), nullptr, y.view(), message, sizeof message),
            TREADLE_ONEDNN_INVALID_ARGUMENT);
  EXPECT_STREQ(message, "conv2d: channels do not fit weights and groups");
  char small[8] = "";
  EXPECT_NE(api->conv2d_forward(&kDense, x.view(), w.view(), nullptr, y.view(), small, sizeof small), 0);
  EXPECT_STREQ(small, "conv2d:");
  EXPECT_NE(api->conv2d_forward(&kDense, x.view(), w.view(), nullptr, y.view(), nullptr, 0), 0);
}

TEST(Errors, EveryContradictionIsFound) {
  const Array x({1, 3, 5, 5}), w({2, 3, 3, 3}), y({1, 2, 3, 3}), wrong_y({1, 2, 4, 3}), wrong_b({3});
  const auto status = [&](const TreadleOnednnConv2d& o, const Array& out, const Tensor* b) {
    return api->conv2d_forward(&o, x.view(), w.view(), b, out.view(), nullptr, 0);
  };
  TreadleOnednnConv2d no_stride = kDense, no_groups = kDense, no_layout = kDense;
  no_stride.stride[1] = 0;
  no_groups.groups = 0;
  no_layout.layout = 9;
  EXPECT_EQ(status(kDense, y, nullptr), TREADLE_ONEDNN_OK);
  EXPECT_EQ(status(kDense, wrong_y, nullptr), TREADLE_ONEDNN_INVALID_ARGUMENT);
  EXPECT_EQ(status(kDense, y, wrong_b.view()), TREADLE_ONEDNN_INVALID_ARGUMENT);
  for (const auto& options : {no_stride, no_groups, no_layout})
    EXPECT_EQ(status(options, y, nullptr), TREADLE_ONEDNN_INVALID_ARGUMENT);
  Tensor half = *y.view(), empty = *y.view();
  half.dtype = 7;
  empty.shape[0] = 0;
  for (const Tensor& tensor : {half, empty})
    EXPECT_EQ(api->conv2d_forward(&kDense, x.view(), w.view(), nullptr, &tensor, nullptr, 0),
              TREADLE_ONEDNN_INVALID_ARGUMENT);
  const Array a({2, 3}), b({4, 2}), c({2, 2});
  EXPECT_EQ(api->matmul(a.view(), b.view(), nullptr, 0, c.view(), nullptr, 0),
            TREADLE_ONEDNN_INVALID_ARGUMENT);
}

TEST(Interface, RefusesAnotherVersion) {
  const auto get = reinterpret_cast<decltype(&treadle_onednn_api)>(dlsym(library, "treadle_onednn_api"));
  EXPECT_EQ(get(TREADLE_ONEDNN_ABI_VERSION + 1), nullptr);
  EXPECT_EQ(api->abi_version, TREADLE_ONEDNN_ABI_VERSION);
  EXPECT_NE(std::string_view(api->onednn_version()).find('.'), std::string_view::npos);
}

const TreadleOnednnApi* open_plugin(const char* path) {
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  const auto get = reinterpret_cast<decltype(&treadle_onednn_api)>(dlsym(library, "treadle_onednn_api"));
  return get ? get(TREADLE_ONEDNN_ABI_VERSION) : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* path = argc > 1 ? argv[1] : std::getenv("TREADLE_ONEDNN_PLUGIN");
  api = path ? open_plugin(path) : nullptr;
  if (!api) {
    const char* reason = path ? dlerror() : "no path given";
    std::fprintf(stderr, "cannot open the plugin: %s\n", reason ? reason : "wrong version");
    return 1;
  }
  threads_at_start = threads_of_process();
  return RUN_ALL_TESTS();
}

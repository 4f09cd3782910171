/// The worst values of every parameter of core/: refused with a message that names both sides, or defined.
#include <cmath>
#include <limits>

#include "tests/refused.h"
#include "treadle/core/allocator.h"
#include "treadle/core/dtype.h"
#include "treadle/core/error.h"
#include "treadle/core/geometry.h"
#include "treadle/core/random.h"
#include "treadle/core/runtime.h"
#include "treadle/core/scalar.h"
#include "treadle/core/tensor.h"

namespace treadle {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
constexpr Device kThirdCpu{DeviceKind::cpu, 3}, kSecondSimt{DeviceKind::simt, 1},
    kNegativeCpu{DeviceKind::cpu, -1};

TEST(WorstValues, Shapes) {
  expect_refused({
      refused<ShapeError>("negative extent", {"[2, -1]", "negative"},
                          [] {
                            checked_numel({2, -1});
                          }),
      refused<ShapeError>("too many", {"too many"},
                          [] {
                            checked_numel({kMost, 2});
                          }),
      refused<ShapeError>("too many beside nothing", {"too many"},
                          [] {
                            checked_numel({0, kMost, 2});
                          }),
      refused<ShapeError>("nine axes", {"8 axes"}, [] { Dims::filled(9, 1); }),
      refused<ShapeError>("axis below", {"op", "axis -3", "2 axes"}, [] { normalize_axis(-3, 2, "op"); }),
      refused<ShapeError>("axis above", {"axis 2"}, [] { normalize_axis(2, 2, "op"); }),
      refused<ShapeError>("least axis", {"2 axes"}, [] { normalize_axis(kLeast, 2, "op"); }),
      refused<ShapeError>("axis of rank 0", {"0 axes"}, [] { normalize_axis(0, 0, "op"); }),
      refused<ShapeError>("broadcast", {"[2]", "[3]"}, [] { broadcast_shapes({2}, {3}, "op"); }),
      refused<ShapeError>("broadcast too far", {"too many"},
                          [] {
                            broadcast_shapes({int64_t(1) << 40, 1}, {1, int64_t(1) << 40}, "op");
                          }),
      refused<ShapeError>("fewer axes", {"[2, 3]", "[3]"},
                          [] {
                            broadcast_strides({2, 3}, {3, 1}, {3});
                          }),
  });
}

TEST(WorstValues, NewTensors) {
  expect_refused({
      refused<ShapeError>("negative", {"[-1]"}, [] { Tensor::empty({-1}); }),
      refused<ShapeError>("too many bytes", {"too many"}, [] { Tensor::empty({kMost / 2}); }),
      refused<ShapeError>("too many zeros", {"too many"},
                          [] {
                            Tensor::zeros({kMost / 2, 1});
                          }),
      refused<ShapeError>("strides beyond", {"[2, 3]", "[4, 1]"},
                          [] {
                            Tensor::empty_strided({2, 3}, {4, 1}, DType::f32, kCpu);
                          }),
      refused<ShapeError>("negative strides", {"[-1]"},
                          [] { Tensor::empty_strided({2}, {-1}, DType::f32, kCpu); }),
      refused<ShapeError>("strides of other rank", {"[2, 3]", "[1]"},
                          [] {
                            Tensor::empty_strided({2, 3}, {1}, DType::f32, kCpu);
                          }),
      refused<ShapeError>("too few values", {"3 values", "[2, 2]"},
                          [] {
                            Tensor::from({1, 2, 3}, {2, 2});
                          }),
      refused<ShapeError>("values for nothing", {"1 values", "[0]"}, [] { Tensor::from({1}, {0}); }),
      refused<ShapeError>("no values", {"0 values", "[]"}, [] { Tensor::from(std::vector<float>(), {}); }),
      refused<ShapeError>("negative shape of values", {"[-2, -2]"},
                          [] {
                            Tensor::from({1, 2, 3, 4}, {-2, -2});
                          }),
  });
}

#if !defined(__SANITIZE_ADDRESS__)  // which ends the process where memory is refused
TEST(WorstValues, MoreThanMemory) {
  expect_refused(
      {refused<DeviceError>("memory", {"out of memory"}, [] { Tensor::empty({int64_t(1) << 59}); })});
}
#endif

TEST(WorstValues, Devices) {
  EXPECT_EQ(to_string(kThirdCpu), "cpu:3");
  EXPECT_EQ(to_string(kCpu), "cpu");
  EXPECT_EQ(to_string(kSecondSimt), "simt:1");
  expect_refused({
      refused<DeviceAbsent>("third cpu", {"cpu:3", "one cpu"},
                            [] { Tensor::zeros({2}, DType::f32, kThirdCpu); }),
      refused<DeviceAbsent>("negative", {"cpu:-1"}, [] { Tensor::empty({2}, DType::f32, kNegativeCpu); }),
      refused<DeviceAbsent>("second simt", {"simt:1", "one simt"},
                            [] { Tensor::from({1}, {1}, kSecondSimt); }),
      refused<ValueError>("by name", {"cpu:3"}, [] { device_named("cpu:3"); }),
      refused<ValueError>("too large a number", {"cuda:99999999999"},
                          [] { device_named("cuda:99999999999"); }),
      refused<ValueError>("dtype", {"f128", "f32"}, [] { dtype_named("f128"); }),
  });
}

TEST(WorstValues, AliasesStayInTheStorage) {
  const Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {6}), part = x.alias({2}, {1}, 4),
               none = Tensor::empty({0});
  expect_refused({
      refused<ShapeError>("too long", {"[7]", "6 elements"}, [&] { x.alias({7}, {1}); }),
      refused<ShapeError>("too far", {"[3]", "[3]"}, [&] { x.alias({3}, {3}); }),
      refused<ShapeError>("behind", {"element 6"}, [&] { x.alias({1}, {1}, 6); }),
      refused<ShapeError>("behind, rank 0", {"element 6"}, [&] { x.alias({}, {}, 6); }),
      refused<ShapeError>("before", {"element -1"}, [&] { x.alias({1}, {1}, -1); }),
      refused<ShapeError>("before, relative", {"element -1"}, [&] { part.alias({1}, {1}, -5); }),
      refused<ShapeError>("beyond a part", {"element 5"}, [&] { part.alias({2}, {1}, 1); }),
      refused<ShapeError>("negative stride", {"[-1]"}, [&] { x.alias({2}, {-1}, 3); }),
      refused<ShapeError>("stride that overflows", {"6 elements"}, [&] { x.alias({3}, {kMost}); }),
      refused<ShapeError>("strides that sum up to overflow", {"6 elements"},
                          [&] {
                            x.alias({2, 2, 2}, {kMost, kMost, 2});
                          }),
      refused<ShapeError>("offset that overflows", {"offset"}, [&] { part.alias({1}, {1}, kMost); }),
      refused<ShapeError>("negative extent", {"[-1]"}, [&] { x.alias({-1}, {1}); }),
      refused<ShapeError>("other rank", {"[2, 2]", "[1]"},
                          [&] {
                            x.alias({2, 2}, {1});
                          }),
      refused<ShapeError>("of nothing", {"0 elements"}, [&] { none.alias({1}, {1}); }),
  });
  EXPECT_EQ(x.alias({1}, {kMost}, 5).item(), 6);  // a stride that is never taken
  EXPECT_EQ(x.alias({0, 3}, {kMost, kMost}, 6).numel(), 0);
  EXPECT_EQ(part.alias({2, 3}, {3, 1}, -4).to_vector<float>(), x.to_vector<float>());
}

TEST(WorstValues, ReadingTensors) {
  const Tensor x = Tensor::from({1, 2}, {2}), none = Tensor::empty({0, 3});
  expect_refused({
      refused<ShapeError>("item of two", {"[2]"}, [&] { x.item(); }),
      refused<ShapeError>("item of none", {"[0, 3]"}, [&] { none.item(); }),
      refused<DTypeError>("other type", {"f32", "f64"}, [&] { x.to_vector<double>(); }),
      refused<DTypeError>("pointer of other type", {"f32", "i64"}, [&] { x.data<int64_t>(); }),
      refused<ShapeError>("size", {"axis 1", "1 axes"}, [&] { x.size(1); }),
      refused<ShapeError>("size from the end", {"axis -2"}, [&] { x.size(-2); }),
  });
  EXPECT_EQ(x.size(-1), 2);
  EXPECT_EQ(none.to_string(), "Tensor f32 [0, 3] cpu { }");
  EXPECT_EQ(none.to_vector<float>().size(), 0u);
  EXPECT_EQ(Tensor::zeros({1000, 1000}).to_string(), "Tensor f32 [1000, 1000] cpu");
  EXPECT_EQ(Tensor::from({NAN, INFINITY}, {2}).to_string(), "Tensor f32 [2] cpu { nan inf }");
}

/// Every member function of an empty handle; moved-from handles are empty.
TEST(WorstValues, UndefinedTensorsThrow) {
  const Tensor x = Tensor::from({1}, {1});
  Tensor moved_from = x;
  const Tensor kept = std::move(moved_from);
  for (Tensor none : {Tensor(), moved_from}) {  // NOLINT(bugprone-use-after-move)
    expect_refused({
        refused<ValueError>("shape", {"shape"}, [&] { none.shape(); }),
        refused<ValueError>("strides", {"strides"}, [&] { none.strides(); }),
        refused<ValueError>("size", {"size"}, [&] { none.size(0); }),
        refused<ValueError>("rank", {"rank"}, [&] { none.rank(); }),
        refused<ValueError>("numel", {"numel"}, [&] { none.numel(); }),
        refused<ValueError>("dtype", {"dtype"}, [&] { none.dtype(); }),
        refused<ValueError>("device", {"device"}, [&] { none.device(); }),
        refused<ValueError>("is_contiguous", {"undefined"}, [&] { none.is_contiguous(); }),
        refused<ValueError>("is_symbolic", {"undefined"}, [&] { none.is_symbolic(); }),
        refused<ValueError>("raw", {"raw"}, [&] { none.raw(); }),
        refused<ValueError>("data", {"undefined"}, [&] { none.data<float>(); }),
        refused<ValueError>("alias", {"alias"}, [&] { none.alias({}, {}); }),
        refused<ValueError>("detach", {"undefined"}, [&] { none.detach(); }),
        refused<ValueError>("to_vector", {"undefined"}, [&] { none.to_vector<float>(); }),
        refused<ValueError>("to_bools", {"undefined"}, [&] { none.to_bools(); }),
        refused<ValueError>("to_doubles", {"to_doubles"}, [&] { none.to_doubles(); }),
        refused<ValueError>("item", {"item"}, [&] { none.item(); }),
        refused<ValueError>("set_requires_grad", {"set_requires_grad"}, [&] { none.set_requires_grad(); }),
        refused<ValueError>("set_requires_grad off", {"undefined"}, [&] { none.set_requires_grad(false); }),
        refused<ValueError>("set_grad", {"set_grad"}, [&] { none.set_grad(x); }),
        refused<ValueError>("set_grad of none", {"set_grad"}, [&] { none.set_grad({}); }),
        refused<ValueError>("backward", {"backward"}, [&] { none.backward(); }),
        refused<ValueError>("assign", {"assign"}, [&] { none.assign(x); }),
        refused<ValueError>("assign of none", {"assign"}, [&] { x.assign(none); }),
    });
    EXPECT_FALSE(none.defined() || none.requires_grad() || none.grad().defined() || none.view().defined());
    EXPECT_EQ(none.to_string(), "Tensor (undefined)");
    EXPECT_FALSE(none.same_as(x));
  }
}

TEST(WorstValues, AssignedTensors) {
  Tensor x = Tensor::from({1, 2}, {2}).set_requires_grad(), free = Tensor::from({1, 2}, {2});
  expect_refused({
      refused<ShapeError>("shape", {"[2]", "[3]"}, [&] { x.assign(Tensor::zeros({3})); }),
      refused<DTypeError>("dtype", {"f32", "f64"}, [&] { x.assign(Tensor::zeros({2}, DType::f64)); }),
  });
  free.assign(Tensor::zeros({3}, DType::f64));
  EXPECT_EQ(free.numel(), 3);
}

TEST(WorstValues, GeneratorsAndAllocators) {
  expect_refused({
      refused<ValueError>("numbers", {"-1"}, [] { Generator().advance(-1); }),
      refused<DeviceError>("memory", {"18446744073709551615"}, [] { allocator(kCpu).allocate(SIZE_MAX); }),
      refused<DeviceAbsent>("allocator", {"cpu:3"}, [] { allocator(kThirdCpu); }),
  });
  Generator last(0, ~uint64_t(0));  // wraps
  EXPECT_EQ(last.advance(4), ~uint64_t(0));
  EXPECT_EQ(last.offset(), 0u);
}

TEST(WorstValues, OverlapOfATensorWithItself) {
  EXPECT_FALSE(may_overlap_itself({2, 3}, {3, 1}));
  EXPECT_FALSE(may_overlap_itself({2, 3}, {1, 2}));
  EXPECT_FALSE(may_overlap_itself({4, 1, 3}, {6, 0, 2}));
  EXPECT_FALSE(may_overlap_itself({0, 3}, {0, 0}));
  EXPECT_FALSE(may_overlap_itself({}, {}));
  EXPECT_TRUE(may_overlap_itself({2, 3}, {0, 1}));
  EXPECT_TRUE(may_overlap_itself({3, 3}, {1, 1}));
  EXPECT_TRUE(may_overlap_itself({2, 2}, {2, 2}));
}

TEST(WorstValues, WindowsOfAnyExtent) {
  EXPECT_EQ(window_positions(5, 0, 0, 3, 1, 1), 3);
  EXPECT_EQ(window_positions(5, 0, 0, 6, 1, 1), 0);
  EXPECT_EQ(window_positions(5, 0, 0, kMost, 1, kMost), 0);
  EXPECT_EQ(window_positions(5, 0, 0, 3, 1, kMostGeometry), 0);
  EXPECT_EQ(window_positions(0, 0, 0, 1, 1, 1), 0);
}

TEST(WorstValues, Numbers) {
  EXPECT_TRUE(fits(255, DType::u8) && fits(255.9, DType::u8) && fits(-0.9, DType::u8) &&
              fits(kMost, DType::i64));
  EXPECT_FALSE(fits(256, DType::u8) || fits(-1, DType::u8) || fits(NAN, DType::i32) ||
               fits(INFINITY, DType::i64));
  EXPECT_FALSE(fits(0x1p63, DType::i64) || fits(NAN, DType::boolean));
  EXPECT_TRUE(fits(-0x1p63, DType::i64) && fits(NAN, DType::f16) && fits(1e300, DType::f16));
  expect_refused({
      refused<ValueError>("too large", {"300", "u8", "255"}, [] { require_fits("op", 300, DType::u8); }),
      refused<ValueError>("beyond i64", {"18446744073709551615"}, [] { Scalar(uint64_t(-1)); }),
  });
}

}  // namespace
}  // namespace treadle

/// Winograd's convolutions against sums in double, for sizes around every edge of tiles and blocks, in both
/// layouts of the results, on every instruction set this CPU has.
#include <gtest/gtest.h>
#include <hwy/aligned_allocator.h>
#include <hwy/targets.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/simd_targets.h"
#include "treadle/ops/conv2d/cpu/winograd_calls.h"
#include "treadle/ops/conv2d/cpu/winograd_convolution.h"
#include "treadle/ops/conv2d/cpu/winograd_weights.h"

namespace treadle::cpu::winograd_kernels {
namespace {

constexpr double kUnit = 0x1p-24;

std::vector<float> random_floats(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = uniform(random);
  return values;
}

struct Sum {
  double value = 0, absolute = 0;
  void add(double product) { value += product, absolute += std::fabs(product); }
};

/// x [images, height, width, channels], w [filters, channels, 3, 3] → y [images, rows, columns, filters].
struct Sizes {
  int64_t images, channels, height, width, filters, padding = 1;

  int64_t rows() const { return height + 2 * padding - 2; }
  int64_t columns() const { return width + 2 * padding - 2; }
  int64_t pixel(int64_t n, int64_t h, int64_t v) const { return ((n * height + h) * width + v) * channels; }
  int64_t result(int64_t n, int64_t p, int64_t q) const {
    return ((n * rows() + p) * columns() + q) * filters;
  }
  int64_t tap(int64_t k, int64_t c, int64_t r, int64_t s) const {
    return ((k * channels + c) * 3 + r) * 3 + s;
  }
  TileRegions regions() const { return {images, rows(), columns()}; }
  /// Calls f(pixel, result, r, s) for all that meet.
  template <class F>
  void for_each_place(F f) const {
    for (int64_t n = 0; n < images; ++n)
      for (int64_t p = 0; p < rows(); ++p)
        for (int64_t q = 0; q < columns(); ++q)
          for (int64_t r = 0; r < 3; ++r)
            for (int64_t s = 0; s < 3; ++s) {
              const int64_t h = p + r - padding, v = q + s - padding;
              if (h >= 0 && h < height && v >= 0 && v < width) f(pixel(n, h, v), result(n, p, q), r, s);
            }
  }
};

struct Problem {
  Sizes sizes;
  std::vector<float> x, w, bias, dy;
  std::vector<float> zeros;

  explicit Problem(const Sizes& s)
      : sizes(s),
        x(random_floats(s.images * s.height * s.width * s.channels, 1)),
        w(random_floats(s.filters * s.channels * 9, 2)),
        bias(random_floats(s.filters, 3)),
        dy(random_floats(s.images * s.rows() * s.columns() * s.filters, 4)),
        zeros(size_t(std::max(s.channels, s.filters)), 0.0f) {}

  WinogradImages images() const {
    const Sizes& s = sizes;
    return {x.data(),
            s.channels,
            s.height,
            s.width,
            s.height * s.width * s.channels,
            s.width * s.channels,
            s.channels,
            s.padding,
            s.padding,
            winograd_tiles_along(s.rows()),
            winograd_tiles_along(s.columns()),
            zeros.data()};
  }
  WinogradGradients gradients() const {
    const Sizes& s = sizes;
    WinogradGradients result = images();
    result.x = dy.data(), result.channels = s.filters, result.height = s.rows(), result.width = s.columns();
    result.image_step = s.rows() * s.columns() * s.filters;
    result.row_step = s.columns() * s.filters, result.column_step = s.filters;
    result.top = result.left = 0;
    return result;
  }
};

/// y, in either layout.
struct Results {
  bool row_major, relu;
  std::vector<float> y;

  WinogradResults operands(const Sizes& s) {
    const int64_t rows = s.rows(), columns = s.columns(), plane = rows * columns;
    y.assign(size_t(s.images * plane * s.filters), 12345.0f);
    if (row_major) return {y.data(), rows, columns, plane * s.filters, plane, columns, 1, relu};
    return {y.data(), rows, columns, plane * s.filters, 1, columns * s.filters, s.filters, relu};
  }
  float at(const Sizes& s, int64_t place, int64_t k) const {
    const int64_t plane = s.rows() * s.columns(), n = place / plane;
    return y[size_t(row_major ? (n * s.filters + k) * plane + place % plane : place * s.filters + k)];
  }
};

void run_convolution(const Problem& problem, const WinogradFilters& filters, int64_t tiles_at_once,
                     Results& results) {
  const Sizes& s = problem.sizes;
  const int64_t size = filter_block_size(kWinogradProducts, s.channels);
  auto transformed = hwy::AllocateAligned<float>(size_t(filters.blocks() * size));
  for (int64_t block = 0; block < filters.blocks(); ++block)
    winograd_filters(filters, block, problem.bias.data(), 1, transformed.get() + block * size);
  auto scratch = hwy::AllocateAligned<float>(size_t(winograd_scratch(s.channels, tiles_at_once)));
  const WinogradResults operands = results.operands(s);
  for (const TileRegion& region : s.regions()) {
    const int64_t tiles = region.tiles(s.images);
    for (int64_t i = 0; i < tiles; i += tiles_at_once)
      winograd_convolution(region.of(problem.images()),
                           {region.narrow_rows, region.narrow_columns, i, std::min(i + tiles_at_once, tiles),
                            tiles, 0, filters.blocks(), s.filters, transformed.get(), scratch.get()},
                           region.of(operands));
  }
}

/// Sums may be off by `growth` times what direct sums of so many terms may be.
double allowed(double growth, int64_t terms, double absolute) {
  return growth * 2 * double(terms + 1) * kUnit * absolute;
}

void check_convolution(const Problem& problem, const Results& results) {
  constexpr double kGrowth = 22.0 * 22 / 9;
  const Sizes& s = problem.sizes;
  const int64_t places = s.images * s.rows() * s.columns();
  std::vector<Sum> sums(size_t(places * s.filters));
  for (int64_t i = 0; i < places * s.filters; ++i) sums[size_t(i)].add(problem.bias[size_t(i % s.filters)]);
  s.for_each_place([&](int64_t pixel, int64_t result, int64_t r, int64_t q) {
    for (int64_t k = 0; k < s.filters; ++k)
      for (int64_t c = 0; c < s.channels; ++c)
        sums[size_t(result + k)].add(double(problem.x[size_t(pixel + c)]) *
                                     double(problem.w[size_t(s.tap(k, c, r, q))]));
  });
  for (int64_t i = 0; i < places * s.filters; ++i) {
    const Sum& sum = sums[size_t(i)];
    ASSERT_NEAR(results.at(s, i / s.filters, i % s.filters),
                results.relu ? std::max(sum.value, 0.0) : sum.value,
                allowed(kGrowth, s.channels * 9 + 1, sum.absolute))
        << "place " << i / s.filters << ", filter " << i % s.filters;
  }
}

std::vector<float> run_weights(const Problem& problem, int64_t tiles_at_once, int64_t slices) {
  const Sizes& s = problem.sizes;
  const int64_t blocks = (s.filters + kWinogradFilters - 1) / kWinogradFilters,
                size = blocks * weight_sums_size(s.channels);
  auto sums = hwy::AllocateAligned<float>(size_t(slices * size));
  std::fill_n(sums.get(), slices * size, 0.0f);
  auto scratch = hwy::AllocateAligned<float>(size_t(winograd_weights_scratch(s.channels, tiles_at_once)));
  int64_t batch = 0;
  for (const TileRegion& region : s.regions()) {
    const int64_t tiles = region.tiles(s.images);
    for (int64_t i = 0; i < tiles; i += tiles_at_once)
      winograd_add_weights(region.of(problem.images()), region.of(problem.gradients()),
                           {region.narrow_rows, region.narrow_columns, i, std::min(i + tiles_at_once, tiles),
                            tiles, 0, blocks, sums.get() + batch++ % slices * size, scratch.get()});
  }
  std::vector<float> dw(size_t(s.filters * s.channels * 9), 12345.0f);
  for (int64_t block = 0; block < blocks; ++block)
    winograd_make_weights({dw.data() + block * kWinogradFilters * s.channels * 9, s.channels,
                           std::min(kWinogradFilters, s.filters - block * kWinogradFilters),
                           sums.get() + block * weight_sums_size(s.channels), slices, size},
                          0, s.channels);
  return dw;
}

void check_weights(const Problem& problem, const std::vector<float>& dw) {
  constexpr double kGrowth = 25.0 * 25 / 16;
  const Sizes& s = problem.sizes;
  std::vector<Sum> sums(dw.size());
  s.for_each_place([&](int64_t pixel, int64_t result, int64_t r, int64_t q) {
    for (int64_t k = 0; k < s.filters; ++k)
      for (int64_t c = 0; c < s.channels; ++c)
        sums[size_t(s.tap(k, c, r, q))].add(double(problem.x[size_t(pixel + c)]) *
                                            double(problem.dy[size_t(result + k)]));
  });
  for (size_t i = 0; i < dw.size(); ++i)
    ASSERT_NEAR(dw[i], sums[i].value, allowed(kGrowth, s.images * s.rows() * s.columns(), sums[i].absolute))
        << "tap " << i;
}

class WinogradKernels : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

std::string describe(const Sizes& s) {
  return testing::PrintToString(
      std::vector<int64_t>{s.images, s.channels, s.height, s.width, s.filters, s.padding});
}

const Sizes kSizes[] = {{2, 1, 4, 4, 1},      {1, 3, 1, 1, 5},      {3, 5, 3, 2, 17},   {2, 17, 7, 6, 33},
                        {1, 8, 13, 13, 32},   {1, 64, 5, 7, 66, 0}, {1, 130, 4, 6, 31}, {2, 16, 6, 6, 8, 2},
                        {1, 7, 4, 33, 16, 1}, {12, 5, 6, 9, 33},    {13, 16, 5, 8, 16}, {3, 8, 16, 10, 32},
                        {12, 8, 2, 1, 16}};

TEST_P(WinogradKernels, ConvolutionAgreesWithDouble) {
  for (const Sizes& s : kSizes)
    for (int flags = 0; flags < 4; ++flags) {
      SCOPED_TRACE(describe(s) + testing::PrintToString(flags));
      const Problem problem(s);
      Results results{bool(flags & 1), bool(flags & 2), {}};
      run_convolution(problem, {problem.w.data(), s.filters, s.channels, s.channels * 9, 9, 3, 1},
                      flags ? 7 : 25, results);
      check_convolution(problem, results);
    }
}

/// Filters that lie otherwise in memory give the same bits.
TEST_P(WinogradKernels, FiltersLieAnyhow) {
  const Sizes s{1, 19, 6, 5, 35};
  const Problem problem(s);
  Results wanted{false, false, {}}, found = wanted;
  run_convolution(problem, {problem.w.data(), s.filters, s.channels, s.channels * 9, 9, 3, 1}, 25, wanted);
  std::vector<float> swapped(problem.w.size()), turned = swapped, strided = swapped;
  for (int64_t k = 0; k < s.filters; ++k)
    for (int64_t c = 0; c < s.channels; ++c)
      for (int64_t tap = 0; tap < 9; ++tap) {
        const float value = problem.w[size_t(s.tap(k, c, 0, tap))];
        swapped[size_t((c * s.filters + k) * 9 + tap)] = value;
        turned[size_t((c * s.filters + k) * 9 + 8 - tap)] = value;
        strided[size_t((tap * s.channels + c) * s.filters + k)] = value;
      }
  const int64_t K = s.filters, all = s.filters * s.channels;
  for (const WinogradFilters& filters :
       {WinogradFilters{swapped.data(), K, s.channels, 9, 9 * K, 3, 1},
        WinogradFilters{turned.data(), K, s.channels, 9, 9 * K, 3, 1, true},
        WinogradFilters{strided.data(), K, s.channels, 1, K, 3 * all, all}}) {
    run_convolution(problem, filters, 25, found);
    EXPECT_EQ(found.y, wanted.y) << filters.filter_step << " " << filters.turned;
  }
}

TEST_P(WinogradKernels, ReluKeepsNaN) {
  Problem problem({1, 8, 4, 4, 3});
  problem.x[0] = std::nanf("");
  Results results{false, true, {}};
  run_convolution(problem, {problem.w.data(), 3, 8, 72, 9, 3, 1}, 12, results);
  EXPECT_TRUE(std::isnan(results.y[0]));
}

/// A tap that few products meet gets what the others leave of their roundings, so sizes have enough of them.
TEST_P(WinogradKernels, WeightsAgreeWithDouble) {
  for (const Sizes& s : {Sizes{8, 1, 4, 4, 1},
                         {9, 3, 2, 3, 5},
                         {3, 5, 5, 6, 17},
                         {2, 17, 7, 6, 33},
                         {1, 8, 13, 13, 32},
                         {2, 40, 6, 7, 66, 0},
                         {1, 130, 6, 8, 31},
                         {2, 16, 6, 6, 8, 2},
                         {12, 5, 6, 10, 33},
                         {13, 16, 5, 8, 16},
                         {3, 8, 16, 10, 32}})
    for (int64_t slices : {1, 3}) {
      SCOPED_TRACE(describe(s) + testing::PrintToString(slices));
      const Problem problem(s);
      check_weights(problem, run_weights(problem, slices > 1 ? 5 : 25, slices));
    }
}

/// How many products a tile of each region has, and how many tiles an image.
TEST(WinogradRegions, LastRowsAndColumnsAreNarrow) {
  auto regions = [](int64_t images, int64_t P, int64_t Q) {
    std::vector<std::vector<int64_t>> list;
    for (const TileRegion& region : TileRegions(images, P, Q))
      list.push_back({region.row, region.rows, region.column, region.columns, region.products()});
    return list;
  };
  using List = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(regions(6, 14, 14),
            (List{{0, 3, 0, 3, 36}, {0, 3, 3, 1, 24}, {3, 1, 0, 3, 24}, {3, 1, 3, 1, 16}}));
  EXPECT_EQ(regions(5, 14, 14), (List{{0, 4, 0, 4, 36}}));
  EXPECT_EQ(regions(12, 28, 13), (List{{0, 7, 0, 3, 36}, {0, 7, 3, 1, 24}}));
  EXPECT_EQ(regions(12, 7, 8), (List{{0, 2, 0, 2, 36}}));
  EXPECT_EQ(regions(12, 2, 4), (List{{0, 1, 0, 1, 24}}));
  EXPECT_EQ(TileRegions(64, 14, 14).products(64), 64 * 484);
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, WinogradKernels, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return hwy::TargetName(info.param); });

}  // namespace
}  // namespace treadle::cpu::winograd_kernels

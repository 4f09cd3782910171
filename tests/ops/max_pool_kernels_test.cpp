/// The kernels that convolve and pool in one against sums in double, for sizes around every block edge, in
/// both layouts of the results, on every instruction set this CPU has.
#include <gtest/gtest.h>
#include <hwy/aligned_allocator.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/simd_targets.h"
#include "treadle/ops/conv2d/cpu/winograd_calls.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/rows_max_pool.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/tiled_max_pool.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/winograd_4x4_max_pool.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/winograd_max_pool.h"

namespace treadle::cpu::max_pool_kernels {
namespace {

/// x [images, height, width, channels], w [filters, channels, kernel, kernel], pooling windows side by side.
struct Sizes {
  int64_t images, channels, height, width, filters, kernel = 3, padding = 0, window = 2, step = 2, border = 0;

  int64_t result_rows() const { return height + 2 * padding - kernel + 1; }
  int64_t result_columns() const { return width + 2 * padding - kernel + 1; }
  int64_t rows() const { return (result_rows() + 2 * border - window) / step + 1; }
  int64_t columns() const { return (result_columns() + 2 * border - window) / step + 1; }
  int64_t windows() const { return images * rows() * columns(); }
};

std::vector<float> random_floats(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = uniform(random);
  return values;
}

/// Results that lie between guards, which must keep their values.
template <class T>
struct Guarded {
  static constexpr int64_t kGuards = 64;
  T guard;
  std::vector<T> memory;

  Guarded(int64_t count, T guard) : guard(guard), memory(size_t(count + 2 * kGuards), guard) {}
  T* data() { return memory.data() + kGuards; }
  void check() const {
    for (int64_t i = 0; i < kGuards; ++i)
      ASSERT_TRUE(memory[size_t(i)] == guard && memory[memory.size() - 1 - size_t(i)] == guard) << i;
  }
};

/// One convolution with its operands and results.
struct Problem {
  Sizes sizes;
  bool row_major, relu;
  bool chooses = true;
  std::vector<float> x, w, bias;
  Guarded<float> y;
  Guarded<uint8_t> choice;

  Problem(const Sizes& s, bool row_major, bool relu)
      : sizes(s),
        row_major(row_major),
        relu(relu),
        x(random_floats(s.images * s.height * s.width * s.channels, 1)),
        w(random_floats(s.filters * s.channels * s.kernel * s.kernel, 2)),
        bias(random_floats(s.filters, 3)),
        y(s.windows() * s.filters, 12345.0f),
        choice(s.windows() * s.filters, uint8_t(77)) {}

  PooledOutput output() {
    const int64_t image = sizes.rows() * sizes.columns();
    uint8_t* chosen = chooses ? choice.data() : nullptr;
    if (row_major) return {y.data(), chosen, image, image * sizes.filters, 1, image, relu};
    return {y.data(), chosen, image, image * sizes.filters, sizes.filters, 1, relu};
  }

  struct Value {
    double sum, absolute;
  };
  Value result_at(int64_t n, int64_t k, int64_t h, int64_t v) const {
    Value value{bias[size_t(k)], std::fabs(bias[size_t(k)])};
    const int64_t kernel = sizes.kernel;
    for (int64_t c = 0; c < sizes.channels; ++c)
      for (int64_t tap = 0; tap < kernel * kernel; ++tap) {
        const int64_t row = h + tap / kernel - sizes.padding, column = v + tap % kernel - sizes.padding;
        if (row < 0 || row >= sizes.height || column < 0 || column >= sizes.width) continue;
        const double product =
            double(x[size_t(((n * sizes.height + row) * sizes.width + column) * sizes.channels + c)]) *
            double(w[size_t((k * sizes.channels + c) * kernel * kernel + tap)]);
        value.sum += product, value.absolute += std::fabs(product);
      }
    return value;
  }

  /// Checks every result; sums may be off by `growth` times what direct sums may be.
  void check(double growth) {
    y.check(), choice.check();
    for (int64_t i = 0; i < sizes.windows(); ++i)
      for (int64_t k = 0; k < sizes.filters; ++k) check_window(i, k, growth);
  }

 private:
  void check_window(int64_t window, int64_t k, double growth) {
    const int64_t plane = sizes.rows() * sizes.columns(), n = window / plane;
    const int64_t top = window % plane / sizes.columns() * sizes.step - sizes.border,
                  left = window % sizes.columns() * sizes.step - sizes.border;
    const int64_t at = output().at(window, k), chosen = choice.data()[at];
    double largest = -std::numeric_limits<double>::infinity(), at_choice = largest, scale = 0;
    for (int64_t place = 0; place < sizes.window * sizes.window; ++place) {
      const int64_t h = top + place / sizes.window, v = left + place % sizes.window;
      if (h < 0 || h >= sizes.result_rows() || v < 0 || v >= sizes.result_columns()) continue;
      const Value value = result_at(n, k, h, v);
      largest = std::max(largest, value.sum), scale = std::max(scale, value.absolute);
      if (place == chosen) at_choice = value.sum;
    }
    const double terms = double(sizes.channels * sizes.kernel * sizes.kernel + 1);
    const double allowed = growth * 2 * (terms + 1) * 0x1p-24 * scale;
    ASSERT_NEAR(y.data()[at], relu ? std::max(largest, 0.0) : largest, allowed) << "window " << window;
    const std::string where = testing::PrintToString(std::pair{window, k});
    if (chosen == kNoChoice) {
      ASSERT_TRUE(relu && largest <= allowed) << where;
    } else {
      ASSERT_GE(at_choice, largest - 2 * allowed) << where;
      ASSERT_TRUE(!relu || largest >= -allowed) << where;
    }
  }
};

/// In rows × columns tiles.
WinogradImages images_of(const Problem& problem, int64_t rows, int64_t columns,
                         const std::vector<float>& zeros) {
  const Sizes& s = problem.sizes;
  return {problem.x.data(),
          s.channels,
          s.height,
          s.width,
          s.height * s.width * s.channels,
          s.width * s.channels,
          s.channels,
          s.padding,
          s.padding,
          rows,
          columns,
          zeros.data()};
}

WinogradFilters filters_of(const Problem& problem) {
  const Sizes& s = problem.sizes;
  const int64_t taps = s.kernel * s.kernel;
  return {problem.w.data(), s.filters, s.channels, s.channels * taps, taps, s.kernel, 1};
}

/// All blocks, with the bias.
hwy::AlignedFreeUniquePtr<float[]> transformed_4x4(const Problem& problem, const WinogradFilters& filters) {
  const int64_t size = filter_block_size(kWinogradProducts, problem.sizes.channels);
  auto transformed = hwy::AllocateAligned<float>(size_t(filters.blocks() * size));
  for (int64_t block = 0; block < filters.blocks(); ++block)
    winograd_filters(filters, block, problem.bias.data(), 1, transformed.get() + block * size);
  return transformed;
}

void run_winograd_4x4(Problem& problem, int64_t tiles_at_once) {
  const Sizes& s = problem.sizes;
  const std::vector<float> zeros(size_t(s.channels), 0.0f);
  const int64_t P = 2 * s.rows(), Q = 2 * s.columns();
  const WinogradImages images = images_of(problem, winograd_tiles_along(P), winograd_tiles_along(Q), zeros);
  const WinogradFilters filters = filters_of(problem);
  const auto transformed = transformed_4x4(problem, filters);
  auto scratch = hwy::AllocateAligned<float>(size_t(winograd_scratch(s.channels, tiles_at_once)));
  for (const TileRegion& region : TileRegions(s.images, P, Q)) {
    const int64_t tiles = region.tiles(s.images);
    for (int64_t i = 0; i < tiles; i += tiles_at_once)
      winograd_4x4_max_pool(
          region.of(images),
          {region.narrow_rows, region.narrow_columns, i, std::min(i + tiles_at_once, tiles), tiles, 0,
           filters.blocks(), s.filters, transformed.get(), scratch.get()},
          {s.rows(), s.columns(), region.row * kWinogradResults / 2, region.column * kWinogradResults / 2},
          problem.output());
  }
}

/// All tiles at once, of which there are few.
void run_winograd_mixed(Problem& problem) {
  const Sizes& s = problem.sizes;
  const std::vector<float> zeros(size_t(s.channels), 0.0f);
  const int64_t P = 2 * s.rows(), Q = 2 * s.columns();
  const WinogradImages images = images_of(problem, winograd_tiles_along(P), winograd_tiles_along(Q), zeros);
  const int64_t tiles = s.images * images.rows * images.columns;
  ASSERT_LE(tiles, TileGroups::kMost);
  const WinogradFilters filters = filters_of(problem);
  const auto transformed = transformed_4x4(problem, filters);
  auto scratch = hwy::AllocateAligned<float>(size_t(winograd_scratch(s.channels, tiles)));
  WinogradTilePart parts[4] = {};
  for (WinogradTilePart& part : parts) part.images = images;
  for (const TileRegion& region : TileRegions(s.images, P, Q, 1)) {
    const int place = region.narrow_rows ? (region.narrow_columns ? 3 : 2) : (region.narrow_columns ? 0 : 1);
    parts[place] = {region.narrow_rows,
                    region.narrow_columns,
                    region.tiles(s.images),
                    region.of(images),
                    {s.rows(), s.columns(), 2 * region.row, 2 * region.column}};
  }
  for (int64_t block = 0; block < filters.blocks(); ++block)
    winograd_mixed_max_pool(
        parts, {false, false, 0, tiles, tiles, block, block + 1, s.filters, transformed.get(), scratch.get()},
        problem.output());
}

void run_winograd(Problem& problem, int64_t windows_at_once) {
  const Sizes& s = problem.sizes;
  const std::vector<float> zeros(size_t(s.channels), 0.0f);
  const WinogradImages images = images_of(problem, s.rows(), s.columns(), zeros);
  const WinogradFilters filters = filters_of(problem);
  const int64_t size = winograd_block_size(s.kernel, s.channels);
  auto transformed = hwy::AllocateAligned<float>(size_t(filters.blocks() * size));
  for (int64_t block = 0; block < filters.blocks(); ++block)
    winograd_transform_filters(s.kernel, filters, block, problem.bias.data(), 1,
                               transformed.get() + block * size);
  auto scratch =
      hwy::AllocateAligned<char>(size_t(winograd_scratch_size(s.kernel, s.channels, windows_at_once)));
  for (int64_t i = 0; i < s.windows(); i += windows_at_once)
    winograd_max_pool(images,
                      {s.kernel, i, std::min(i + windows_at_once, s.windows()), 0, filters.blocks(),
                       s.filters, transformed.get(), scratch.get()},
                      problem.output());
}

/// One image and `band` window rows at a time; without padding of the convolution.
void run_tiled(Problem& problem, int64_t band) {
  const Sizes& s = problem.sizes;
  const int64_t taps = s.channels * s.kernel * s.kernel, size = tiled_block_size(taps);
  const int64_t blocks = (s.filters + kTiledFilters - 1) / kTiledFilters;
  std::vector<int32_t> offsets;
  auto packed = hwy::AllocateAligned<float>(size_t(blocks * size));
  std::fill_n(packed.get(), blocks * size, 0.0f);
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t c = tap % s.channels, place = tap / s.channels;
    offsets.push_back(int32_t((place / s.kernel * s.width + place % s.kernel) * s.channels + c));
    for (int64_t k = 0; k < s.filters; ++k)
      packed[size_t(k / kTiledFilters * size + tap * kTiledFilters + k % kTiledFilters)] =
          problem.w[size_t((k * s.channels + c) * s.kernel * s.kernel + place)];
  }
  for (int64_t k = 0; k < s.filters; ++k)
    packed[size_t(k / kTiledFilters * size + taps * kTiledFilters + k % kTiledFilters)] =
        problem.bias[size_t(k)];
  auto scratch = hwy::AllocateAligned<char>(
      size_t(tiled_scratch_size(s.result_rows() * s.result_columns(), s.rows() * s.columns())));
  for (int64_t n = 0; n < s.images; ++n)
    for (int64_t p = 0; p < s.rows(); p += band) {
      const int64_t count = std::min(band, s.rows() - p);
      const int64_t first = std::max<int64_t>(p * s.step - s.border, 0),
                    last = std::min((p + count - 1) * s.step - s.border + s.window, s.result_rows());
      const TiledPlaces places{problem.x.data() + (n * s.height + first) * s.width * s.channels,
                               offsets.data(),
                               taps,
                               first,
                               0,
                               last - first,
                               s.result_columns(),
                               s.width * s.channels,
                               s.channels};
      const TiledWindows windows{s.window, s.window, s.step, s.step,     s.border,
                                 s.border, p,        count,  s.columns()};
      for (int64_t block = 0; block < blocks; ++block) {
        const int64_t k = block * kTiledFilters;
        tiled_max_pool(places, windows,
                       {packed.get() + block * size, k, std::min(kTiledFilters, s.filters - k)},
                       (n * s.rows() + p) * s.columns(), problem.output(), scratch.get());
      }
    }
}

/// One image and `band` window rows at a time.
void run_rows(Problem& problem, int64_t band) {
  const Sizes& s = problem.sizes;
  std::vector<float> packed;
  for (int64_t tap = 0; tap < s.channels * s.kernel * s.kernel; ++tap)
    for (int64_t k = 0; k < s.filters; ++k)
      packed.push_back(problem.w[size_t(k * s.channels * s.kernel * s.kernel + tap)]);
  packed.insert(packed.end(), problem.bias.begin(), problem.bias.end());
  packed.resize(size_t(rows_filters_size(s.channels * s.kernel * s.kernel, s.filters)));
  const WindowPlanes most{s.kernel, s.kernel, std::min(band, s.rows()), s.columns()};
  const int64_t size = rows_scratch_size(s.channels, most);
  auto scratch = hwy::AllocateAligned<float>(size_t(size));
  for (int64_t n = 0; n < s.images; ++n)
    for (int64_t p = 0; p < s.rows(); p += band) {
      std::fill_n(scratch.get(), size, std::numeric_limits<float>::quiet_NaN());
      const WindowImage image{problem.x.data() + n * s.height * s.width * s.channels,
                              s.channels,
                              s.height,
                              s.width,
                              1,
                              s.width * s.channels,
                              s.channels,
                              2 * p - s.padding,
                              -s.padding};
      rows_max_pool(image, {s.kernel, s.kernel, std::min(band, s.rows() - p), s.columns()}, packed.data(),
                    s.filters, (n * s.rows() + p) * s.columns(), problem.output(), scratch.get());
    }
}

/// The same problem, not solved, of which y alone is asked for.
Problem without_choice(const Problem& problem) {
  Problem plain(problem.sizes, problem.row_major, problem.relu);
  plain.chooses = false;
  return plain;
}

class MaxPoolKernels : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

std::string describe(const Sizes& s, int flags) {
  return testing::PrintToString(std::vector<int64_t>{s.images, s.channels, s.height, s.width, s.filters,
                                                     s.kernel, s.padding, s.window, s.step, s.border, flags});
}

/// In both layouts, with and without ReLU, and without the choice, which changes nothing else. `run` solves a
/// problem, all forms but the first in `other` portions.
template <class Run>
void check_in_every_form(const Sizes& sizes, double growth, Run run) {
  for (int flags = 0; flags < 4; ++flags) {
    SCOPED_TRACE(describe(sizes, flags));
    Problem problem(sizes, flags & 1, flags & 2);
    run(problem, flags != 0);
    problem.check(growth);
    Problem plain = without_choice(problem);
    run(plain, flags != 0);
    EXPECT_EQ(plain.y.memory, problem.y.memory);
  }
}

TEST_P(MaxPoolKernels, WinogradAgreesWithDouble) {
  constexpr double kGrowth3x3 = 64.0 / 9, kGrowth5x5 = 29.5 * 29.5 / 25;
  for (const Sizes& sizes : {Sizes{1, 1, 4, 4, 1},
                             {2, 3, 7, 6, 5},
                             {3, 5, 9, 8, 17},
                             {1, 17, 6, 11, 33},
                             {2, 8, 13, 13, 32},
                             {1, 64, 5, 7, 66},
                             {1, 130, 4, 6, 31},
                             {2, 4, 3, 2, 9, 3, 3},
                             {1, 6, 12, 12, 8, 3, 1},
                             {1, 1, 6, 6, 1, 5},
                             {2, 6, 9, 14, 16, 5},
                             {3, 17, 8, 6, 33, 5, 2},
                             {1, 66, 7, 11, 40, 5, 1}})
    check_in_every_form(sizes, sizes.kernel == 3 ? kGrowth3x3 : kGrowth5x5,
                        [](Problem& problem, bool other) { run_winograd(problem, other ? 7 : 25); });
}

/// With regions of narrow tiles where there are images enough, and of tiles that reach over the edge where
/// not.
TEST_P(MaxPoolKernels, Winograd4x4AgreesWithDouble) {
  constexpr double kGrowth = 22.0 * 22 / 9;
  for (const Sizes& sizes : {Sizes{1, 1, 4, 4, 1},
                             {2, 3, 7, 6, 5},
                             {7, 5, 9, 8, 17},
                             {1, 17, 6, 11, 33},
                             {2, 8, 13, 13, 32},
                             {6, 64, 12, 13, 66},
                             {6, 130, 4, 14, 31},
                             {6, 16, 8, 10, 48, 3, 2},
                             {1, 6, 12, 12, 8, 3, 1}})
    check_in_every_form(sizes, kGrowth,
                        [](Problem& problem, bool other) { run_winograd_4x4(problem, other ? 7 : 25); });
}

/// Tiles of every set of shapes: whole ones alone, with narrow columns, narrow rows, both, and narrow ones
/// alone.
TEST_P(MaxPoolKernels, MixedWinogradAgreesWithDouble) {
  constexpr double kGrowth = 22.0 * 22 / 9;
  for (const Sizes& sizes : {Sizes{1, 1, 4, 4, 1},
                             {1, 64, 13, 13, 66},
                             {2, 9, 10, 10, 33},
                             {2, 8, 10, 8, 16},
                             {3, 17, 4, 10, 5},
                             {2, 8, 8, 7, 32, 3, 1},
                             {12, 3, 5, 5, 40},
                             {1, 6, 14, 9, 8, 3, 1}})
    check_in_every_form(sizes, kGrowth, [](Problem& problem, bool) { run_winograd_mixed(problem); });
}

TEST_P(MaxPoolKernels, TiledAgreesWithDouble) {
  for (const Sizes& sizes : {Sizes{1, 1, 1, 1, 1, 1, 0, 1, 1},
                             {2, 1, 12, 13, 6, 5},
                             {1, 3, 9, 8, 17},
                             {2, 5, 7, 30, 8},
                             {1, 17, 6, 7, 64, 2},
                             {1, 64, 7, 6, 20},
                             {1, 130, 5, 4, 5, 1},
                             {2, 3, 9, 10, 9, 3, 0, 3, 2, 1},
                             {1, 2, 7, 7, 9, 3, 0, 2, 2, 1},
                             {1, 2, 8, 8, 16, 3, 0, 6, 6},
                             {1, 2, 10, 11, 33, 3, 0, 2, 3}})
    check_in_every_form(sizes, 1, [](Problem& problem, bool other) { run_tiled(problem, other ? 2 : 100); });
}

/// Fewer windows than a vector has lanes, as many, and one more; whole blocks of filters, and any rest.
TEST_P(MaxPoolKernels, RowsAgreesWithDouble) {
  for (const Sizes& sizes : {Sizes{1, 1, 2, 2, 1, 1},
                             {2, 1, 12, 13, 6, 5, 2},
                             {1, 1, 28, 28, 16, 5},
                             {1, 2, 10, 10, 7},
                             {2, 1, 5, 37, 3, 4, 1},
                             {1, 1, 4, 36, 2},
                             {1, 3, 9, 38, 5, 2},
                             {1, 7, 7, 6, 20},
                             {1, 1, 3, 2, 9, 3, 3},
                             {1, 1, 1, 40, 4, 5, 4},
                             {1, 1, 19, 8, 11, 1},
                             {1, 1, 11, 70, 13, 3, 1},
                             {1, 1, 10, 10, 64}})
    check_in_every_form(sizes, 1, [](Problem& problem, bool other) { run_rows(problem, other ? 3 : 100); });
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, MaxPoolKernels, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return hwy::TargetName(info.param); });

}  // namespace
}  // namespace treadle::cpu::max_pool_kernels

/// conv2d_max_pool2d on the cpu device in SIMD instructions, f32: cuts a call into tasks for the kernels of
/// treadle/cpu.
#include <algorithm>
#include <array>

#include "treadle/core/parallel_for.h"
#include "treadle/cpu/direct_max_pool.h"
#include "treadle/cpu/winograd_max_pool.h"
#include "treadle/graph/registry.h"
#include "treadle/ops/conv2d_max_pool2d_geometry.h"

namespace treadle {
namespace {

using Geometry = Conv2dMaxPool2dGeometry;

constexpr int64_t kProductsWorthAThread = 1 << 17;
constexpr int64_t kCopiesWorthAThread = 1 << 15;  ///< floats that are moved

Geometry geometry_of(const Call& call) {
  return make_conv2d_max_pool2d_geometry(call.input(0), call.input(1), call.output(),
                                         call.options<Conv2dMaxPool2dOptions>());
}

/// Parts that so many products are cut into, one for each thread.
int64_t parts_of(int64_t products) {
  return std::clamp<int64_t>(products / kProductsWorthAThread, 1, num_threads());
}

/// Calls f(part, first, last) for equal parts of [0, count), each on a thread of its own.
template <class F>
void for_each_part(int64_t parts, int64_t count, F f) {
  parallel_for(parts, 1,
               [&](int64_t begin, int64_t end) { f(begin, count * begin / parts, count * end / parts); });
}

constexpr int64_t whole_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

cpu::PooledOutput output_of(const Call& call, const Geometry& g) {
  return {call.output(0).as<float>(),
          call.output(1).as<uint8_t>(),
          g.pool.P * g.pool.Q,
          g.pool.y.strides[0],
          g.pool.y.strides[3],
          g.pool.y.strides[1],
          call.options<Conv2dMaxPool2dOptions>().relu};
}

/// Whether the results are f32 and lie as infer has them: channels-last or row-major.
bool has_plain_output(const Call& call) {
  const TensorView &y = call.output(0), &choice = call.output(1);
  return call.input(0).dtype == DType::f32 &&
         ((y.channels_last() && choice.channels_last()) || (y.contiguous() && choice.contiguous()));
}

const float* bias_of(const Call& call) { return call.has_input(2) ? call.input(2).as<float>() : nullptr; }
int64_t bias_step(const Call& call) { return call.has_input(2) ? call.input(2).strides[0] : 0; }

// ---- direct ----

/// A call cut into bands of pooled rows and blocks of filters.
struct DirectPlan {
  Geometry g;
  bool padded;      ///< the images are copied with their padding
  Operand4 x;       ///< as the kernel reads it: strides of the copy, if there is one
  int64_t columns;  ///< of the convolution's result that are looked at
  int64_t band;     ///< pooled rows worked on together, at most
  int64_t blocks, blocks_per_group;

  explicit DirectPlan(const Geometry& geometry);
  Conv2dGeometry const& conv() const { return g.conv; }
  /// Rows of the convolution's result under pooled rows [begin, end).
  WindowRange rows(int64_t begin, int64_t end) const {
    return {std::max<int64_t>(g.pool.row(begin, 0), 0),
            std::min(g.pool.row(end - 1, g.pool.R - 1) + 1, g.pool.H)};
  }
  int64_t places() const { return most_rows() * columns; }
  int64_t kernel_bytes() const { return whole_lines(cpu::direct_scratch_size(places(), band * g.pool.Q)); }
  int64_t copy_bytes() const { return padded ? whole_lines(copied_rows() * x.strides[2] * 4) : 0; }

 private:
  int64_t most_rows() const { return std::min((band - 1) * g.pool.stride.height + g.pool.R, g.pool.H); }
  int64_t copied_rows() const {
    return (most_rows() - 1) * g.conv.stride.height + (g.conv.R - 1) * g.conv.dilation.height + 1;
  }
};

DirectPlan::DirectPlan(const Geometry& geometry) : g(geometry), x(g.conv.x) {
  constexpr int64_t kPlaces = 512;  // results of a block of filters: 32 KiB
  const Conv2dGeometry& c = g.conv;
  columns = std::min(g.pool.column(g.pool.Q - 1, g.pool.S - 1) + 1, g.pool.W);
  // What lies behind the last row and column that the windows reach needs no padding.
  const int64_t last_row = c.row(rows(0, g.pool.P).end - 1, c.R - 1),
                last_column = c.column(columns - 1, c.S - 1);
  padded = c.padding.height > 0 || c.padding.width > 0 || last_row >= c.H || last_column >= c.W;
  if (padded) {
    const int64_t width = last_column + c.padding.width + 1;
    x.strides[1] = 1, x.strides[3] = c.C, x.strides[2] = width * c.C, x.channels_last = true;
  }
  const int64_t rows_in_places = std::max<int64_t>(kPlaces / columns, 1);
  band = std::clamp<int64_t>((rows_in_places - g.pool.R) / g.pool.stride.height + 1, 1, g.pool.P);
  blocks_per_group = (c.filters + cpu::kDirectFilters - 1) / cpu::kDirectFilters;
  blocks = blocks_per_group * c.groups;
}

/// Calls f(tap, c, r, s) in the order of memory of x.
template <class F>
void for_each_tap(const DirectPlan& plan, F f) {
  const Conv2dGeometry& g = plan.g.conv;
  int64_t tap = 0;
  if (plan.x.channels_last) {
    for (int64_t r = 0; r < g.R; ++r)
      for (int64_t s = 0; s < g.S; ++s)
        for (int64_t c = 0; c < g.channels; ++c) f(tap++, c, r, s);
  } else {
    for (int64_t c = 0; c < g.channels; ++c)
      for (int64_t r = 0; r < g.R; ++r)
        for (int64_t s = 0; s < g.S; ++s) f(tap++, c, r, s);
  }
}

/// Offsets of the taps in x, or in a filter.
const int32_t* tap_offsets(const Call& call, const DirectPlan& plan, bool in_x) {
  const Conv2dGeometry& g = plan.g.conv;
  int32_t* taps = call.workspace<int32_t>(g.taps());
  for_each_tap(plan, [&](int64_t tap, int64_t c, int64_t r, int64_t s) {
    taps[tap] =
        int32_t(in_x ? plan.x.at(0, c, r * g.dilation.height, s * g.dilation.width) : g.w.at(0, c, r, s));
  });
  return taps;
}

cpu::DirectFilters filters_of_block(const DirectPlan& plan, int64_t block) {
  const int64_t filters = plan.g.conv.filters, first = block % plan.blocks_per_group * cpu::kDirectFilters;
  return {nullptr, block / plan.blocks_per_group * filters + first,
          std::min(cpu::kDirectFilters, filters - first)};
}

/// The filters block by block, see DirectFilters.
const float* pack_filters(const Call& call, const DirectPlan& plan) {
  const Conv2dGeometry& g = plan.g.conv;
  const int64_t size = cpu::direct_block_size(g.taps());
  float* packed = call.workspace<float>(plan.blocks * size);
  const float *w = call.input(1).as<float>(), *bias = bias_of(call);
  const int32_t* taps = tap_offsets(call, plan, false);
  parallel_for(plan.blocks, kCopiesWorthAThread / size + 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      float* to = packed + block * size;
      const cpu::DirectFilters filters = filters_of_block(plan, block);
      std::fill_n(to, size, 0.0f);
      for (int64_t i = 0; i < filters.count; ++i) {
        const float* filter = w + g.w.at(filters.first + i, 0, 0, 0);
        for (int64_t tap = 0; tap < g.taps(); ++tap) to[tap * cpu::kDirectFilters + i] = filter[taps[tap]];
        if (bias) to[g.taps() * cpu::kDirectFilters + i] = bias[(filters.first + i) * bias_step(call)];
      }
    }
  });
  return packed;
}

/// Copies `count` pixels of a row, whose channels lie `channel_step` apart, to channels-last.
void copy_pixels(const float* from, int64_t channel_step, int64_t pixel_step, int64_t count, int64_t channels,
                 float* to) {
  if ((channel_step == 1 || channels == 1) && pixel_step == channels) {
    std::copy_n(from, count * channels, to);
    return;
  }
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t w = 0; w < count; ++w) to[w * channels + c] = from[c * channel_step + w * pixel_step];
}

/// Copies the rows of image n under rows [begin, end) of the convolution's result, with their padding.
void copy_padded(const DirectPlan& plan, const float* x, int64_t n, WindowRange rows, float* copy) {
  const Conv2dGeometry& g = plan.g.conv;
  const int64_t size = plan.x.strides[2], left = g.padding.width, width = size / g.C;
  const int64_t end = std::min(width - left, g.W);  // behind the last pixel that is copied
  for (int64_t h = g.row(rows.begin, 0); h <= g.row(rows.end - 1, g.R - 1); ++h, copy += size) {
    if (h < 0 || h >= g.H || end <= 0) {
      std::fill_n(copy, size, 0.0f);
      continue;
    }
    std::fill_n(copy, left * g.C, 0.0f);
    copy_pixels(x + g.x.at(n, 0, h, 0), g.x.strides[1], g.x.strides[3], end, g.C, copy + left * g.C);
    std::fill(copy + (left + end) * g.C, copy + size, 0.0f);
  }
}

/// What the threads of a direct call share.
struct DirectCall {
  const DirectPlan& plan;
  const float* x;
  const float* packed;
  const int32_t* taps;
  cpu::PooledOutput output;

  /// Pooled rows [begin, begin + count) of image n, for some blocks of filters.
  void run(int64_t n, int64_t begin, int64_t count, int64_t first_block, int64_t last_block,
           std::byte* scratch) const {
    const Geometry& g = plan.g;
    const WindowRange rows = plan.rows(begin, begin + count);
    const float* source = x + g.conv.x.at(n, 0, rows.begin * g.conv.stride.height, 0);
    if (plan.padded) {
      float* copy = reinterpret_cast<float*>(scratch + plan.kernel_bytes());
      copy_padded(plan, x, n, rows, copy);
      source = copy;
    }
    cpu::DirectPlaces places{source,
                             taps,
                             g.conv.taps(),
                             rows.begin,
                             0,
                             rows.end - rows.begin,
                             plan.columns,
                             g.conv.stride.height * plan.x.strides[2],
                             g.conv.stride.width * plan.x.strides[3]};
    const cpu::DirectWindows windows{g.pool.R,
                                     g.pool.S,
                                     g.pool.stride.height,
                                     g.pool.stride.width,
                                     g.pool.padding.height,
                                     g.pool.padding.width,
                                     begin,
                                     count,
                                     g.pool.Q};
    for (int64_t block = first_block; block < last_block; ++block) {
      cpu::DirectFilters filters = filters_of_block(plan, block);
      filters.w = packed + block * cpu::direct_block_size(g.conv.taps());
      places.x = source + block / plan.blocks_per_group * g.conv.channels * plan.x.strides[1];
      cpu::direct_max_pool(places, windows, filters, (n * g.pool.P + begin) * g.pool.Q, output, scratch);
    }
  }
};

/// Threads share the pooled rows of all images, and the filters where rows are few.
void run_direct(const Call& call) {
  const Geometry g = geometry_of(call);
  const DirectPlan plan(g);
  const DirectCall direct{plan, call.input(0).as<float>(), pack_filters(call, plan),
                          tap_offsets(call, plan, true), output_of(call, g)};
  const int64_t rows = g.conv.N * g.pool.P;
  const int64_t parts = parts_of(rows * plan.columns * g.pool.R * g.conv.K * g.conv.taps());
  const int64_t slices = std::clamp<int64_t>((parts + rows - 1) / rows, 1, plan.blocks);
  const int64_t scratch_bytes = plan.kernel_bytes() + plan.copy_bytes();
  std::byte* scratch = call.workspace<std::byte>(parts * scratch_bytes);
  for_each_part(parts, rows * slices, [&](int64_t part, int64_t first, int64_t last) {
    while (first < last) {
      const int64_t slice = first / rows, row = first % rows, p = row % g.pool.P;
      const int64_t count = std::min({last - first, g.pool.P - p, plan.band});
      direct.run(row / g.pool.P, p, count, plan.blocks * slice / slices, plan.blocks * (slice + 1) / slices,
                 scratch + part * scratch_bytes);
      first += count;
    }
  });
}

/// More than the largest offset in one image or filter.
int64_t reach_of(const TensorView& view) {
  int64_t reach = 0;
  for (int axis = 1; axis < 4; ++axis) reach += view.shape[axis] * view.strides[axis];
  return reach;
}

bool takes_direct(const Call& call) {
  if (!has_plain_output(call)) return false;
  const TensorView &x = call.input(0), &w = call.input(1);
  const int64_t reach = std::max(reach_of(x), reach_of(w));  // offsets are 32 bits wide
  const Pads& pads = call.options<Conv2dMaxPool2dOptions>().padding;
  const int64_t copied =
      x.shape[1] * (x.shape[2] + pads.top + pads.bottom) * (x.shape[3] + pads.left + pads.right);
  return std::max(reach, copied) <= INT32_MAX;
}

// ---- Winograd ----

/// Copies x to channels-last.
const float* channels_last_copy(const Call& call, const Conv2dGeometry& g) {
  float* copy = call.workspace<float>(g.x.numel());
  const float* x = call.input(0).as<float>();
  parallel_for(g.N * g.H, kCopiesWorthAThread / (g.W * g.C) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      copy_pixels(x + g.x.at(row / g.H, 0, row % g.H, 0), g.x.strides[1], g.x.strides[3], g.W, g.C,
                  copy + row * g.W * g.C);
  });
  return copy;
}

cpu::WinogradImages winograd_images(const Call& call, const Geometry& g) {
  const Conv2dGeometry& c = g.conv;
  float* zeros = call.workspace<float>(c.C);
  std::fill_n(zeros, c.C, 0.0f);
  cpu::WinogradImages images{call.input(0).as<float>(),
                             c.C,
                             c.H,
                             c.W,
                             c.x.strides[0],
                             c.x.strides[2],
                             c.x.strides[3],
                             c.padding.height,
                             c.padding.width,
                             g.pool.P,
                             g.pool.Q,
                             zeros};
  if (c.x.strides[1] == 1 || c.C == 1) return images;
  images.x = channels_last_copy(call, c);
  images.image_step = c.H * c.W * c.C, images.row_step = c.W * c.C, images.column_step = c.C;
  return images;
}

const float* winograd_filters(const Call& call, const Conv2dGeometry& g) {
  const cpu::WinogradFilters filters{
      call.input(1).as<float>(), g.K, g.C, g.w.strides[0], g.w.strides[1], g.w.strides[2], g.w.strides[3]};
  const int64_t size = cpu::winograd_block_size(g.C);
  float* transformed = call.workspace<float>(filters.blocks() * size);
  parallel_for(filters.blocks(), kCopiesWorthAThread / size + 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block)
      cpu::winograd_transform_filters(filters, block, bias_of(call), bias_step(call),
                                      transformed + block * size);
  });
  return transformed;
}

/// Threads share the windows of all images, and the filters where windows are few.
void run_winograd(const Call& call) {
  const Geometry g = geometry_of(call);
  const int64_t channels = g.conv.C, windows = g.conv.N * g.pool.P * g.pool.Q;
  const int64_t blocks = (g.conv.K + cpu::kWinogradFilters - 1) / cpu::kWinogradFilters;
  const int64_t parts = parts_of(windows * 16 * channels * g.conv.K), most = cpu::winograd_windows(channels);
  int64_t batches = (windows + most - 1) / most, slices = 1;
  if (batches < parts)
    slices = std::min(blocks, (parts + batches - 1) / batches);
  else
    batches = (batches + parts - 1) / parts * parts;
  batches = std::min(batches, windows);
  const cpu::WinogradImages images = winograd_images(call, g);
  const float* transformed = winograd_filters(call, g.conv);
  const cpu::PooledOutput output = output_of(call, g);
  const int64_t scratch_bytes =
      whole_lines(cpu::winograd_scratch_size(channels, (windows + batches - 1) / batches));
  std::byte* scratch = call.workspace<std::byte>(parts * scratch_bytes);
  for_each_part(parts, batches * slices, [&](int64_t part, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t slice = i / batches, batch = i % batches;
      cpu::winograd_max_pool(
          images,
          {windows * batch / batches, windows * (batch + 1) / batches, blocks * slice / slices,
           blocks * (slice + 1) / slices, g.conv.K, transformed, scratch + part * scratch_bytes},
          output);
    }
  });
}

/// With fewer channels the transforms cost more than the products that they save.
constexpr int64_t kWinogradChannels = 5;

bool takes_winograd(const Call& call) {
  auto& o = call.options<Conv2dMaxPool2dOptions>();
  const Shape& w = call.input(1).shape;
  return has_plain_output(call) && w[2] == 3 && w[3] == 3 && w[1] >= kWinogradChannels && o.groups == 1 &&
         o.stride == Pair(1) && o.dilation == Pair(1) && o.pool_kernel == Pair(2) &&
         pool_stride(o.pool_stride, o.pool_kernel) == Pair(2) && o.pool_padding == Pads(0);
}

/// With pixels of size 1 and taps of size 1, a result is a sum of 9 products for each channel. Here it is one
/// of 3·3 products of a transformed tile and a transformed filter; along one axis their sizes are at most
/// 2 · 1, 2 · 1½ and 2 · 1½ for the even result, likewise for the odd one, together 8, hence 64 in two.
/// Roundings are no more than those of the direct sum: one for each channel, and a few for the transforms.
constexpr double kWinogradGrowth = 64.0 / 9;

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_simd(Registry& registry) {
  registry.add_variant("conv2d_max_pool2d", {.name = "tiled",
                                             .device = DeviceKind::cpu,
                                             .run = run_direct,
                                             .when = takes_direct,
                                             .preference = 10});
  registry.add_variant("conv2d_max_pool2d", {.name = "winograd",
                                             .device = DeviceKind::cpu,
                                             .run = run_winograd,
                                             .when = takes_winograd,
                                             .preference = 20,
                                             .error_growth = kWinogradGrowth});
}

}  // namespace ops
}  // namespace treadle

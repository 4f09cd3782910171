/// conv2d_max_pool2d on the cpu device by Winograd's F(2×2, 3×3), f32: 3×3 windows of stride 1, pooled 2×2.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/tasks.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/winograd_max_pool.h"

namespace treadle {
namespace {

using Geometry = Conv2dMaxPool2dGeometry;

/// Copies x to channels-last.
const float* channels_last_copy(const Call& call, const Conv2dGeometry& g) {
  float* copy = call.workspace<float>(g.x.numel());
  const float* x = call.input(0).as<float>();
  parallel_for(g.N * g.H, copies(g.W * g.C), [&](int64_t begin, int64_t end) {
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
  return call.kept<float>(filters.blocks() * size, {1, 2}, [&](float* transformed) {
    parallel_for(filters.blocks(), copies(size), [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block)
        cpu::winograd_transform_filters(filters, block, bias_of(call), bias_step(call),
                                        transformed + block * size);
    });
  });
}

/// Threads take batches of windows as they get free; enough of them that none waits long for another, but not
/// so small that reading the filters counts, and whole register tiles.
constexpr int64_t kBatchesPerThread = 16, kFewestWindows = 24;

/// Threads share the windows of all images, and the filters where windows are few.
void run_winograd(const Call& call) {
  const Geometry g = geometry_of(call);
  const int64_t channels = g.conv.C, windows = g.conv.N * g.pool.P * g.pool.Q;
  const int64_t blocks = (g.conv.K + cpu::kWinogradFilters - 1) / cpu::kWinogradFilters;
  const int64_t parts = parts_of(windows * 16 * channels * g.conv.K), most = cpu::winograd_windows(channels);
  int64_t batches = divide_up(windows, most), size = divide_up(windows, batches);
  const Cut slices(blocks, divide_up(parts, batches));
  if (batches >= parts) {
    const int64_t wanted = divide_up(windows, parts * kBatchesPerThread);
    size =
        std::clamp(divide_up(wanted, kFewestWindows) * kFewestWindows, std::min(kFewestWindows, most), most);
    batches = divide_up(windows, size);
  }
  const cpu::WinogradImages images = winograd_images(call, g);
  const float* transformed = winograd_filters(call, g.conv);
  const cpu::PooledOutput output = output_of(call, g);
  const int64_t scratch_bytes = whole_lines(cpu::winograd_scratch_size(channels, size));
  std::byte* scratch = call.workspace<std::byte>(parts * scratch_bytes);
  for_each_part(parts, batches * slices.parts(), [&](int64_t part, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t batch = i % batches;
      const Range own = slices[i / batches];
      cpu::winograd_max_pool(images,
                             {size * batch, std::min(size * (batch + 1), windows), own.begin, own.end,
                              g.conv.K, transformed, scratch + part * scratch_bytes},
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

void register_conv2d_max_pool2d_cpu_winograd(Registry& registry) {
  add_variant(registry, "conv2d_max_pool2d",
              {.name = "winograd",
               .device = DeviceKind::cpu,
               .run = run_winograd,
               .when = takes_winograd,
               .preference = 20,
               .error_growth = kWinogradGrowth});
}

}  // namespace ops
}  // namespace treadle

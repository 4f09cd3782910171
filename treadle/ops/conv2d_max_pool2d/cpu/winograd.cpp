/// conv2d_max_pool2d on the cpu device by Winograd's F(2×2, 3×3) and F(2×2, 5×5), f32: windows of stride 1,
/// pooled 2×2.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/cpu/winograd_tasks.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/tasks.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/winograd_max_pool.h"

namespace treadle {
namespace {

using Geometry = Conv2dMaxPool2dGeometry;

const float* winograd_filters(const Call& call, const Conv2dGeometry& g) {
  const cpu::WinogradFilters filters{
      call.input(1).as<float>(), g.K, g.C, g.w.strides[0], g.w.strides[1], g.w.strides[2], g.w.strides[3]};
  const int64_t taps = g.R, size = cpu::winograd_block_size(taps, g.C);
  return call.kept<float>(filters.blocks() * size, {1, 2}, [&](float* transformed) {
    parallel_for(filters.blocks(), copies(size), [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block)
        cpu::winograd_transform_filters(taps, filters, block, bias_of(call), bias_step(call),
                                        transformed + block * size);
    });
  });
}

/// Threads share the windows of all images, and the filters where windows are few.
void run_winograd(const Call& call) {
  const Geometry g = geometry_of(call);
  const int64_t channels = g.conv.C, windows = g.conv.N * g.pool.P * g.pool.Q, taps = g.conv.R;
  const WinogradCut cut(windows, divide_up(g.conv.K, cpu::kWinogradFilters),
                        cpu::winograd_windows(taps, channels),
                        windows * (taps + 1) * (taps + 1) * channels * g.conv.K);
  const cpu::WinogradImages images = winograd_images(call, call.input(0), g.conv.padding, g.pool.P, g.pool.Q);
  const float* transformed = winograd_filters(call, g.conv);
  const cpu::PooledOutput output = output_of(call, g);
  const int64_t scratch_bytes = whole_lines(cpu::winograd_scratch_size(taps, channels, cut.batch_size));
  std::byte* scratch = call.workspace<std::byte>(cut.parts * scratch_bytes);
  cut.for_each_task([&](int64_t part, Range range, Range blocks) {
    cpu::winograd_max_pool(images,
                           {taps, range.begin, range.end, blocks.begin, blocks.end, g.conv.K, transformed,
                            scratch + part * scratch_bytes},
                           output);
  });
}

/// With fewer channels the transforms cost more than the products that they save.
constexpr int64_t kWinogradChannels = 5;

template <int64_t Taps>
bool takes_winograd(const Call& call) {
  auto& o = call.options<Conv2dMaxPool2dOptions>();
  const Shape& w = call.input(1).shape;
  return has_plain_output(call) && w[2] == Taps && w[3] == Taps && w[1] >= kWinogradChannels &&
         o.groups == 1 && o.stride == Pair(1) && o.dilation == Pair(1) && pools_2x2(o);
}

/// With pixels of size 1 and taps of size 1, a result is a sum of 9 products for each channel. Here it is one
/// of 3·3 products of a transformed tile and a transformed filter; along one axis their sizes are at most
/// 2 · 1, 2 · 1½ and 2 · 1½ for the even result, likewise for the odd one, together 8, hence 64 in two.
/// Roundings are no more than those of the direct sum: one for each channel, and a few for the transforms.
constexpr double kGrowth3x3 = 64.0 / 9;

/// Of 5×5 taps along one axis, at 0, ±½, ±2 and ∞: 6¼ · 1, 2 · 7½ · 31/30 and 2 · 3¾ · 31/30 for the even
/// result, 29½ in all; as much for the odd one.
constexpr double kGrowth5x5 = 29.5 * 29.5 / 25;

/// Below the direct variants: roundings grow more than where three taps are.
constexpr int kPreference5x5 = 5;

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_cpu_winograd(Registry& registry) {
  auto add = [&](const char* name, bool (*when)(const Call&), int preference, double growth) {
    add_variant(registry, "conv2d_max_pool2d",
                {.name = name,
                 .device = DeviceKind::cpu,
                 .run = run_winograd,
                 .when = when,
                 .preference = preference,
                 .error_growth = growth});
  };
  add("winograd", takes_winograd<3>, 20, kGrowth3x3);
  add("winograd_5x5", takes_winograd<5>, kPreference5x5, kGrowth5x5);
}

}  // namespace ops
}  // namespace treadle

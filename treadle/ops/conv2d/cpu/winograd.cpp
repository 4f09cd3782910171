/// conv2d, conv2d_relu and the gradient of conv2d's input on the cpu device by Winograd's F(4×4, 3×3), f32:
/// 3×3 windows of stride 1. The gradient is a convolution of dy with the filters turned by 180°, whose
/// channels and filters have changed places.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/conv2d_options.h"
#include "treadle/ops/conv2d/cpu/winograd_calls.h"
#include "treadle/ops/conv2d/cpu/winograd_convolution.h"
#include "treadle/ops/conv2d/cpu/winograd_tasks.h"

namespace treadle {
namespace {

/// A convolution of stride 1: `padding` above and on the left of x.
struct Convolution {
  const TensorView &x, &y;
  Pair padding;
  const float* transformed_filters;
  bool relu;
};

/// Filters of w [filters, channels, 3, 3], transformed, with the bias where the call has one.
const float* transformed_filters(const Call& call, const cpu::WinogradFilters& filters, bool with_bias) {
  const int64_t size = cpu::filter_block_size(cpu::kWinogradProducts, filters.channels);
  const float* bias = with_bias ? bias_of(call) : nullptr;
  auto fill = [&](float* transformed) {
    parallel_for(filters.blocks(), copies(size), [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block)
        cpu::winograd_filters(filters, block, bias, with_bias ? bias_step(call) : 0,
                              transformed + block * size);
    });
  };
  if (with_bias) return call.kept<float>(filters.blocks() * size, {1, 2}, fill);
  return call.kept<float>(filters.blocks() * size, {1}, fill);
}

/// Threads share the tiles of a region of all images, and the filters where tiles are few.
void convolve(const Call& call, const Convolution& convolution) {
  const TensorView &x = convolution.x, &y = convolution.y;
  const int64_t images_count = x.shape[0], channels = x.shape[1], filters = y.shape[1];
  const cpu::WinogradImages images = winograd_images(
      call, x, convolution.padding, winograd_tiles_along(y.shape[2]), winograd_tiles_along(y.shape[3]));
  const cpu::WinogradResults results{y.as<float>(), y.shape[2],   y.shape[3],   y.strides[0],
                                     y.strides[1],  y.strides[2], y.strides[3], convolution.relu};
  const int64_t most = cpu::winograd_tiles(channels), scratch_size = cpu::winograd_scratch(channels, most);
  const TileRegions regions(images_count, y.shape[2], y.shape[3]);
  float* scratch =
      call.workspace<float>(parts_of(regions.products(images_count) * channels * filters) * scratch_size);
  for (const TileRegion& region : regions) {
    const int64_t tiles = region.tiles(images_count);
    const WinogradCut cut(tiles, divide_up(filters, cpu::kWinogradFilters), most,
                          tiles * region.products() * channels * filters);
    cut.for_each_task([&](int64_t part, Range range, Range blocks) {
      cpu::winograd_convolution(
          region.of(images),
          {region.narrow_rows, region.narrow_columns, range.begin, range.end, tiles, blocks.begin, blocks.end,
           filters, convolution.transformed_filters, scratch + part * scratch_size},
          region.of(results));
    });
  }
}

template <bool Relu>
void run_forward(const Call& call) {
  const TensorView& w = call.input(1);
  const Pads& padding = call.options<Conv2dOptions>().padding;
  const cpu::WinogradFilters filters{w.as<float>(), w.shape[0],   w.shape[1],  w.strides[0],
                                     w.strides[1],  w.strides[2], w.strides[3]};
  convolve(call, {call.input(0),
                  call.output(),
                  {padding.top, padding.left},
                  transformed_filters(call, filters, true),
                  Relu});
}

void run_input_gradient(const Call& call) {
  const TensorView& w = call.input(1);
  const Pads& padding = call.options<Conv2dInputGradientOptions>().padding;
  const cpu::WinogradFilters filters{w.as<float>(), w.shape[1],   w.shape[0],   w.strides[1],
                                     w.strides[0],  w.strides[2], w.strides[3], true};
  convolve(call, {call.input(0),
                  call.output(),
                  {2 - padding.top, 2 - padding.left},
                  transformed_filters(call, filters, false),
                  false});
}

bool takes_forward(const Call& call) {
  return takes_winograd(call.options<Conv2dOptions>(), call.input(0), call.input(1), call.output());
}

bool takes_input_gradient(const Call& call) {
  return takes_winograd(call.options<Conv2dInputGradientOptions>(), call.output(), call.input(1),
                        call.input(0)) &&
         results_fill_tiles(call.output());
}

/// With pixels of size 1 and taps of size 1, a result is a sum of 9 products for each channel. Here it is one
/// of 6·6 products of a transformed tile and a transformed filter; along one axis their sizes, times the
/// power of the point, are at most 22 together for the first and for the last of the four results, less for
/// the others, hence 22² in two. Roundings are no more than those of the direct sum: one for each channel,
/// and about thirty for the transforms.
constexpr double kGrowth = 22.0 * 22 / 9;

}  // namespace

namespace ops {

void register_conv2d_cpu_winograd(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&), bool (*when)(const Call&)) {
    add_variant(registry, op,
                {.name = "winograd",
                 .device = DeviceKind::cpu,
                 .run = run,
                 .when = when,
                 .preference = kWinogradPreference,
                 .error_growth = kGrowth});
  };
  add("conv2d", run_forward<false>, takes_forward);
  add("conv2d_relu", run_forward<true>, takes_forward);
  add("conv2d_input_gradient", run_input_gradient, takes_input_gradient);
}

}  // namespace ops
}  // namespace treadle

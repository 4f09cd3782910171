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

/// Threads share the tiles of a region of all images, and the filters where tiles are few.
void convolve(const Call& call, const Convolution& convolution) {
  const TensorView &x = convolution.x, &y = convolution.y;
  const int64_t images_count = x.shape[0], channels = x.shape[1], filters = y.shape[1];
  const cpu::WinogradImages images = winograd_images(
      call, x, convolution.padding, winograd_tiles_along(y.shape[2]), winograd_tiles_along(y.shape[3]));
  const cpu::WinogradResults results{y.as<float>(), y.shape[2],   y.shape[3],   y.strides[0],
                                     y.strides[1],  y.strides[2], y.strides[3], convolution.relu};
  RegionTasks(images_count, y.shape[2], y.shape[3], channels, filters)
      .run(call, convolution.transformed_filters,
           [&](const TileRegion& region, const cpu::WinogradConvolutionTask& task) {
             cpu::winograd_convolution(region.of(images), task, region.of(results));
           });
}

template <bool Relu>
void run_forward(const Call& call) {
  const Pads& padding = call.options<Conv2dOptions>().padding;
  convolve(call,
           {call.input(0), call.output(), {padding.top, padding.left}, winograd_forward_filters(call), Relu});
}

void run_input_gradient(const Call& call) {
  const TensorView& w = call.input(1);
  const Pads& padding = call.options<Conv2dInputGradientOptions>().padding;
  const cpu::WinogradFilters filters{w.as<float>(), w.shape[1],   w.shape[0],   w.strides[1],
                                     w.strides[0],  w.strides[2], w.strides[3], true};
  convolve(call, {call.input(0),
                  call.output(),
                  {2 - padding.top, 2 - padding.left},
                  winograd_transformed(call, filters, false),
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
                 .error_growth = kWinogradGrowth4x4});
  };
  add("conv2d", run_forward<false>, takes_forward);
  add("conv2d_relu", run_forward<true>, takes_forward);
  add("conv2d_input_gradient", run_input_gradient, takes_input_gradient);
}

}  // namespace ops
}  // namespace treadle

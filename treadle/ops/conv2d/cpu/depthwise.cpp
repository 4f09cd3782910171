/// conv2d, conv2d_relu and both gradients of conv2d on the cpu device where each channel has one filter of
/// its own, f32, channels-last. The gradient of the input is a convolution of dy with the filters turned by
/// 180°, for stride 1.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/conv2d/conv2d_options.h"
#include "treadle/ops/conv2d/cpu/convolution_tasks.h"
#include "treadle/ops/conv2d/cpu/depthwise_rows.h"

namespace treadle {
namespace {

template <class T>
cpu::DepthwiseImages<T> images_of(const TensorView& view) {
  return {view.as<float>(), view.strides[0], view.strides[2], view.strides[3]};
}

/// A row of results: each multiply-add reads a pixel that lies in a cache.
Nanoseconds row_time(const WindowGeometry& g, int64_t channels) {
  constexpr double kMultiplyAdd = 0.03;
  return {kMultiplyAdd * double(g.Q * g.R * g.S * channels)};
}

const float* row_of_zeros(const Call& call, int64_t floats) {
  float* zeros = call.workspace<float>(floats);
  std::fill_n(zeros, floats, 0.0f);
  return zeros;
}

/// w [C, 1, R, S] as [R·S][channel], turned where it is for a gradient.
const float* taps_of(const Call& call, const TensorView& w, bool turned) {
  const int64_t C = w.shape[0], R = w.shape[2], S = w.shape[3], step = cpu::depthwise_tap_step(C);
  return call.kept<float>(R * S * step, {1}, [&](float* taps) {
    std::fill_n(taps, R * S * step, 0.0f);
    for (int64_t r = 0; r < R; ++r)
      for (int64_t s = 0; s < S; ++s) {
        const int64_t tap = turned ? (R - 1 - r) * S + S - 1 - s : r * S + s;
        for (int64_t c = 0; c < C; ++c)
          taps[tap * step + c] = w.as<float>()[c * w.strides[0] + r * w.strides[2] + s * w.strides[3]];
      }
  });
}

void convolve(int64_t images, const cpu::DepthwiseConvolution& convolution) {
  parallel_for(images * convolution.g.P, row_time(convolution.g, convolution.channels),
               [&](int64_t begin, int64_t end) { cpu::depthwise_rows(convolution, begin, end); });
}

template <bool Relu>
void run_forward(const Call& call) {
  const TensorView &x = call.input(0), &w = call.input(1);
  const Conv2dGeometry g = make_conv2d_geometry(x, w, call.output(), call.options<Conv2dOptions>());
  const float* bias = bias_in_a_row(call, g.C);
  convolve(g.N, {g, g.C, images_of<const float>(x), row_of_zeros(call, g.W * x.strides[3] + g.C),
                 taps_of(call, w, false), bias ? bias : row_of_zeros(call, g.C),
                 images_of<float>(call.output()), Relu});
}

void run_input_gradient(const Call& call) {
  const TensorView &dy = call.input(0), &w = call.input(1), &dx = call.output();
  const Conv2dGeometry g = make_conv2d_geometry(dx, w, dy, call.options<Conv2dInputGradientOptions>());
  WindowGeometry back = g;
  back.H = g.P, back.W = g.Q, back.P = g.H, back.Q = g.W;
  back.padding = {(g.R - 1) * g.dilation.height - g.padding.height,
                  (g.S - 1) * g.dilation.width - g.padding.width};
  convolve(g.N, {back, g.C, images_of<const float>(dy), row_of_zeros(call, g.Q * dy.strides[3] + g.C),
                 taps_of(call, w, true), row_of_zeros(call, g.C), images_of<float>(dx), false});
}

/// Each thread sums its rows. How many there are follows from the settings and the call alone.
void run_weight_gradient(const Call& call) {
  const TensorView &x = call.input(0), &dy = call.input(1), &dw = call.output();
  const Conv2dGeometry g = make_conv2d_geometry(x, dw, dy, call.options<Conv2dWeightGradientOptions>());
  const int64_t step = cpu::depthwise_tap_step(g.C), size = g.R * g.S * step;
  const Cut slices(g.N * g.P, parts_of(g.N * g.P * g.Q * g.R * g.S * g.C));
  float* sums = call.workspace<float>(slices.parts() * size);
  const cpu::DepthwiseWeights weights{g, g.C, images_of<const float>(x),
                                      row_of_zeros(call, g.W * x.strides[3] + g.C),
                                      images_of<const float>(dy)};
  parallel_for_parts(slices, [&](int64_t slice, Range rows) {
    std::fill_n(sums + slice * size, size, 0.0f);
    cpu::depthwise_add_weights(weights, rows.begin, rows.end, sums + slice * size);
  });
  for (int64_t c = 0; c < g.C; ++c)
    for (int64_t r = 0; r < g.R; ++r)
      for (int64_t s = 0; s < g.S; ++s) {
        float sum = 0;
        for (int64_t slice = 0; slice < slices.parts(); ++slice)
          sum += sums[slice * size + (r * g.S + s) * step + c];
        dw.as<float>()[c * dw.strides[0] + r * dw.strides[2] + s * dw.strides[3]] = sum;
      }
}

/// Whether each channel has its own filter, and channels are next to one another.
bool is_depthwise(const Conv2dOptions& o, const TensorView& x, const TensorView& w, const TensorView& y) {
  const int64_t C = x.shape[1];
  auto takes = [](const TensorView& view) {
    return view.strides[1] == 1 && view.strides[3] >= view.shape[1];
  };
  return x.dtype == DType::f32 && C > 1 && o.groups == C && w.shape[0] == C && x.numel() > 0 && takes(x) &&
         takes(y);
}

bool takes_forward(const Call& call) {
  return is_depthwise(call.options<Conv2dOptions>(), call.input(0), call.input(1), call.output());
}

/// What is left of the padding must not be negative.
bool takes_input_gradient(const Call& call) {
  const auto& o = call.options<Conv2dInputGradientOptions>();
  const Shape& w = call.input(1).shape;
  return is_depthwise(o, call.output(), call.input(1), call.input(0)) && o.stride == Pair(1) &&
         o.padding.top <= (w[2] - 1) * o.dilation.height && o.padding.left <= (w[3] - 1) * o.dilation.width;
}

bool takes_weight_gradient(const Call& call) {
  return is_depthwise(call.options<Conv2dWeightGradientOptions>(), call.input(0), call.output(),
                      call.input(1));
}

}  // namespace

namespace ops {

void register_conv2d_cpu_depthwise(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&), bool (*when)(const Call&)) {
    add_variant(registry, op,
                {.name = "depthwise", .device = DeviceKind::cpu, .run = run, .when = when, .preference = 15});
  };
  add("conv2d", run_forward<false>, takes_forward);
  add("conv2d_relu", run_forward<true>, takes_forward);
  add("conv2d_input_gradient", run_input_gradient, takes_input_gradient);
  add("conv2d_weight_gradient", run_weight_gradient, takes_weight_gradient);
}

}  // namespace ops
}  // namespace treadle

/// conv2d and its gradients, the plainest way: one thread per element of the result, every operand read from
/// global memory.
#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/layout/cuda/copy_elements.cuh"

namespace treadle::TREADLE_TARGET {

/// Thread i owns element i of y, in the order of memory. Reads 2·C/groups·R·S elements, writes one.
template <class T>
__global__ void conv2d_naive(Conv2dGeometry g, const T* x, const T* w, const T* b, int64_t b_stride, T* y) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= g.N * g.K * g.P * g.Q) return;
  const Position4 at = position_in(g.y, i);  // c: the filter, h and w: the window
  const int64_t first_channel = at.c / g.filters * g.channels;
  Compute<T> sum = 0;
  for (int64_t c = 0; c < g.channels; ++c)
    for (int64_t r = 0; r < g.R; ++r)
      for (int64_t s = 0; s < g.S; ++s) {
        const int64_t h = g.row(at.h, r), v = g.column(at.w, s);
        if (g.inside(h, v))
          sum += Compute<T>(x[g.x.at(at.n, first_channel + c, h, v)]) * Compute<T>(w[g.w.at(at.c, c, r, s)]);
      }
  if (b) sum += Compute<T>(b[at.c * b_stride]);
  y[g.y.at(at.n, at.c, at.h, at.w)] = T(sum);
}

/// Thread i owns element i of dx, in the order of memory. Reads up to 2·K/groups·R·S elements, writes one.
template <class T>
__global__ void conv2d_input_gradient_naive(Conv2dGeometry g, const T* dy, const T* w, T* dx) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= g.N * g.C * g.H * g.W) return;
  const Position4 at = position_in(g.x, i);
  const int64_t first_filter = at.c / g.channels * g.filters;
  Compute<T> sum = 0;
  for (int64_t r = 0; r < g.R; ++r) {
    const int64_t p = g.window_of_row(at.h, r);
    for (int64_t s = 0; s < g.S && p >= 0; ++s) {
      const int64_t q = g.window_of_column(at.w, s);
      for (int64_t k = first_filter; k < first_filter + g.filters && q >= 0; ++k)
        sum += Compute<T>(dy[g.y.at(at.n, k, p, q)]) * Compute<T>(w[g.w.at(k, at.c % g.channels, r, s)]);
    }
  }
  dx[g.x.at(at.n, at.c, at.h, at.w)] = T(sum);
}

/// Thread i owns element i of dw. Reads up to 2·N·P·Q elements, writes one.
template <class T>
__global__ void conv2d_weight_gradient_naive(Conv2dGeometry g, const T* x, const T* dy, T* dw) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= g.K * g.channels * g.R * g.S) return;
  const Position4 at = position_in(g.w, i);  // n: the filter, h and w: the tap
  const int64_t channel = at.n / g.filters * g.channels + at.c;
  Compute<T> sum = 0;
  for (int64_t n = 0; n < g.N; ++n)
    for (int64_t p = 0; p < g.P; ++p)
      for (int64_t q = 0; q < g.Q; ++q) {
        const int64_t h = g.row(p, at.h), v = g.column(q, at.w);
        if (g.inside(h, v))
          sum += Compute<T>(x[g.x.at(n, channel, h, v)]) * Compute<T>(dy[g.y.at(n, at.n, p, q)]);
      }
  dw[g.w.at(at.n, at.c, at.h, at.w)] = T(sum);
}

namespace {

void run_forward(const Call& call) {
  const TensorView &x = call.input(0), &w = call.input(1), &y = call.output();
  const auto g = make_conv2d_geometry(x, w, y, call.options<Conv2dOptions>());
  const bool biased = call.has_input(2);
  with_floating_device_type(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<conv2d_naive<T>, independent>(stream_of(call), blocks_for(y.numel()), kThreads, 0, g, x.as<T>(),
                                         w.as<T>(), biased ? call.input(2).as<T>() : nullptr,
                                         biased ? call.input(2).strides[0] : 0, y.as<T>());
  });
}

void run_input_gradient(const Call& call) {
  const TensorView &dy = call.input(0), &w = call.input(1), &dx = call.output();
  const auto g = make_conv2d_geometry(dx, w, dy, call.options<Conv2dInputGradientOptions>());
  with_floating_device_type(dy.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<conv2d_input_gradient_naive<T>, independent>(stream_of(call), blocks_for(dx.numel()), kThreads, 0,
                                                        g, dy.as<T>(), w.as<T>(), dx.as<T>());
  });
}

void run_weight_gradient(const Call& call) {
  const TensorView &x = call.input(0), &dy = call.input(1), &dw = call.output();
  const auto g = make_conv2d_geometry(x, dw, dy, call.options<Conv2dWeightGradientOptions>());
  with_floating_device_type(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<conv2d_weight_gradient_naive<T>, independent>(stream_of(call), blocks_for(dw.numel()), kThreads, 0,
                                                         g, x.as<T>(), dy.as<T>(), dw.as<T>());
  });
}

}  // namespace

/// Fills the output of a conv2d call with its bias, for a library's convolution to add to.
void start_with_filter_bias(const Call& call) {
  const TensorView& bias = call.input(2);
  TensorView channels = bias;
  channels.shape = {1, bias.shape[0], 1, 1};
  channels.strides = {0, bias.strides[0], 0, 0};
  copy_elements(stream_of(call), call.output(), channels);
}

void register_conv2d_cuda_naive(Registry& registry) {
  add_variant(registry, "conv2d",
              {.name = "naive",
               .device = kDevice,
               .run = run_forward,
               .rung = 1,
               .idea = "a thread for each result reads its window and its filter from global memory"});
  add_variant(registry, "conv2d_input_gradient",
              {.name = "naive", .device = kDevice, .run = run_input_gradient});
  add_variant(registry, "conv2d_weight_gradient",
              {.name = "naive", .device = kDevice, .run = run_weight_gradient});
}

}  // namespace treadle::TREADLE_TARGET

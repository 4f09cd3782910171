/// avg_pool2d and its gradient, one thread per element of the result.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/pool2d/avg_pool2d_geometry.h"

namespace treadle::TREADLE_TARGET {

/// Thread i owns element i of y, in the order of memory. Reads up to R·S elements, writes one.
template <class T>
__global__ void avg_pool2d_naive(AvgPool2dGeometry g, const T* x, T* y) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= g.N * g.C * g.P * g.Q) return;
  const Position4 at = position_in(g.y, i);
  Compute<T> sum = 0;
  for (int64_t r = 0; r < g.R; ++r)
    for (int64_t s = 0; s < g.S; ++s) {
      const int64_t h = g.row(at.h, r), w = g.column(at.w, s);
      if (g.inside(h, w)) sum += Compute<T>(x[g.x.at(at.n, at.c, h, w)]);
    }
  y[g.y.at(at.n, at.c, at.h, at.w)] = T(sum / Compute<T>(g.places(at.h, at.w)));
}

/// Thread i owns element i of dx, in the order of memory. Reads up to R·S elements, writes one.
template <class T>
__global__ void avg_pool2d_gradient_naive(AvgPool2dGeometry g, const T* dy, T* dx) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= g.N * g.C * g.H * g.W) return;
  const Position4 at = position_in(g.x, i);
  Compute<T> sum = 0;
  for (int64_t r = 0; r < g.R; ++r) {
    const int64_t p = g.window_of_row(at.h, r);
    for (int64_t s = 0; s < g.S && p >= 0; ++s) {
      const int64_t q = g.window_of_column(at.w, s);
      if (q >= 0) sum += Compute<T>(dy[g.y.at(at.n, at.c, p, q)]) / Compute<T>(g.places(p, q));
    }
  }
  dx[g.x.at(at.n, at.c, at.h, at.w)] = T(sum);
}

namespace {

void run_forward(const Call& call) {
  const TensorView &x = call.input(0), &y = call.output();
  const auto g = make_avg_pool2d_geometry(x, y, call.options<AvgPool2dOptions>());
  with_floating_device_type(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<avg_pool2d_naive<T>, independent>(stream_of(call), blocks_for(y.numel()), kThreads, 0, g,
                                             x.as<T>(), y.as<T>());
  });
}

void run_gradient(const Call& call) {
  const TensorView &dy = call.input(0), &dx = call.output();
  const auto g = make_avg_pool2d_geometry(dx, dy, call.options<AvgPool2dGradientOptions>());
  with_floating_device_type(dy.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<avg_pool2d_gradient_naive<T>, independent>(stream_of(call), blocks_for(dx.numel()), kThreads, 0, g,
                                                      dy.as<T>(), dx.as<T>());
  });
}

}  // namespace

void register_pool2d_cuda_avg_pool2d(Registry& registry) {
  add_variant(registry, "avg_pool2d", {.name = "naive", .device = kDevice, .run = run_forward});
  add_variant(registry, "avg_pool2d_gradient", {.name = "naive", .device = kDevice, .run = run_gradient});
}

}  // namespace treadle::TREADLE_TARGET

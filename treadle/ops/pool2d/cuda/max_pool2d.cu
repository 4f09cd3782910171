/// max_pool2d and its gradient, one thread per element of the result.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/pool2d/max_pool2d_options.h"
#include "treadle/ops/pool2d/pool2d_geometry.h"

namespace treadle::TREADLE_TARGET {

/// Thread i owns element i of y and its position, in the order of memory. Reads up to R·S elements, writes
/// one and 4 bytes.
template <class T>
__global__ void max_pool2d_naive(Pool2dGeometry g, Operand4 argmax, const T* x, T* y, int32_t* positions) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= g.N * g.C * g.P * g.Q) return;
  const Position4 at = position_in(g.y, i);
  Compute<T> best = -Compute<T>(INFINITY);
  int32_t position = -1;
  for (int64_t r = 0; r < g.R; ++r)
    for (int64_t s = 0; s < g.S; ++s) {
      const int64_t h = g.row(at.h, r), w = g.column(at.w, s);
      if (!g.inside(h, w)) continue;
      const Compute<T> value = Compute<T>(x[g.x.at(at.n, at.c, h, w)]);
      if (position >= 0 && (value <= best || best != best)) continue;
      best = value, position = int32_t(h * g.W + w);
    }
  y[g.y.at(at.n, at.c, at.h, at.w)] = T(best);
  positions[argmax.at(at.n, at.c, at.h, at.w)] = position;
}

/// Thread i owns element i of dx, in the order of memory, and asks the windows that hold it in turn: no two
/// threads write to one place, and the sum has one order. Reads up to R·S elements and positions, writes one
/// element.
template <class T>
__global__ void max_pool2d_gradient_naive(Pool2dGeometry g, Operand4 argmax, const T* dy,
                                          const int32_t* positions, T* dx) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= g.N * g.C * g.H * g.W) return;
  const Position4 at = position_in(g.x, i);
  const int32_t position = int32_t(at.h * g.W + at.w);
  Compute<T> sum = 0;
  for (int64_t r = 0; r < g.R; ++r) {
    const int64_t p = g.window_of_row(at.h, r);
    for (int64_t s = 0; s < g.S && p >= 0; ++s) {
      const int64_t q = g.window_of_column(at.w, s);
      if (q >= 0 && positions[argmax.at(at.n, at.c, p, q)] == position)
        sum += Compute<T>(dy[g.y.at(at.n, at.c, p, q)]);
    }
  }
  dx[g.x.at(at.n, at.c, at.h, at.w)] = T(sum);
}

namespace {

void run_forward(const Call& call) {
  const TensorView &x = call.input(0), &y = call.output(), &positions = call.output(1);
  const auto& o = call.options<MaxPool2dOptions>();
  const auto g = make_pool2d_geometry(x, y, o.kernel, o.stride, o.padding, o.dilation);
  with_floating_device_type(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<max_pool2d_naive<T>, independent>(stream_of(call), blocks_for(y.numel()), kThreads, 0, g,
                                             make_operand4(positions), x.as<T>(), y.as<T>(),
                                             positions.as<int32_t>());
  });
}

void run_gradient(const Call& call) {
  const TensorView &dy = call.input(0), &positions = call.input(1), &dx = call.output();
  const auto& o = call.options<MaxPool2dGradientOptions>();
  const auto g = make_pool2d_geometry(dx, dy, o.kernel, o.stride, o.padding, o.dilation);
  with_floating_device_type(dy.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<max_pool2d_gradient_naive<T>, independent>(stream_of(call), blocks_for(dx.numel()), kThreads, 0, g,
                                                      make_operand4(positions), dy.as<T>(),
                                                      positions.as<int32_t>(), dx.as<T>());
  });
}

}  // namespace

void register_pool2d_cuda_max_pool2d(Registry& registry) {
  add_variant(registry, "max_pool2d",
              {.name = "naive",
               .device = kDevice,
               .run = run_forward,
               .rung = 1,
               .idea = "a thread for each result walks its window"});
  add_variant(registry, "max_pool2d_gradient", {.name = "naive", .device = kDevice, .run = run_gradient});
}

}  // namespace treadle::TREADLE_TARGET

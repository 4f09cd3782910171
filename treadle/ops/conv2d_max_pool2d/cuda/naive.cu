/// conv2d_max_pool2d and its gradients, the plainest way: one thread per element of the result, every operand
/// read from global memory.
#include "treadle/ops/conv2d_max_pool2d/cuda/conv2d_max_pool2d.cuh"

namespace treadle::TREADLE_TARGET {

/// The convolution at place (row, column) of image n for filter k, without the bias.
template <class T>
__device__ Compute<T> convolution_at(const ConvPoolOperands<T>& in, int64_t n, int64_t k, int64_t row,
                                     int64_t column) {
  const Conv2dGeometry& g = in.g.conv;
  const int64_t first_channel = k / g.filters * g.channels;
  Compute<T> sum = 0;
  for (int64_t c = 0; c < g.channels; ++c)
    for (int64_t r = 0; r < g.R; ++r)
      for (int64_t s = 0; s < g.S; ++s) {
        const int64_t h = g.row(row, r), v = g.column(column, s);
        if (g.inside(h, v))
          sum += Compute<T>(in.x[g.x.at(n, first_channel + c, h, v)]) * Compute<T>(in.w[g.w.at(k, c, r, s)]);
      }
  return sum;
}

/// Thread i owns element i of y and its choice, in the order of memory. Reads 2·C/groups·R·S elements for
/// each place of the window, writes one element and one byte.
template <class T>
__global__ void conv2d_max_pool2d_naive(ConvPoolOperands<T> in) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const Pool2dGeometry& pool = in.g.pool;
  if (i >= pool.N * pool.C * pool.P * pool.Q) return;
  const Position4 at = position_in(pool.y, i);
  LargestInWindow<Compute<T>> best;
  for (int place = 0; place < pool.R * pool.S; ++place) {
    const ChosenPlace conv = chosen_place(pool, at.h, at.w, uint8_t(place));
    if (conv.row >= 0) best.offer(convolution_at(in, at.n, at.c, conv.row, conv.column), place);
  }
  in.store(at.n, at.c, at.h, at.w, best);
}

/// What comes back to place (row, column) of the convolution's result: the sum of dy over the windows of
/// image n and filter k that chose it.
template <class T>
__device__ Compute<T> gradient_at(const PooledGradient<T>& in, int64_t n, int64_t k, int64_t row,
                                  int64_t column) {
  const Pool2dGeometry& pool = in.g.pool;
  Compute<T> sum = 0;
  for (int place = 0; place < pool.R * pool.S; ++place) {
    const int64_t p = pool.window_of_row(row, place / pool.S);
    const int64_t q = pool.window_of_column(column, place % pool.S);
    if (p >= 0 && q >= 0 && in.chosen(n, k, p, q) == place) sum += in.at(n, k, p, q);
  }
  return sum;
}

/// Thread i owns element i of dx, in the order of memory. For each filter of the group and tap it reads a
/// byte for every window that holds the place, and an element of dy for those that chose it; writes one
/// element.
template <class T>
__global__ void conv2d_max_pool2d_input_gradient_naive(PooledGradient<T> in, const T* w, T* dx) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const Conv2dGeometry& g = in.g.conv;
  if (i >= g.N * g.C * g.H * g.W) return;
  const Position4 at = position_in(g.x, i);
  const int64_t first_filter = at.c / g.channels * g.filters;
  Compute<T> sum = 0;
  for (int64_t r = 0; r < g.R; ++r) {
    const int64_t row = g.window_of_row(at.h, r);
    for (int64_t s = 0; s < g.S && row >= 0; ++s) {
      const int64_t column = g.window_of_column(at.w, s);
      for (int64_t k = first_filter; k < first_filter + g.filters && column >= 0; ++k)
        sum += gradient_at(in, at.n, k, row, column) * Compute<T>(w[g.w.at(k, at.c % g.channels, r, s)]);
    }
  }
  dx[g.x.at(at.n, at.c, at.h, at.w)] = T(sum);
}

/// Thread i owns element i of dw. Reads N·P·Q choices and up to twice as many elements, writes one.
template <class T>
__global__ void conv2d_max_pool2d_weight_gradient_naive(PooledGradient<T> in, const T* x, T* dw) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const Conv2dGeometry& g = in.g.conv;
  const Pool2dGeometry& pool = in.g.pool;
  if (i >= g.K * g.channels * g.R * g.S) return;
  const Position4 at = position_in(g.w, i);  // n: the filter, h and w: the tap
  const int64_t channel = at.n / g.filters * g.channels + at.c;
  Compute<T> sum = 0;
  for (int64_t n = 0; n < g.N; ++n)
    for (int64_t p = 0; p < pool.P; ++p)
      for (int64_t q = 0; q < pool.Q; ++q) {
        const ChosenPlace place = chosen_place(pool, p, q, uint8_t(in.chosen(n, at.n, p, q)));
        const int64_t h = g.row(place.row, at.h), v = g.column(place.column, at.w);
        if (place.row >= 0 && g.inside(h, v))
          sum += Compute<T>(x[g.x.at(n, channel, h, v)]) * in.at(n, at.n, p, q);
      }
  dw[g.w.at(at.n, at.c, at.h, at.w)] = T(sum);
}

/// Thread k owns element k of db. Reads N·P·Q choices and as many elements of dy, writes one.
template <class T>
__global__ void conv2d_max_pool2d_bias_gradient_naive(PooledGradient<T> in, T* db, int64_t stride) {
  const int64_t k = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const Pool2dGeometry& pool = in.g.pool;
  if (k >= pool.C) return;
  Compute<T> sum = 0;
  for (int64_t n = 0; n < pool.N; ++n)
    for (int64_t p = 0; p < pool.P; ++p)
      for (int64_t q = 0; q < pool.Q; ++q)
        if (chosen_place(pool, p, q, uint8_t(in.chosen(n, k, p, q))).row >= 0) sum += in.at(n, k, p, q);
  db[k * stride] = T(sum);
}

namespace {

void run_forward(const Call& call) {
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<conv2d_max_pool2d_naive<T>, independent>(stream_of(call), blocks_for(call.output().numel()),
                                                    kThreads, 0, conv_pool_operands<T>(call));
  });
}

void run_input_gradient(const Call& call) {
  const TensorView& dx = call.output();
  with_floating_device_type(dx.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<conv2d_max_pool2d_input_gradient_naive<T>, independent>(
        stream_of(call), blocks_for(dx.numel()), kThreads, 0, input_gradient_operands<T>(call),
        call.input(2).as<T>(), dx.as<T>());
  });
}

void run_weight_gradient(const Call& call) {
  const TensorView &x = call.input(0), &dw = call.output(0), &db = call.output(1);
  with_floating_device_type(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto in = weight_gradient_operands<T>(call);
    if (dw.numel() > 0)
      launch<conv2d_max_pool2d_weight_gradient_naive<T>, independent>(stream_of(call), blocks_for(dw.numel()),
                                                                      kThreads, 0, in, x.as<T>(), dw.as<T>());
    launch<conv2d_max_pool2d_bias_gradient_naive<T>, independent>(stream_of(call), blocks_for(db.numel()),
                                                                  kThreads, 0, in, db.as<T>(), db.strides[0]);
  });
}

}  // namespace

void register_conv2d_max_pool2d_cuda_naive(Registry& registry) {
  add_variant(registry, "conv2d_max_pool2d",
              {.name = "naive",
               .device = kDevice,
               .run = run_forward,
               .rung = 1,
               .idea = "a thread for each window computes its places one after another"});
  auto add = [&](const char* op, void (*run)(const Call&)) {
    add_variant(registry, op, {.name = "naive", .device = kDevice, .run = run});
  };
  add("conv2d_max_pool2d_input_gradient", run_input_gradient);
  add("conv2d_max_pool2d_weight_gradient", run_weight_gradient);
}

}  // namespace treadle::TREADLE_TARGET

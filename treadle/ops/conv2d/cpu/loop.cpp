/// conv2d and its gradients on the cpu device by plain loops: any dtype, any strides.
#include <vector>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/conv2d_geometry.h"

namespace treadle {
namespace {

constexpr double kProduct = 0.125;  ///< nanoseconds

/// Calls plane(first, second) for all pairs, spread over threads; `work` products each.
template <class Plane>
void for_each_plane(int64_t firsts, int64_t seconds, int64_t work, Plane plane) {
  parallel_for(firsts * seconds, Nanoseconds{kProduct * double(work)}, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) plane(i / seconds, i % seconds);
  });
}

/// sums (a plane of y's shape, row-major) += w · the places of x under tap (r, s).
template <class T>
void add_tap(const Conv2dGeometry& g, int64_t r, int64_t s, const T* x, Accumulate<T> w,
             Accumulate<T>* sums) {
  const int64_t step = g.stride.width * g.x.strides[3];
  const WindowRange rows = g.rows_inside(r), columns = g.columns_inside(s);
  for (int64_t p = rows.begin; p < rows.end; ++p) {
    const T* source = x + g.x.at(0, 0, g.row(p, r), g.column(0, s));
    for (int64_t q = columns.begin; q < columns.end; ++q)
      sums[p * g.Q + q] += Accumulate<T>(source[q * step]) * w;
  }
}

/// Writes a row-major plane of sums, plus `bias`.
template <class T>
void store_plane(const std::vector<Accumulate<T>>& sums, Accumulate<T> bias, const Operand4& layout,
                 T* plane) {
  const int64_t rows = layout.extents[2], columns = layout.extents[3];
  for (int64_t h = 0; h < rows; ++h)
    for (int64_t w = 0; w < columns; ++w) plane[layout.at(0, 0, h, w)] = T(sums[h * columns + w] + bias);
}

template <class T>
void forward(const Call& call, const Conv2dGeometry& g) {
  const T *x = call.input(0).as<T>(), *w = call.input(1).as<T>();
  const T* b = call.has_input(2) ? call.input(2).as<T>() : nullptr;
  T* y = call.output().as<T>();
  for_each_plane(g.N, g.K, g.P * g.Q * g.taps(), [&](int64_t n, int64_t k) {
    std::vector<Accumulate<T>> sums(g.P * g.Q);
    for (int64_t c = 0; c < g.channels; ++c)
      for (int64_t r = 0; r < g.R; ++r)
        for (int64_t s = 0; s < g.S; ++s)
          add_tap(g, r, s, x + g.x.at(n, k / g.filters * g.channels + c, 0, 0),
                  Accumulate<T>(w[g.w.at(k, c, r, s)]), sums.data());
    const Accumulate<T> bias = b ? Accumulate<T>(b[k * call.input(2).strides[0]]) : Accumulate<T>(0);
    store_plane(sums, bias, g.y, y + g.y.at(n, k, 0, 0));
  });
}

/// sums (a plane of x's shape, row-major) += w · dy, at the places under tap (r, s).
template <class T>
void add_tap_gradient(const Conv2dGeometry& g, int64_t r, int64_t s, const T* dy, Accumulate<T> w,
                      Accumulate<T>* sums) {
  const WindowRange rows = g.rows_inside(r), columns = g.columns_inside(s);
  for (int64_t p = rows.begin; p < rows.end; ++p) {
    const T* source = dy + g.y.at(0, 0, p, 0);
    Accumulate<T>* target = sums + g.row(p, r) * g.W;
    for (int64_t q = columns.begin; q < columns.end; ++q)
      target[g.column(q, s)] += Accumulate<T>(source[q * g.y.strides[3]]) * w;
  }
}

template <class T>
void input_gradient(const Call& call, const Conv2dGeometry& g) {
  const T *dy = call.input(0).as<T>(), *w = call.input(1).as<T>();
  T* dx = call.output().as<T>();
  for_each_plane(g.N, g.C, g.P * g.Q * g.filters * g.R * g.S, [&](int64_t n, int64_t c) {
    std::vector<Accumulate<T>> sums(g.H * g.W);
    const int64_t first = c / g.channels * g.filters;
    for (int64_t k = first; k < first + g.filters; ++k)
      for (int64_t r = 0; r < g.R; ++r)
        for (int64_t s = 0; s < g.S; ++s)
          add_tap_gradient(g, r, s, dy + g.y.at(n, k, 0, 0),
                           Accumulate<T>(w[g.w.at(k, c % g.channels, r, s)]), sums.data());
    store_plane(sums, Accumulate<T>(0), g.x, dx + g.x.at(n, c, 0, 0));
  });
}

/// Σ of x · dy over the windows of all images; x begins at the channel, dy at the filter.
template <class T>
Accumulate<T> dot_windows(const Conv2dGeometry& g, const T* x, const T* dy, int64_t r, int64_t s) {
  const int64_t x_step = g.stride.width * g.x.strides[3], y_step = g.y.strides[3];
  const WindowRange rows = g.rows_inside(r), columns = g.columns_inside(s);
  Accumulate<T> sum = 0;
  for (int64_t n = 0; n < g.N; ++n)
    for (int64_t p = rows.begin; p < rows.end; ++p) {
      const T *row = x + g.x.at(n, 0, g.row(p, r), g.column(0, s)), *gradient = dy + g.y.at(n, 0, p, 0);
      for (int64_t q = columns.begin; q < columns.end; ++q)
        sum += Accumulate<T>(row[q * x_step]) * Accumulate<T>(gradient[q * y_step]);
    }
  return sum;
}

template <class T>
void weight_gradient(const Call& call, const Conv2dGeometry& g) {
  const T *x = call.input(0).as<T>(), *dy = call.input(1).as<T>();
  T* dw = call.output().as<T>();
  for_each_plane(g.K, g.channels, g.N * g.P * g.Q * g.R * g.S, [&](int64_t k, int64_t c) {
    const T* image = x + g.x.at(0, k / g.filters * g.channels + c, 0, 0);
    for (int64_t r = 0; r < g.R; ++r)
      for (int64_t s = 0; s < g.S; ++s)
        dw[g.w.at(k, c, r, s)] = T(dot_windows(g, image, dy + g.y.at(0, k, 0, 0), r, s));
  });
}

void run_forward(const Call& call) {
  const auto g =
      make_conv2d_geometry(call.input(0), call.input(1), call.output(), call.options<Conv2dOptions>());
  with_floating_type(call.input(0).dtype, [&](auto tag) { forward<typename decltype(tag)::type>(call, g); });
}

void run_input_gradient(const Call& call) {
  const auto g = make_conv2d_geometry(call.output(), call.input(1), call.input(0),
                                      call.options<Conv2dInputGradientOptions>());
  with_floating_type(call.input(0).dtype,
                     [&](auto tag) { input_gradient<typename decltype(tag)::type>(call, g); });
}

void run_weight_gradient(const Call& call) {
  const auto g = make_conv2d_geometry(call.input(0), call.output(), call.input(1),
                                      call.options<Conv2dWeightGradientOptions>());
  with_floating_type(call.input(0).dtype,
                     [&](auto tag) { weight_gradient<typename decltype(tag)::type>(call, g); });
}

}  // namespace

namespace ops {

void register_conv2d_cpu_loop(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&)) {
    add_variant(registry, op, {.name = "loop", .device = DeviceKind::cpu, .run = run});
  };
  add("conv2d", run_forward);
  add("conv2d_input_gradient", run_input_gradient);
  add("conv2d_weight_gradient", run_weight_gradient);
}

}  // namespace ops
}  // namespace treadle

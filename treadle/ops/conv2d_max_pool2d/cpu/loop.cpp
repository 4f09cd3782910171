/// conv2d_max_pool2d and its gradients on the cpu device by plain loops: any dtype, any strides.
#include <cmath>
#include <limits>
#include <vector>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d_geometry.h"

namespace treadle {
namespace {

using Geometry = Conv2dMaxPool2dGeometry;

constexpr double kProduct = 0.125;  ///< nanoseconds

/// Calls f(i / inner, i % inner) for i in [0, outer · inner), spread over threads; `work` products each.
template <class F>
void for_each_pair(int64_t outer, int64_t inner, int64_t work, F f) {
  parallel_for(outer * inner, Nanoseconds{kProduct * double(work)}, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i / inner, i % inner);
  });
}

/// The convolution's result at one place, without the bias; x begins at the image's first channel of the
/// group, w at the filter.
template <class T>
Accumulate<T> product_sum(const Conv2dGeometry& g, const T* x, const T* w, int64_t row, int64_t column) {
  Accumulate<T> sum = 0;
  for (int64_t r = 0; r < g.R; ++r)
    for (int64_t s = 0; s < g.S; ++s) {
      const int64_t h = g.row(row, r), v = g.column(column, s);
      if (!g.inside(h, v)) continue;
      for (int64_t c = 0; c < g.channels; ++c)
        sum += Accumulate<T>(x[g.x.at(0, c, h, v)]) * Accumulate<T>(w[g.w.at(0, c, r, s)]);
    }
  return sum;
}

template <class A>
struct Largest {
  A value = -std::numeric_limits<A>::infinity();
  uint8_t place = kNoChoice;
};

/// The first largest place of window (p, q), NaN above all.
template <class T>
Largest<Accumulate<T>> largest_in_window(const Geometry& g, const T* x, const T* w, Accumulate<T> bias,
                                         int64_t p, int64_t q) {
  Largest<Accumulate<T>> best;
  for (int64_t place = 0; place < g.places(); ++place) {
    const ChosenPlace at = chosen_place(g.pool, p, q, uint8_t(place));
    if (at.row < 0) continue;
    const Accumulate<T> value = product_sum(g.conv, x, w, at.row, at.column) + bias;
    if (best.place != kNoChoice && (value <= best.value || std::isnan(best.value))) continue;
    best = {value, uint8_t(place)};
  }
  return best;
}

template <class A>
Largest<A> relu(const Largest<A>& best) {
  if (best.value > 0) return best;
  return {std::isnan(best.value) ? best.value : A(0), kNoChoice};
}

template <class T>
void forward(const Call& call, const Geometry& g) {
  const bool with_relu = call.options<Conv2dMaxPool2dOptions>().relu;
  const T *x = call.input(0).as<T>(), *w = call.input(1).as<T>();
  const T* b = call.has_input(2) ? call.input(2).as<T>() : nullptr;
  T* y = call.output(0).as<T>();
  const bool chooses = call.options<Conv2dMaxPool2dOptions>().choice;
  uint8_t* choice = chooses ? call.output(1).as<uint8_t>() : nullptr;
  const Operand4 choices = chooses ? make_operand4(call.output(1)) : Operand4{};
  const int64_t work = g.pool.P * g.pool.Q * g.places() * g.conv.taps();
  for_each_pair(g.conv.N, g.conv.K, work, [&](int64_t n, int64_t k) {
    const Accumulate<T> bias = b ? Accumulate<T>(b[k * call.input(2).strides[0]]) : Accumulate<T>(0);
    const T* image = x + g.conv.x.at(n, k / g.conv.filters * g.conv.channels, 0, 0);
    for (int64_t p = 0; p < g.pool.P; ++p)
      for (int64_t q = 0; q < g.pool.Q; ++q) {
        auto best = largest_in_window(g, image, w + g.conv.w.at(k, 0, 0, 0), bias, p, q);
        if (with_relu) best = relu(best);
        y[g.pool.y.at(n, k, p, q)] = T(best.value);
        if (chooses) choice[choices.at(n, k, p, q)] = best.place;
      }
  });
}

/// Calls f(window's element of dy as a sum, its place) for the windows of plane (n, k) that chose one.
template <class T, class F>
void for_each_choice(const Geometry& g, const T* dy, const uint8_t* choice, const Operand4& choices,
                     int64_t n, int64_t k, F f) {
  for (int64_t p = 0; p < g.pool.P; ++p)
    for (int64_t q = 0; q < g.pool.Q; ++q) {
      const ChosenPlace place = chosen_place(g.pool, p, q, choice[choices.at(n, k, p, q)]);
      if (place.row >= 0) f(Accumulate<T>(dy[g.pool.y.at(n, k, p, q)]), place);
    }
}

template <class T>
void input_gradient(const Call& call, const Geometry& geometry) {
  const Conv2dGeometry& g = geometry.conv;
  const T *dy = call.input(0).as<T>(), *w = call.input(2).as<T>();
  const uint8_t* choice = call.input(1).as<uint8_t>();
  const Operand4 choices = make_operand4(call.input(1));
  T* dx = call.output().as<T>();
  const int64_t work = geometry.pool.P * geometry.pool.Q * g.filters * g.R * g.S;
  for_each_pair(g.N, g.C, work, [&](int64_t n, int64_t c) {
    std::vector<Accumulate<T>> sums(g.H * g.W);
    const int64_t first = c / g.channels * g.filters;
    for (int64_t k = first; k < first + g.filters; ++k)
      for_each_choice(geometry, dy, choice, choices, n, k, [&](Accumulate<T> value, ChosenPlace place) {
        for (int64_t r = 0; r < g.R; ++r)
          for (int64_t s = 0; s < g.S; ++s) {
            const int64_t h = g.row(place.row, r), v = g.column(place.column, s);
            if (g.inside(h, v))
              sums[h * g.W + v] += value * Accumulate<T>(w[g.w.at(k, c % g.channels, r, s)]);
          }
      });
    for (int64_t h = 0; h < g.H; ++h)
      for (int64_t v = 0; v < g.W; ++v) dx[g.x.at(n, c, h, v)] = T(sums[h * g.W + v]);
  });
}

/// dw of filter k and one of its channels.
template <class T>
void weight_gradient_of_channel(const Call& call, const Geometry& geometry, int64_t k, int64_t c) {
  const Conv2dGeometry& g = geometry.conv;
  const T *x = call.input(0).as<T>(), *dy = call.input(1).as<T>();
  const uint8_t* choice = call.input(2).as<uint8_t>();
  std::vector<Accumulate<T>> sums(g.R * g.S);
  for (int64_t n = 0; n < g.N; ++n) {
    const T* plane = x + g.x.at(n, k / g.filters * g.channels + c, 0, 0);
    for_each_choice(geometry, dy, choice, make_operand4(call.input(2)), n, k,
                    [&](Accumulate<T> value, ChosenPlace place) {
                      for (int64_t r = 0; r < g.R; ++r)
                        for (int64_t s = 0; s < g.S; ++s) {
                          const int64_t h = g.row(place.row, r), v = g.column(place.column, s);
                          if (g.inside(h, v))
                            sums[r * g.S + s] += value * Accumulate<T>(plane[g.x.at(0, 0, h, v)]);
                        }
                    });
  }
  T* dw = call.output(0).as<T>();
  for (int64_t r = 0; r < g.R; ++r)
    for (int64_t s = 0; s < g.S; ++s) dw[g.w.at(k, c, r, s)] = T(sums[r * g.S + s]);
}

template <class T>
void bias_gradient(const Call& call, const Geometry& g) {
  const T* dy = call.input(1).as<T>();
  const Operand4 choices = make_operand4(call.input(2));
  for (int64_t k = 0; k < g.conv.K; ++k) {
    Accumulate<T> sum = 0;
    for (int64_t n = 0; n < g.conv.N; ++n)
      for_each_choice(g, dy, call.input(2).as<uint8_t>(), choices, n, k,
                      [&](Accumulate<T> value, ChosenPlace) { sum += value; });
    call.output(1).as<T>()[k * call.output(1).strides[0]] = T(sum);
  }
}

template <class T>
void weight_gradient(const Call& call, const Geometry& g) {
  for_each_pair(g.conv.K, g.conv.channels, g.conv.N * g.pool.P * g.pool.Q * g.conv.R * g.conv.S,
                [&](int64_t k, int64_t c) { weight_gradient_of_channel<T>(call, g, k, c); });
  bias_gradient<T>(call, g);
}

void run_forward(const Call& call) {
  const auto g = make_conv2d_max_pool2d_geometry(call.input(0), call.input(1), call.output(),
                                                 call.options<Conv2dMaxPool2dOptions>());
  with_floating_type(call.input(0).dtype, [&](auto tag) { forward<typename decltype(tag)::type>(call, g); });
}

void run_input_gradient(const Call& call) {
  const auto g = make_conv2d_max_pool2d_geometry(call.output(), call.input(2), call.input(0),
                                                 call.options<Conv2dMaxPool2dInputGradientOptions>());
  with_floating_type(call.input(0).dtype,
                     [&](auto tag) { input_gradient<typename decltype(tag)::type>(call, g); });
}

void run_weight_gradient(const Call& call) {
  const auto g = make_conv2d_max_pool2d_geometry(call.input(0), call.output(), call.input(1),
                                                 call.options<Conv2dMaxPool2dWeightGradientOptions>());
  with_floating_type(call.input(0).dtype,
                     [&](auto tag) { weight_gradient<typename decltype(tag)::type>(call, g); });
}

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_cpu_loop(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&)) {
    add_variant(registry, op, {.name = "loop", .device = DeviceKind::cpu, .run = run});
  };
  add("conv2d_max_pool2d", run_forward);
  add("conv2d_max_pool2d_input_gradient", run_input_gradient);
  add("conv2d_max_pool2d_weight_gradient", run_weight_gradient);
}

}  // namespace ops
}  // namespace treadle

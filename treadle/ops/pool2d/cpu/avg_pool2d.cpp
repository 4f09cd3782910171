/// The cpu variants of avg_pool2d and its gradient.
#include <vector>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/pool2d/avg_pool2d_geometry.h"

namespace treadle {
namespace {

constexpr double kPlace = 0.25;  ///< nanoseconds for a place that is looked at

/// The channels that the inner loop walks: all where they lie innermost in x and y, else one.
int64_t channels_per_line(const Pool2dGeometry& g) {
  return g.x.strides[1] == 1 && g.y.strides[1] == 1 ? g.C : 1;
}

/// to[i·to_step + c] += from[i·from_step + c] for `places` places i of `channels` channels c.
template <class C, class T>
void add_line(const T* from, int64_t from_step, int64_t places, int64_t channels, C* to, int64_t to_step) {
  if (channels == 1) {
    for (int64_t i = 0; i < places; ++i) to[i * to_step] += C(from[i * from_step]);
    return;
  }
  for (int64_t i = 0; i < places; ++i)
    for (int64_t c = 0; c < channels; ++c) to[i * to_step + c] += C(from[i * from_step + c]);
}

/// Row p of y, where x and y begin at the first of the channels. `sums` [Q, channels].
template <class T>
void forward_row(const AvgPool2dGeometry& g, const T* x, T* y, int64_t p, int64_t channels,
                 std::vector<Accumulate<T>>& sums) {
  sums.assign(g.Q * channels, Accumulate<T>(0));
  for (int64_t r = 0; r < g.R; ++r) {
    const int64_t h = g.row(p, r);
    for (int64_t s = 0; s < g.S && h >= 0 && h < g.H; ++s) {
      const WindowRange q = g.columns_inside(s);
      add_line(x + g.x.at(0, 0, h, g.column(q.begin, s)), g.stride.width * g.x.strides[3], q.end - q.begin,
               channels, sums.data() + q.begin * channels, channels);
    }
  }
  for (int64_t q = 0; q < g.Q; ++q) {
    const Accumulate<T> places = Accumulate<T>(g.places(p, q));
    for (int64_t c = 0; c < channels; ++c) y[g.y.at(0, 0, p, q) + c] = T(sums[q * channels + c] / places);
  }
}

/// shares [Q, channels] = row p of dy, each divided by its window's places.
template <class T>
void share_row(const AvgPool2dGeometry& g, const T* dy, int64_t p, int64_t channels,
               std::vector<Accumulate<T>>& shares) {
  shares.resize(g.Q * channels);
  for (int64_t q = 0; q < g.Q; ++q) {
    const Accumulate<T> places = Accumulate<T>(g.places(p, q));
    for (int64_t c = 0; c < channels; ++c)
      shares[q * channels + c] = Accumulate<T>(dy[g.y.at(0, 0, p, q) + c]) / places;
  }
}

/// Row h of dx, gathered from the rows of windows that hold it. `sums` [W, channels].
template <class T>
void gradient_row(const AvgPool2dGeometry& g, const T* dy, T* dx, int64_t h, int64_t channels,
                  std::vector<Accumulate<T>>& sums, std::vector<Accumulate<T>>& shares) {
  sums.assign(g.W * channels, Accumulate<T>(0));
  for (int64_t r = 0; r < g.R; ++r) {
    const int64_t p = g.window_of_row(h, r);
    if (p < 0) continue;
    share_row(g, dy, p, channels, shares);
    for (int64_t s = 0; s < g.S; ++s) {
      const WindowRange q = g.columns_inside(s);
      add_line(shares.data() + q.begin * channels, channels, q.end - q.begin, channels,
               sums.data() + g.column(q.begin, s) * channels, g.stride.width * channels);
    }
  }
  for (int64_t w = 0; w < g.W; ++w)
    for (int64_t c = 0; c < channels; ++c) dx[g.x.at(0, 0, h, w) + c] = T(sums[w * channels + c]);
}

/// Calls rows(n, first channel, row, sums, more sums) for all lines of `height` rows, spread over threads.
template <class C, class Row>
void for_each_line(const Pool2dGeometry& g, int64_t height, int64_t row_work, Row row) {
  const int64_t channels = channels_per_line(g), lines = channels == 1 ? g.C : 1;
  parallel_for(g.N * lines * height, Nanoseconds{kPlace * double(row_work * channels)},
               [&](int64_t begin, int64_t end) {
                 std::vector<C> sums, shares;
                 for (int64_t i = begin; i < end; ++i)
                   row(i / height / lines, i / height % lines, i % height, sums, shares);
               });
}

void run_forward(const Call& call) {
  const auto g = make_avg_pool2d_geometry(call.input(0), call.output(), call.options<AvgPool2dOptions>());
  with_floating_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = call.input(0).as<T>();
    T* y = call.output().as<T>();
    for_each_line<Accumulate<T>>(
        g, g.P, g.Q * g.R * g.S, [&](int64_t n, int64_t c, int64_t p, auto& sums, auto&) {
          forward_row(g, x + g.x.at(n, c, 0, 0), y + g.y.at(n, c, 0, 0), p, channels_per_line(g), sums);
        });
  });
}

void run_gradient(const Call& call) {
  const auto g =
      make_avg_pool2d_geometry(call.output(), call.input(0), call.options<AvgPool2dGradientOptions>());
  with_floating_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* dy = call.input(0).as<T>();
    T* dx = call.output().as<T>();
    for_each_line<Accumulate<T>>(g, g.H, g.W * g.R * g.S,
                                 [&](int64_t n, int64_t c, int64_t h, auto& sums, auto& shares) {
                                   gradient_row(g, dy + g.y.at(n, c, 0, 0), dx + g.x.at(n, c, 0, 0), h,
                                                channels_per_line(g), sums, shares);
                                 });
  });
}

}  // namespace

namespace ops {

void register_pool2d_cpu_avg_pool2d(Registry& registry) {
  add_variant(registry, "avg_pool2d", {.name = "loop", .device = DeviceKind::cpu, .run = run_forward});
  add_variant(registry, "avg_pool2d_gradient",
              {.name = "loop", .device = DeviceKind::cpu, .run = run_gradient});
}

}  // namespace ops
}  // namespace treadle

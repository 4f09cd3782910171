/// max_pool2d and its gradient on the cpu device: plain loops for any dtype and strides, SIMD rows for f32 in
/// the two layouts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/pool2d/cpu/pool_rows.h"
#include "treadle/ops/pool2d/max_pool2d_options.h"
#include "treadle/ops/pool2d/pool2d_geometry.h"
#include "treadle/simd/matrix_copy.h"

namespace treadle {
namespace {

/// Looking at so many places.
Nanoseconds looks(int64_t places) { return {0.25 * double(places)}; }

Pool2dGeometry geometry_of(const TensorView& x, const TensorView& y, const MaxPool2dOptions& o) {
  return make_pool2d_geometry(x, y, o.kernel, o.stride, o.padding, o.dilation);
}

/// Calls f(i) for i in [0, count), spread over threads; `work` places are looked at in each.
template <class F>
void parallel_each(int64_t count, int64_t work, F f) {
  parallel_for(count, looks(work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

template <class C>
struct Maximum {
  C value = -std::numeric_limits<C>::infinity();
  int32_t position = -1;
};

/// The first largest of window (p, q) in the plane that x begins with.
template <class T>
Maximum<HostCompute<T>> window_maximum(const Pool2dGeometry& g, const T* x, int64_t p, int64_t q) {
  Maximum<HostCompute<T>> best;
  for (int64_t r = 0; r < g.R; ++r)
    for (int64_t s = 0; s < g.S; ++s) {
      const int64_t h = g.row(p, r), w = g.column(q, s);
      if (!g.inside(h, w)) continue;
      const HostCompute<T> value = x[g.x.at(0, 0, h, w)];
      if (best.position >= 0 && (value <= best.value || std::isnan(best.value))) continue;
      best = {value, int32_t(h * g.W + w)};
    }
  return best;
}

template <class T>
void forward_planes(const Call& call, const Pool2dGeometry& g) {
  const Operand4 argmax = make_operand4(call.output(1));
  const T* x = call.input(0).as<T>();
  T* y = call.output().as<T>();
  int32_t* positions = call.output(1).as<int32_t>();
  parallel_each(g.N * g.C, g.P * g.Q * g.R * g.S, [&](int64_t plane) {
    const int64_t n = plane / g.C, c = plane % g.C;
    for (int64_t p = 0; p < g.P; ++p)
      for (int64_t q = 0; q < g.Q; ++q) {
        const auto best = window_maximum(g, x + g.x.at(n, c, 0, 0), p, q);
        y[g.y.at(n, c, p, q)] = T(best.value);
        positions[argmax.at(n, c, p, q)] = best.position;
      }
  });
}

/// Whether `distance` from a window's first place is one of its `taps`, `dilation` apart.
bool is_tap(int64_t distance, int64_t taps, int64_t dilation) {
  return distance >= 0 && distance < taps * dilation && (dilation == 1 || distance % dilation == 0);
}

template <class T>
void gradient_planes(const Call& call, const Pool2dGeometry& g) {
  const Operand4 argmax = make_operand4(call.input(1));
  const T* dy = call.input(0).as<T>();
  const int32_t* positions = call.input(1).as<int32_t>();
  T* dx = call.output().as<T>();
  const uint32_t places = uint32_t(g.H * g.W), width = uint32_t(g.W);
  parallel_each(g.N * g.C, g.H * g.W, [&](int64_t plane) {
    const int64_t n = plane / g.C, c = plane % g.C;
    std::vector<HostCompute<T>> sums(places);
    for (int64_t p = 0; p < g.P; ++p)
      for (int64_t q = 0; q < g.Q; ++q) {
        const uint32_t position = uint32_t(positions[argmax.at(n, c, p, q)]);
        if (position >= places) continue;  // −1 too
        const uint32_t h = position / width, w = position % width;
        if (is_tap(h - g.row(p, 0), g.R, g.dilation.height) &&
            is_tap(w - g.column(q, 0), g.S, g.dilation.width))
          sums[position] += HostCompute<T>(dy[g.y.at(n, c, p, q)]);
      }
    for (int64_t h = 0; h < g.H; ++h)
      for (int64_t w = 0; w < g.W; ++w) dx[g.x.at(n, c, h, w)] = T(sums[h * g.W + w]);
  });
}

void run_forward_planes(const Call& call) {
  const auto g = geometry_of(call.input(0), call.output(), call.options<MaxPool2dOptions>());
  with_floating_type(call.input(0).dtype,
                     [&](auto tag) { forward_planes<typename decltype(tag)::type>(call, g); });
}

void run_gradient_planes(const Call& call) {
  const auto g = geometry_of(call.output(), call.input(0), call.options<MaxPool2dGradientOptions>());
  with_floating_type(call.input(0).dtype,
                     [&](auto tag) { gradient_planes<typename decltype(tag)::type>(call, g); });
}

/// The taps of a window that lie inside x, gathered for the row kernels.
template <class Pointer>
class TapList {
 public:
  explicit TapList(const Pool2dGeometry& g) : g_(g), first_(g.R * g.S), positions_(g.R * g.S) {}

  /// Taps of window (p, q); `image` is the image's first element.
  void gather(Pointer image, int64_t p, int64_t q) {
    count_ = 0;
    for_each_tap_inside(g_, p, q, [&](int64_t, int64_t h, int64_t w) {
      first_[count_] = image + g_.x.at(0, 0, h, w);
      positions_[count_++] = int32_t(h * g_.W + w);
    });
  }
  /// The same taps for the windows that follow, `step` elements and `position_step` places apart.
  cpu::RowTaps<Pointer> taps(int64_t step, int64_t position_step) const {
    return {count_, first_.data(), positions_.data(), step, int32_t(position_step)};
  }
  bool empty() const { return count_ == 0; }

 private:
  const Pool2dGeometry& g_;
  std::vector<Pointer> first_;
  std::vector<int32_t> positions_;
  int64_t count_ = 0;
};

void fill_outside(int64_t windows, float* y, int32_t* positions) {
  std::fill_n(y, windows, -std::numeric_limits<float>::infinity());
  std::fill_n(positions, windows, -1);
}

/// Calls run(q, windows) for the windows of a row: those that have all their columns at once, those that
/// stick out at the sides one by one.
template <class Run>
void for_each_run(const Pool2dGeometry& g, Run run) {
  const WindowRange whole = whole_columns(g);
  for (int64_t q = 0; q < whole.begin; ++q) run(q, 1);
  if (whole.end > whole.begin) run(whole.begin, whole.end - whole.begin);
  for (int64_t q = whole.end; q < g.Q; ++q) run(q, 1);
}

/// All channels of windows that follow one another at once.
void forward_channels_last(const Pool2dGeometry& g, const float* x, float* y, int32_t* positions) {
  parallel_for(g.N * g.P, looks(g.Q * g.C * g.R * g.S), [&](int64_t begin, int64_t end) {
    TapList<const float*> list(g);
    for (int64_t row = begin; row < end; ++row)
      for_each_run(g, [&](int64_t q, int64_t windows) {
        const int64_t offset = (row * g.Q + q) * g.C;
        list.gather(x + row / g.P * g.H * g.W * g.C, row % g.P, q);
        if (list.empty())
          fill_outside(windows * g.C, y + offset, positions + offset);
        else
          cpu::max_of_taps(list.taps(g.stride.width * g.C, g.stride.width), windows, g.C, y + offset,
                           positions + offset);
      });
  });
}

/// Row by row.
void forward_row_major(const Pool2dGeometry& g, const float* x, float* y, int32_t* positions) {
  parallel_for(g.N * g.C * g.P, looks(g.Q * g.R * g.S), [&](int64_t begin, int64_t end) {
    TapList<const float*> list(g);
    for (int64_t row = begin; row < end; ++row)
      for_each_run(g, [&](int64_t q, int64_t windows) {
        const int64_t offset = row * g.Q + q;
        list.gather(x + row / g.P * g.H * g.W, row % g.P, q);
        if (list.empty())
          fill_outside(windows, y + offset, positions + offset);
        else
          cpu::max_of_taps(list.taps(g.stride.width, g.stride.width), windows, y + offset,
                           positions + offset);
      });
  });
}

/// Whether all operands lie row-major, or channels-last: small ones lie both ways, and the others decide.
bool lie_row_major(const Call& call) {
  return call.input(0).contiguous() && call.output(0).contiguous() && call.output(1).contiguous();
}
bool lie_channels_last(const Call& call) {
  return call.input(0).channels_last() && call.output(0).channels_last() && call.output(1).channels_last();
}

void run_forward_rows(const Call& call) {
  const auto g = geometry_of(call.input(0), call.output(), call.options<MaxPool2dOptions>());
  auto* forward = lie_row_major(call) ? forward_row_major : forward_channels_last;
  forward(g, call.input(0).as<float>(), call.output().as<float>(), call.output(1).as<int32_t>());
}

bool takes_forward_rows(const Call& call) {
  return call.input(0).dtype == DType::f32 && (lie_row_major(call) || lie_channels_last(call));
}

/// Rows [begin, end) of x that belong to output row p alone, or to all where windows overlap.
struct Rows {
  int64_t begin, end;
};
Rows rows_of(const Pool2dGeometry& g, int64_t p) {
  const int64_t begin = p == 0 ? 0 : std::clamp<int64_t>(g.row(p, 0), 0, g.H);
  return {begin, p + 1 == g.P ? g.H : std::clamp<int64_t>(g.row(p + 1, 0), 0, g.H)};
}

/// dy channels-last. Behind a flattened pooling layer it arrives row-major.
const float* channels_last_gradient(const Call& call, const Pool2dGeometry& g) {
  const TensorView& dy = call.input(0);
  if (dy.channels_last()) return dy.as<float>();
  const int64_t windows = g.P * g.Q, image = g.C * windows;
  float* copy = call.workspace<float>(g.N * image);
  parallel_for(g.N, looks(image), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n)
      cpu::transpose(g.C, windows, dy.as<float>() + n * image, windows, copy + n * image, g.C);
  });
  return copy;
}

/// Output rows spread over threads where their windows share no row of x, else images.
void run_gradient_rows(const Call& call) {
  const auto g = geometry_of(call.output(), call.input(0), call.options<MaxPool2dGradientOptions>());
  const float* dy = channels_last_gradient(call, g);
  const int32_t* positions = call.input(1).as<int32_t>();
  float* dx = call.output().as<float>();
  const bool apart = (g.R - 1) * g.dilation.height < g.stride.height;
  const int64_t rows_per_item = apart ? 1 : g.P, items = g.N * g.P / rows_per_item, x_row = g.W * g.C;
  parallel_for(items, looks(rows_per_item * g.Q * g.C * g.R * g.S), [&](int64_t begin, int64_t end) {
    TapList<float*> list(g);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t n = item * rows_per_item / g.P, first = item * rows_per_item % g.P,
                    last = first + rows_per_item;
      float* image = dx + n * g.H * x_row;
      std::fill(image + rows_of(g, first).begin * x_row, image + rows_of(g, last - 1).end * x_row, 0.0f);
      for (int64_t p = first; p < last; ++p)
        for_each_run(g, [&](int64_t q, int64_t windows) {
          const int64_t offset = ((n * g.P + p) * g.Q + q) * g.C;
          list.gather(image, p, q);
          cpu::add_at_argmax(list.taps(g.stride.width * g.C, g.stride.width), windows, g.C, dy + offset,
                             positions + offset);
        });
    }
  });
}

bool takes_gradient_rows(const Call& call) {
  const TensorView& dy = call.input(0);
  return dy.dtype == DType::f32 && (dy.channels_last() || dy.contiguous()) && call.input(1).channels_last() &&
         call.output().channels_last();
}

}  // namespace

namespace ops {

void register_pool2d_cpu_max_pool2d(Registry& registry) {
  auto add = [&](const char* op, const char* name, void (*run)(const Call&), bool (*when)(const Call&),
                 int preference) {
    add_variant(
        registry, op,
        {.name = name, .device = DeviceKind::cpu, .run = run, .when = when, .preference = preference});
  };
  add("max_pool2d", "loop", run_forward_planes, nullptr, 0);
  add("max_pool2d", "simd", run_forward_rows, takes_forward_rows, 10);
  add("max_pool2d_gradient", "loop", run_gradient_planes, nullptr, 0);
  add("max_pool2d_gradient", "simd", run_gradient_rows, takes_gradient_rows, 10);
}

}  // namespace ops
}  // namespace treadle

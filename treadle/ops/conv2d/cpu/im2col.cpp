/// conv2d and its gradients on the cpu device as matrix products over unfolded windows; f32.
///
/// Some output rows of one image at a time are unfolded: `columns` holds a row per window and a column per
/// tap, taps in the order of memory of x. Chellapilla et al., High Performance Convolutional Neural Networks
/// for Document Processing, 2006.
#include <algorithm>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/simd/gemm.h"

namespace treadle {
namespace {

constexpr int64_t kColumnsBytes = 256 * 1024;  ///< unfolded at a time: stays in L2

/// A convolution cut into work items, each some output rows of one image.
struct Unfolding {
  Conv2dGeometry g;
  int64_t rows_per_item, items_per_image;

  explicit Unfolding(const Conv2dGeometry& geometry) : g(geometry) {
    const int64_t row_bytes = g.Q * g.taps() * int64_t(sizeof(float));
    rows_per_item = std::clamp<int64_t>(kColumnsBytes / std::max<int64_t>(row_bytes, 1), 1, g.P);
    items_per_image = (g.P + rows_per_item - 1) / rows_per_item;
  }
  bool taps_end_with_channel() const { return g.x.channels_last; }
  int64_t tap(int64_t c, int64_t r, int64_t s) const {
    return taps_end_with_channel() ? (r * g.S + s) * g.channels + c : (c * g.R + r) * g.S + s;
  }
  /// From one channel's tap to the next channel's.
  int64_t channel_step() const { return taps_end_with_channel() ? 1 : g.R * g.S; }
  int64_t columns_size() const { return rows_per_item * g.Q * g.taps(); }
};

/// Output rows [begin, end) of image n.
struct Item {
  int64_t n, begin, end;
};
Item item_at(const Unfolding& u, int64_t index) {
  const int64_t begin = index % u.items_per_image * u.rows_per_item;
  return {index / u.items_per_image, begin, std::min(begin + u.rows_per_item, u.g.P)};
}

/// Calls place(offset in x, offset in columns) for each window of the item and each (r, s) that lies inside
/// x: where the channels of the place begin. `outside` is called with the offset in columns of the others.
template <class Place, class Outside>
void for_each_place(const Unfolding& u, const Item& item, Place place, Outside outside) {
  const Conv2dGeometry& g = u.g;
  for (int64_t r = 0; r < g.R; ++r)
    for (int64_t s = 0; s < g.S; ++s) {
      const WindowRange inside = g.columns_inside(s);
      const int64_t x_step = g.stride.width * g.x.strides[3];
      for (int64_t p = item.begin; p < item.end; ++p) {
        const int64_t h = g.row(p, r), row = (p - item.begin) * g.Q * g.taps() + u.tap(0, r, s);
        const int64_t begin = h >= 0 && h < g.H ? inside.begin : g.Q, end = std::max(begin, inside.end);
        const int64_t offset = g.x.at(item.n, 0, h, g.column(0, s));
        for (int64_t q = 0; q < std::min(begin, g.Q); ++q) outside(row + q * g.taps());
        for (int64_t q = begin; q < std::min(end, g.Q); ++q) place(offset + q * x_step, row + q * g.taps());
        for (int64_t q = std::max(begin, end); q < g.Q; ++q) outside(row + q * g.taps());
      }
    }
}

/// Copies or adds a run of channels; a single channel is the common first layer.
template <class Apply>
void for_each_channel(int64_t channels, int64_t x_step, int64_t column_step, Apply apply) {
  if (channels == 1) return apply(0, 0);
  if (x_step == 1 && column_step == 1)
    for (int64_t c = 0; c < channels; ++c) apply(c, c);
  else
    for (int64_t c = 0; c < channels; ++c) apply(c * x_step, c * column_step);
}

/// Fills `columns` [windows, taps] from the group's channels; `x` begins at the first of them.
void unfold(const Unfolding& u, const Item& item, const float* x, float* columns) {
  const int64_t channels = u.g.channels, x_step = u.g.x.strides[1], column_step = u.channel_step();
  for_each_place(
      u, item,
      [=](int64_t from, int64_t to) {
        for_each_channel(channels, x_step, column_step,
                         [=](int64_t i, int64_t j) { columns[to + j] = x[from + i]; });
      },
      [=](int64_t to) {
        for (int64_t c = 0; c < channels; ++c) columns[to + c * column_step] = 0;
      });
}

/// The reverse: adds `columns` to the places of dx they were unfolded from.
void fold(const Unfolding& u, const Item& item, const float* columns, float* dx) {
  const int64_t channels = u.g.channels, x_step = u.g.x.strides[1], column_step = u.channel_step();
  for_each_place(
      u, item,
      [=](int64_t to, int64_t from) {
        for_each_channel(channels, x_step, column_step,
                         [=](int64_t i, int64_t j) { dx[to + i] += columns[from + j]; });
      },
      [](int64_t) {});
}

/// w as [filter, tap] with the taps in the order of the columns.
const float* filters_as_rows(const Call& call, const Unfolding& u) {
  const Conv2dGeometry& g = u.g;
  const TensorView& w = call.input(1);
  return call.kept<float>(g.K * g.taps(), {1}, [&](float* rows) {
    for (int64_t k = 0; k < g.K; ++k)
      for (int64_t c = 0; c < g.channels; ++c)
        for (int64_t r = 0; r < g.R; ++r)
          for (int64_t s = 0; s < g.S; ++s)
            rows[k * g.taps() + u.tap(c, r, s)] = w.as<float>()[g.w.at(k, c, r, s)];
  });
}

/// The item's part of y or dy from a filter on, as a matrix with unit steps along filters or along windows.
struct OutputMatrix {
  int64_t offset, leading;
  bool filters_are_columns;
};
OutputMatrix output_matrix(const Conv2dGeometry& g, const Item& item, int64_t filter) {
  const bool filters_are_columns = g.y.strides[1] == 1 || g.K == 1;
  return {g.y.at(item.n, filter, item.begin, 0), filters_are_columns ? g.y.strides[3] : g.y.strides[1],
          filters_are_columns};
}

int64_t windows(const Unfolding& u, const Item& item) { return (item.end - item.begin) * u.g.Q; }

/// y = columns · filtersᵀ, or its transpose, whichever y is stored as.
void multiply_filters(const Unfolding& u, const Item& item, int64_t group, const float* columns,
                      const float* filters, float* y) {
  const Conv2dGeometry& g = u.g;
  const OutputMatrix m = output_matrix(g, item, group * g.filters);
  const float* rows = filters + group * g.filters * g.taps();
  if (m.filters_are_columns)
    cpu::gemm(false, true, windows(u, item), g.filters, g.taps(), columns, g.taps(), rows, g.taps(),
              y + m.offset, m.leading, false);
  else
    cpu::gemm(false, true, g.filters, windows(u, item), g.taps(), rows, g.taps(), columns, g.taps(),
              y + m.offset, m.leading, false);
}

void add_bias(const Conv2dGeometry& g, const Item& item, const TensorView& b, float* y) {
  const float* bias = b.as<float>();
  const int64_t step = b.strides[0];
  for (int64_t p = item.begin; p < item.end; ++p) {
    float* row = y + g.y.at(item.n, 0, p, 0);
    if (g.y.strides[1] == 1) {
      for (int64_t q = 0; q < g.Q; ++q)
        for (int64_t k = 0; k < g.K; ++k) row[q * g.y.strides[3] + k] += bias[k * step];
    } else {
      for (int64_t k = 0; k < g.K; ++k)
        for (int64_t q = 0; q < g.Q; ++q) row[k * g.y.strides[1] + q * g.y.strides[3]] += bias[k * step];
    }
  }
}

/// The first element of a group's channels in x or dx.
template <class T>
T* group_channels(const Conv2dGeometry& g, T* x, int64_t group) {
  return x + group * g.channels * g.x.strides[1];
}

void run_forward(const Call& call) {
  const Unfolding u(
      make_conv2d_geometry(call.input(0), call.input(1), call.output(), call.options<Conv2dOptions>()));
  const float *x = call.input(0).as<float>(), *filters = filters_as_rows(call, u);
  float* y = call.output().as<float>();
  const Cut items(u.g.N * u.items_per_image, num_threads());
  float* scratch = call.workspace<float>(items.parts() * u.columns_size());
  parallel_for_parts(items, [&](int64_t part, Range range) {
    float* columns = scratch + part * u.columns_size();
    for (int64_t i = range.begin; i < range.end; ++i) {
      const Item item = item_at(u, i);
      for (int64_t group = 0; group < u.g.groups; ++group) {
        unfold(u, item, group_channels(u.g, x, group), columns);
        multiply_filters(u, item, group, columns, filters, y);
      }
      if (call.has_input(2)) add_bias(u.g, item, call.input(2), y);
    }
  });
}

/// columns = dy · filters, all of one item and group.
void multiply_output_gradient(const Unfolding& u, const Item& item, int64_t group, const float* dy,
                              const float* filters, float* columns) {
  const Conv2dGeometry& g = u.g;
  const OutputMatrix m = output_matrix(g, item, group * g.filters);
  cpu::gemm(!m.filters_are_columns, false, windows(u, item), g.taps(), g.filters, dy + m.offset, m.leading,
            filters + group * g.filters * g.taps(), g.taps(), columns, g.taps(), false);
}

/// Images are spread over threads; the items of one image meet in dx and stay on one thread.
void run_input_gradient(const Call& call) {
  const Unfolding u(make_conv2d_geometry(call.output(), call.input(1), call.input(0),
                                         call.options<Conv2dInputGradientOptions>()));
  const float *dy = call.input(0).as<float>(), *filters = filters_as_rows(call, u);
  float* dx = call.output().as<float>();
  const int64_t image = u.g.C * u.g.H * u.g.W;
  const Cut images(u.g.N, num_threads());
  float* scratch = call.workspace<float>(images.parts() * u.columns_size());
  parallel_for_parts(images, [&](int64_t part, Range range) {
    float* columns = scratch + part * u.columns_size();
    std::fill(dx + range.begin * image, dx + range.end * image, 0.0f);
    for (int64_t i = range.begin * u.items_per_image; i < range.end * u.items_per_image; ++i)
      for (int64_t group = 0; group < u.g.groups; ++group) {
        multiply_output_gradient(u, item_at(u, i), group, dy, filters, columns);
        fold(u, item_at(u, i), columns, group_channels(u.g, dx, group));
      }
  });
}

/// dw += dyᵀ · columns, as [filter, tap].
void add_weight_gradient(const Unfolding& u, const Item& item, int64_t group, const float* columns,
                         const float* dy, float* dw) {
  const Conv2dGeometry& g = u.g;
  const OutputMatrix m = output_matrix(g, item, group * g.filters);
  cpu::gemm(m.filters_are_columns, false, g.filters, g.taps(), windows(u, item), dy + m.offset, m.leading,
            columns, g.taps(), dw + group * g.filters * g.taps(), g.taps(), true);
}

/// Adds the slices' sums in order, and puts the taps into the order of dw.
void add_slices(const Unfolding& u, const float* sums, int64_t slices, float* dw) {
  const Conv2dGeometry& g = u.g;
  for (int64_t k = 0; k < g.K; ++k)
    for (int64_t c = 0; c < g.channels; ++c)
      for (int64_t r = 0; r < g.R; ++r)
        for (int64_t s = 0; s < g.S; ++s) {
          float sum = 0;
          for (int64_t slice = 0; slice < slices; ++slice)
            sum += sums[(slice * g.K + k) * g.taps() + u.tap(c, r, s)];
          dw[g.w.at(k, c, r, s)] = sum;
        }
}

/// Each slice of the batch sums on its own. The number of slices follows from the settings alone, so that the
/// same call gives the same bits wherever it runs.
void run_weight_gradient(const Call& call) {
  const Unfolding u(make_conv2d_geometry(call.input(0), call.output(), call.input(1),
                                         call.options<Conv2dWeightGradientOptions>()));
  const float *x = call.input(0).as<float>(), *dy = call.input(1).as<float>();
  const Cut slices(u.g.N * u.items_per_image, num_threads());
  const int64_t size = u.g.K * u.g.taps();
  float* scratch = call.workspace<float>(slices.parts() * u.columns_size());
  float* sums = call.workspace<float>(slices.parts() * size);
  std::fill_n(sums, slices.parts() * size, 0.0f);
  parallel_for_parts(slices, [&](int64_t slice, Range range) {
    float* columns = scratch + slice * u.columns_size();
    for (int64_t i = range.begin; i < range.end; ++i)
      for (int64_t group = 0; group < u.g.groups; ++group) {
        unfold(u, item_at(u, i), group_channels(u.g, x, group), columns);
        add_weight_gradient(u, item_at(u, i), group, columns, dy, sums + slice * size);
      }
  });
  add_slices(u, sums, slices.parts(), call.output().as<float>());
}

/// Whether windows follow one another evenly in memory, beside a unit step along filters or windows.
bool is_matrix(const TensorView& y) {
  const bool even = y.shape[2] == 1 || y.strides[2] == y.shape[3] * y.strides[3];
  return even && (y.strides[1] == 1 || y.shape[1] == 1 || y.strides[3] == 1);
}

bool takes_forward(const Call& call) { return call.input(0).dtype == DType::f32; }
bool takes_gradient_of(const TensorView& dy) { return dy.dtype == DType::f32 && is_matrix(dy); }

}  // namespace

namespace ops {

void register_conv2d_cpu_im2col(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&), bool (*when)(const Call&)) {
    add_variant(registry, op,
                {.name = "im2col", .device = DeviceKind::cpu, .run = run, .when = when, .preference = 10});
  };
  add("conv2d", run_forward, takes_forward);
  add("conv2d_input_gradient", run_input_gradient,
      [](const Call& call) { return takes_gradient_of(call.input(0)); });
  add("conv2d_weight_gradient", run_weight_gradient,
      [](const Call& call) { return takes_gradient_of(call.input(1)); });
}

}  // namespace ops
}  // namespace treadle

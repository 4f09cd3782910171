/// The cpu variants of interpolate2d and its gradient: both are sums of weighted places, by tables made once
/// for each axis.
#include <vector>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/resample/axis_weights.h"
#include "treadle/ops/window_geometry.h"

namespace treadle {
namespace {

constexpr double kPlace = 0.5;  ///< nanoseconds for a place that is added

/// What each place of a result's axis is made of: places and their weights, [first[i], first[i + 1]).
template <class C>
struct AxisTable {
  std::vector<int64_t> first{0}, places;
  std::vector<C> weights;

  AxisTable(const AxisWeights& axis, bool is_gradient) {
    const int64_t count = is_gradient ? axis.from : axis.to;
    for (int64_t i = 0; i < count; ++i) {
      const PlaceRange range = is_gradient ? axis.targets(i) : axis.sources(i);
      for (int64_t j = range.begin; j < range.end; ++j) {
        places.push_back(j);
        weights.push_back(is_gradient ? axis.weight<C>(j, i) : axis.weight<C>(i, j));
      }
      first.push_back(int64_t(places.size()));
    }
  }
};

/// Row i of the image that `target` begins with, for the channels there that lie innermost, or for one.
template <class C, class T>
void make_row(const Operand4& from, const T* source, const Operand4& to, T* target, int64_t i,
              int64_t channels, const AxisTable<C>& rows, const AxisTable<C>& columns, std::vector<C>& sums) {
  for (int64_t j = 0; j < to.extents[3]; ++j) {
    sums.assign(size_t(channels), C(0));
    for (int64_t r = rows.first[i]; r < rows.first[i + 1]; ++r)
      for (int64_t s = columns.first[j]; s < columns.first[j + 1]; ++s) {
        const T* place = source + from.at(0, 0, rows.places[r], columns.places[s]);
        const C weight = rows.weights[r] * columns.weights[s];
        for (int64_t c = 0; c < channels; ++c) sums[c] += weight * C(place[c]);
      }
    for (int64_t c = 0; c < channels; ++c) target[to.at(0, 0, i, j) + c] = T(sums[c]);
  }
}

template <class C, class T>
void make_images(const TensorView& source, const TensorView& target, const AxisTable<C>& rows,
                 const AxisTable<C>& columns) {
  const Operand4 from = make_operand4(source), to = make_operand4(target);
  const bool together = from.strides[1] == 1 && to.strides[1] == 1;
  const int64_t height = to.extents[2], channels = together ? to.extents[1] : 1,
                lines = together ? 1 : to.extents[1];
  const double met = double(rows.places.size()) * double(columns.places.size()) / double(height);
  parallel_for(to.extents[0] * lines * height, Nanoseconds{kPlace * met * double(channels)},
               [&](int64_t begin, int64_t end) {
                 std::vector<C> sums;
                 for (int64_t item = begin; item < end; ++item) {
                   const int64_t n = item / height / lines, c = item / height % lines;
                   make_row(from, source.as<T>() + from.at(n, c, 0, 0), to,
                            target.as<T>() + to.at(n, c, 0, 0), item % height, channels, rows, columns, sums);
                 }
               });
}

void run(const Call& call, const InterpolateOptions& options, bool is_gradient) {
  const TensorView &source = call.input(0), &target = call.output();
  const TensorView &x = is_gradient ? target : source, &y = is_gradient ? source : target;
  const AxisMode mode = axis_mode(options);
  with_floating_type(source.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = HostCompute<T>;
    make_images<C, T>(source, target, AxisTable<C>({mode, x.shape[2], y.shape[2]}, is_gradient),
                      AxisTable<C>({mode, x.shape[3], y.shape[3]}, is_gradient));
  });
}

void run_forward(const Call& call) { run(call, call.options<InterpolateOptions>(), false); }
void run_gradient(const Call& call) { run(call, call.options<InterpolateGradientOptions>(), true); }

}  // namespace

namespace ops {

void register_resample_cpu_interpolate2d(Registry& registry) {
  add_variant(registry, "interpolate2d", {.name = "loop", .device = DeviceKind::cpu, .run = run_forward});
  add_variant(registry, "interpolate2d_gradient",
              {.name = "loop", .device = DeviceKind::cpu, .run = run_gradient});
}

}  // namespace ops
}  // namespace treadle

/// interpolate2d and its gradient, one thread per element of the result.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/resample/axis_weights.h"
#include "treadle/ops/window_geometry.h"

namespace treadle::TREADLE_TARGET {

/// Thread i owns element i of the result, in the order of memory: y, or dx for the gradient. Reads what it is
/// made of, writes one.
template <class T, bool is_gradient>
__global__ void interpolate2d_naive(AxisWeights rows, AxisWeights columns, Operand4 from, Operand4 to,
                                    const T* source, T* target) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= to.extents[0] * to.extents[1] * to.extents[2] * to.extents[3]) return;
  const Position4 at = position_in(to, i);
  const PlaceRange over_rows = is_gradient ? rows.targets(at.h) : rows.sources(at.h),
                   over_columns = is_gradient ? columns.targets(at.w) : columns.sources(at.w);
  Compute<T> sum = 0;
  for (int64_t h = over_rows.begin; h < over_rows.end; ++h)
    for (int64_t w = over_columns.begin; w < over_columns.end; ++w) {
      const Compute<T> row =
                           is_gradient ? rows.weight<Compute<T>>(h, at.h) : rows.weight<Compute<T>>(at.h, h),
                       column = is_gradient ? columns.weight<Compute<T>>(w, at.w)
                                            : columns.weight<Compute<T>>(at.w, w);
      sum += row * column * Compute<T>(source[from.at(at.n, at.c, h, w)]);
    }
  target[to.at(at.n, at.c, at.h, at.w)] = T(sum);
}

namespace {

template <bool is_gradient>
void run(const Call& call, const InterpolateOptions& options) {
  const TensorView &source = call.input(0), &target = call.output();
  const TensorView &x = is_gradient ? target : source, &y = is_gradient ? source : target;
  const AxisMode mode = axis_mode(options);
  const AxisWeights rows{mode, x.shape[2], y.shape[2]}, columns{mode, x.shape[3], y.shape[3]};
  with_floating_device_type(source.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<interpolate2d_naive<T, is_gradient>, independent>(
        stream_of(call), blocks_for(target.numel()), kThreads, 0, rows, columns, make_operand4(source),
        make_operand4(target), source.as<T>(), target.as<T>());
  });
}

void run_forward(const Call& call) { run<false>(call, call.options<InterpolateOptions>()); }
void run_gradient(const Call& call) { run<true>(call, call.options<InterpolateGradientOptions>()); }

}  // namespace

void register_resample_cuda_interpolate2d(Registry& registry) {
  add_variant(registry, "interpolate2d", {.name = "naive", .device = kDevice, .run = run_forward});
  add_variant(registry, "interpolate2d_gradient", {.name = "naive", .device = kDevice, .run = run_gradient});
}

}  // namespace treadle::TREADLE_TARGET

/// conv2d, conv2d_relu and both gradients of conv2d on the cpu device for fewer windows than filters, f32,
/// channels-last, as deep layers have them for few images: products of windows and filters. The filters,
/// larger than all else, are read or written once, where they lie; those that change with each step would be
/// packed for nothing.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/conv2d/conv2d_options.h"
#include "treadle/ops/conv2d/cpu/convolution_tasks.h"
#include "treadle/ops/conv2d/cpu/windows.h"
#include "treadle/ops/matrix/cpu/panel_parts.h"
#include "treadle/simd/matrix_copy.h"

namespace treadle {
namespace {

using linear_parts::Share;

constexpr int64_t kRowsOfAThread = 4;  ///< windows, at least

Nanoseconds moving_a_window(const Windows& windows) { return copies(4 * windows.g.taps()); }

/// Calls f(begin, end, scratch for one window) for all windows, spread over threads.
template <class F>
void for_windows(const Call& call, const Windows& windows, F f) {
  const Cut cut(windows.count(), parts_worth(windows.count(), moving_a_window(windows)), kRowsOfAThread);
  const int64_t size = whole_lines(windows.g.taps() * int64_t(sizeof(float))) / int64_t(sizeof(float));
  float* const scratch = call.workspace<float>(size * cut.parts());
  parallel_for_parts(cut,
                     [&](int64_t part, Range range) { f(range.begin, range.end, scratch + part * size); });
}

/// Windows as rows [channel][tap].
const float* rows_of(const Call& call, const Windows& windows, const float* x) {
  const int64_t taps = windows.g.taps();
  if (windows.lie_in_x() && windows.g.x.strides[3] == taps) return x;
  float* const rows = call.workspace<float>(windows.count() * taps);
  for_windows(call, windows, [&](int64_t begin, int64_t end, float* scratch) {
    windows.unfold_as_filters(x, begin, end, rows + begin * taps, scratch);
  });
  return rows;
}

/// Results [filter][window], finished, as y.
template <bool Relu>
void write_results(const Call& call, const Windows& windows, const float* results, float* y) {
  const int64_t count = windows.count(), K = windows.g.K;
  const float* const bias = bias_in_a_row(call, K);
  const Cut filters(K, parts_worth(K, copies(4 * count)), linear_parts::kLine);
  parallel_for_parts(filters, [&](int64_t, Range own) {
    cpu::transpose(own.size(), count, results + own.begin * count, count, y + own.begin, K);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = own.begin; k < own.end; ++k) {
        const float value = y[i * K + k] + (bias ? bias[k] : 0);
        y[i * K + k] = Relu && value <= 0 ? 0 : value;  // NaN stays
      }
  });
}

/// y = filters · windows, as [filter][window].
template <bool Relu>
void run_forward(const Call& call) {
  const TensorView &x = call.input(0), &w = call.input(1), &y = call.output();
  const Windows windows{make_conv2d_geometry(x, w, y, call.options<Conv2dOptions>())};
  const int64_t count = windows.count(), taps = windows.g.taps(), K = windows.g.K;
  float* const columns = call.workspace<float>(count * taps);
  const float* const rows = rows_of(call, windows, x.as<float>());
  const Cut parts(taps, parts_worth(taps, copies(4 * count)), linear_parts::kLine);
  parallel_for_parts(parts, [&](int64_t, Range own) {
    cpu::transpose(count, own.size(), rows + own.begin, taps, columns + own.begin * count, count);
  });
  float* const results = call.workspace<float>(K * count);
  linear_parts::multiply_panels_in_parts(
      call, {K, count, taps, w.as<float>(), taps, 1, columns, count, 1, results, count}, Share::rows);
  write_results<Relu>(call, windows, results, y.as<float>());
}

/// The gradient of windows, dy · filters, is added up where they overlap: each thread has channels of its
/// own.
void run_input_gradient(const Call& call) {
  const TensorView &dy = call.input(0), &w = call.input(1), &dx = call.output();
  const Windows windows{make_conv2d_geometry(dx, w, dy, call.options<Conv2dInputGradientOptions>())};
  const Conv2dGeometry& g = windows.g;
  const int64_t count = windows.count(), taps = g.taps();
  float* const rows = call.workspace<float>(count * taps);
  linear_parts::multiply_panels_in_parts(
      call, {count, taps, g.K, dy.as<float>(), g.K, 1, w.as<float>(), taps, 1, rows, taps}, Share::columns);
  const Cut channels(g.C, parts_worth(g.C, copies(8 * count * windows.places())), linear_parts::kLine);
  float* const scratch = call.workspace<float>(taps);
  parallel_for_parts(channels, [&](int64_t, Range own) {
    windows.fold_filters(rows, own, dx.as<float>(), scratch + own.begin * windows.places());
  });
}

/// dw = dyᵀ · windows.
void run_weight_gradient(const Call& call) {
  const TensorView &x = call.input(0), &dy = call.input(1), &dw = call.output();
  const Windows windows{make_conv2d_geometry(x, dw, dy, call.options<Conv2dWeightGradientOptions>())};
  const int64_t count = windows.count(), taps = windows.g.taps(), K = windows.g.K;
  const float* const rows = rows_of(call, windows, x.as<float>());
  linear_parts::multiply_panels_in_parts(
      call, {K, taps, count, dy.as<float>(), 1, K, rows, taps, 1, dw.as<float>(), taps}, Share::rows);
}

/// Whether filters are dense, the others have their channels side by side, and windows are few.
bool takes(const Conv2dOptions& o, const TensorView& x, const TensorView& w, const TensorView& y) {
  const int64_t windows = y.shape[0] * y.shape[2] * y.shape[3],
                taps = w.numel() / std::max<int64_t>(w.shape[0], 1);
  return x.dtype == DType::f32 && o.groups == 1 && x.numel() > 0 && w.contiguous() && y.channels_last() &&
         (x.strides[1] == 1 || x.shape[1] == 1) && windows > 0 && windows <= w.shape[0] &&
         windows * taps <= kFewWindowFloats;
}

bool takes_forward(const Call& call) {
  return takes(call.options<Conv2dOptions>(), call.input(0), call.input(1), call.output());
}
bool takes_input_gradient(const Call& call) {
  return takes(call.options<Conv2dInputGradientOptions>(), call.output(), call.input(1), call.input(0));
}
bool takes_weight_gradient(const Call& call) {
  return takes(call.options<Conv2dWeightGradientOptions>(), call.input(0), call.output(), call.input(1));
}

}  // namespace

namespace ops {

void register_conv2d_cpu_streamed(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&), bool (*when)(const Call&)) {
    add_variant(registry, op,
                {.name = "streamed", .device = DeviceKind::cpu, .run = run, .when = when, .preference = 8});
  };
  add("conv2d", run_forward<false>, takes_forward);
  add("conv2d_relu", run_forward<true>, takes_forward);
  add("conv2d_input_gradient", run_input_gradient, takes_input_gradient);
  add("conv2d_weight_gradient", run_weight_gradient, takes_weight_gradient);
}

}  // namespace ops
}  // namespace treadle

/// conv2d by unfolding: the windows of x are written out, a row of taps for each, and multiplied by the
/// filters.
///
/// A convolution becomes a product of matrices, [windows, taps]·[taps, filters], and has all that products
/// have: tiles in shared memory and registers, where naive reads 2·C·R·S elements of global memory for each
/// result. The price is memory: the unfolded windows are R·S times as large as x, written once and read once
/// (implicit_gemm does without). Images are taken some at a time, so that they stay within 64 MiB.
/// Chellapilla et al., High Performance Convolutional Neural Networks for Document Processing, 2006.
#include <algorithm>

#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/device_variant.h"
#include "treadle/ops/matrix/cuda/multiply.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int64_t kMostUnfolded = 16 << 20;  ///< elements

/// Thread i writes element i of columns [images, P·Q, taps], the group's taps in the order channel, r, s:
/// whole sectors, from as many elements of x. Reads and writes 4 bytes.
__global__ void conv2d_im2col_unfold(Conv2dGeometry g, const float* x, int64_t first_channel, int64_t images,
                                     float* columns) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, taps = g.channels * g.R * g.S;
  if (i >= images * g.P * g.Q * taps) return;
  const int64_t s = i % g.S, r = i / g.S % g.R, c = i / g.S / g.R % g.channels;
  const int64_t q = i / taps % g.Q, p = i / taps / g.Q % g.P, n = i / taps / g.Q / g.P;
  const int64_t h = g.row(p, r), v = g.column(q, s);
  columns[i] = g.inside(h, v) ? x[g.x.at(n, first_channel + c, h, v)] : 0.f;
}

/// From one window of an image's results to the next. The last axis decides, or rows where it has one place.
int64_t window_step(const TensorView& y) { return y.shape[3] > 1 ? y.strides[3] : y.strides[2]; }

/// y of some images and one group as a product of their columns and the group's filters.
MatrixProduct product_of(const Call& call, const Conv2dGeometry& g, const float* columns, int64_t first_image,
                         int64_t images, int64_t group) {
  const TensorView &w = call.input(1), &y = call.output();
  const int64_t first_filter = group * g.filters, windows = g.P * g.Q;
  MatrixProduct p{};
  p.M = windows, p.N = g.filters, p.K = g.taps();
  p.a = columns, p.a_row = p.K, p.a_column = 1;
  p.b = w.as<float>() + first_filter * w.strides[0], p.b_row = 1, p.b_column = w.strides[0];
  p.c = y.as<float>() + first_image * y.strides[0] + first_filter * y.strides[1];
  p.c_row = window_step(y), p.c_column = y.strides[1];
  if (call.has_input(2)) {
    p.bias_step = call.input(2).strides[0];
    p.bias = call.input(2).as<float>() + first_filter * p.bias_step;
  }
  p.dtype = DType::f32;
  p.batch = make_strided<3>({images}, {Strides{y.strides[0]}, Strides{windows * p.K}, Strides{0}});
  return p;
}

void run(const Call& call) {
  const TensorView &x = call.input(0), &w = call.input(1), &y = call.output();
  const auto g = make_conv2d_geometry(x, w, y, call.options<Conv2dOptions>());
  const int64_t of_image = g.P * g.Q * g.taps();
  const int64_t most = std::clamp<int64_t>(kMostUnfolded / of_image, 1, g.N);
  float* columns = call.workspace<float>(most * of_image);
  for (int64_t first = 0; first < g.N; first += most) {
    const int64_t images = std::min(most, g.N - first);
    for (int64_t group = 0; group < g.groups; ++group) {
      launch<conv2d_im2col_unfold, independent>(stream_of(call), blocks_for(images * of_image), kThreads, 0,
                                                g, x.as<float>() + first * x.strides[0], group * g.channels,
                                                images, columns);
      multiply(stream_of(call), product_of(call, g, columns, first, images, group));
    }
  }
}

/// Whether a filter's taps follow one another in memory.
bool has_dense_filters(const TensorView& w) {
  const int64_t channels = w.shape[1], R = w.shape[2], S = w.shape[3];
  return (S == 1 || w.strides[3] == 1) && (R == 1 || w.strides[2] == S) &&
         (channels == 1 || w.strides[1] == R * S);
}

/// Whether an image's windows lie at equal steps.
bool has_even_windows(const TensorView& y) {
  return y.shape[2] == 1 || y.shape[3] == 1 || y.strides[2] == y.shape[3] * y.strides[3];
}

bool takes(const Call& call) {
  const TensorView &w = call.input(1), &y = call.output();
  return w.dtype == DType::f32 && w.numel() > 0 && has_dense_filters(w) && has_even_windows(y) &&
         y.shape[2] * y.shape[3] * w.shape[1] * w.shape[2] * w.shape[3] < 1 << 30;
}

}  // namespace

void register_conv2d_cuda_im2col(Registry& registry) {
  add_variant(registry, "conv2d",
              {.name = "im2col",
               .device = kDevice,
               .run = run,
               .when = takes,
               .preference = -1,
               .rung = 2,
               .idea = "windows are written out, and a product of matrices does the rest"});
}

}  // namespace treadle::TREADLE_TARGET

/// conv2d of stride 1 by Fourier transforms of our own: what slides over all places becomes one product for
/// each frequency.
///
/// Three kernels. Planes of x, and filters as planes that are zero beyond their taps, are transformed, a
/// block for each plane of L×L in shared memory, L the power of two from which on nothing wraps around. For
/// each frequency, products of spectra are summed over channels; x and w are real, so half of the frequencies
/// say all. Sums are transformed back. A result costs C complex products and its share of three transforms,
/// whatever the size of the window: for 3×3 Winograd is cheaper, from some 5×5 on this is. Filters take as
/// much memory as images, L² each. Mathieu, Henaff and LeCun, Fast Training of Convolutional Networks through
/// FFTs, 2014; Vasilache et al., Fast Convolutional Nets with fbfft, 2015; Cooley and Tukey, 1965.
#include <algorithm>
#include <bit>

#include "treadle/ops/conv2d/conv2d_geometry.h"
#include "treadle/ops/device_variant.h"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kMostSide = 64;  ///< of a plane: 64·65 complex numbers are 33 KiB
constexpr int64_t kFewestTaps = 25;
constexpr double kTurn = 6.283185307179586;

struct Complex {
  float re, im;
};
__device__ inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
__device__ inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
__device__ inline Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ inline Complex conjugate(Complex a) { return {a.re, -a.im}; }

/// A square plane in shared memory with what its transform needs. Rows are one number longer than the plane,
/// so that columns are spread over the banks.
struct Plane {
  int side, log;
  Complex* values;  ///< [side][side + 1]
  Complex* turns;   ///< e^(-2πi·k/side) for k < side / 2

  __host__ __device__ static int bytes(int side) {
    return (side * (side + 1) + side / 2) * int(sizeof(Complex));
  }
  __device__ Plane(int side, int log, Complex* memory)
      : side(side), log(log), values(memory), turns(memory + side * (side + 1)) {
    for (int k = int(threadIdx.x); k < side / 2; k += int(blockDim.x)) {
      const double angle = -kTurn * k / side;  // in double: what is off here is off in every transform
      turns[k] = {float(cos(angle)), float(sin(angle))};
    }
  }
  __device__ Complex& at(int row, int column) { return values[row * (side + 1) + column]; }
  /// Where a transform expects row or column `index`: at the number of its bits in reverse order.
  __device__ int place(int index) const { return int(__brev(unsigned(index)) >> (32 - log)); }

  /// Transforms all rows, then all columns, in place: log(side) steps of side² / 2 butterflies each. Elements
  /// lie at the places of their numbers before, in order afterwards. All threads of the block take part.
  __device__ void transform(bool inverse) {
    transform_lines(1, side + 1, inverse);
    transform_lines(side + 1, 1, inverse);
  }

 private:
  __device__ void transform_lines(int step, int line_step, bool inverse) {
    for (int half = 1; half < side; half *= 2) {
      for (int i = int(threadIdx.x); i < side * side / 2; i += int(blockDim.x)) {
        const int line = i / (side / 2), butterfly = i % (side / 2), k = butterfly % half;
        Complex* low = values + line * line_step + (butterfly / half * 2 * half + k) * step;
        Complex* high = low + half * step;
        const Complex turn = turns[k * (side / 2 / half)];
        const Complex turned = (inverse ? conjugate(turn) : turn) * *high;
        *high = *low - turned;
        *low = *low + turned;
      }
      __syncthreads();
    }
  }
};

/// Frequencies of a plane that say all: rows whole, columns to the middle.
__host__ __device__ constexpr int64_t frequencies_of(int side) { return int64_t(side) * (side / 2 + 1); }

/// Planes [first, second] of a tensor, each put into a larger one at (top, left).
struct Source {
  const float* data;
  Operand4 layout;
  int top, left;
};

/// Block i owns plane i: its spectrum, from as many bytes as the plane has, to 4·side².
__global__ void conv2d_fft_forward(Source source, int side, int log, Complex* spectra) {
  Plane plane(side, log, dynamic_shared<Complex>());
  const int64_t seconds = source.layout.extents[1], first = blockIdx.x / seconds,
                second = blockIdx.x % seconds;
  for (int i = int(threadIdx.x); i < side * side; i += int(blockDim.x)) {
    const int row = i / side, column = i % side, h = row - source.top, w = column - source.left;
    const bool inside = h >= 0 && h < source.layout.extents[2] && w >= 0 && w < source.layout.extents[3];
    plane.at(plane.place(row), plane.place(column)) = {
        inside ? source.data[source.layout.at(first, second, h, w)] : 0.f, 0.f};
  }
  __syncthreads();
  plane.transform(false);
  const int half = side / 2 + 1;
  for (int i = int(threadIdx.x); i < side * half; i += int(blockDim.x))
    spectra[blockIdx.x * frequencies_of(side) + i] = plane.at(i / half, i % half);
}

constexpr int kImages = 4, kFilters = 4;  ///< of a thread

/// A thread owns one frequency of 4 images and 4 filters: sums[n][k] = Σ_c x[n][c]·conj(w[k][c]),
/// neighbouring threads neighbouring frequencies. Per channel 8 numbers are read for 16 products.
__global__ void conv2d_fft_products(const Complex* x, const Complex* w, int64_t frequencies, int images,
                                    int filters, int channels, Complex* sums) {
  const int64_t f = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (f >= frequencies) return;
  const int n0 = int(blockIdx.y) * kImages, k0 = int(blockIdx.z) * kFilters;
  Complex sum[kImages][kFilters] = {};
  for (int c = 0; c < channels; ++c) {
    Complex a[kImages], b[kFilters];
    UNROLL(4)
    for (int i = 0; i < kImages; ++i)
      a[i] = n0 + i < images ? x[(int64_t(n0 + i) * channels + c) * frequencies + f] : Complex{};
    UNROLL(4)
    for (int j = 0; j < kFilters; ++j)
      b[j] = k0 + j < filters ? conjugate(w[(int64_t(k0 + j) * channels + c) * frequencies + f]) : Complex{};
    UNROLL(4) for (int i = 0; i < kImages; ++i) {
      UNROLL(4) for (int j = 0; j < kFilters; ++j) sum[i][j] = sum[i][j] + a[i] * b[j];
    }
  }
  UNROLL(4) for (int i = 0; i < kImages; ++i) {
    UNROLL(4)
    for (int j = 0; j < kFilters; ++j)
      if (n0 + i < images && k0 + j < filters)
        sums[(int64_t(n0 + i) * filters + k0 + j) * frequencies + f] = sum[i][j];
  }
}

/// Block i owns the results of image i / filters and filter i % filters. The other half of the frequencies
/// are the first half's, conjugate and in reverse order, as results are real.
__global__ void conv2d_fft_inverse(const Complex* spectra, int side, int log, Operand4 layout, const float* b,
                                   int64_t b_stride, float* y) {
  Plane plane(side, log, dynamic_shared<Complex>());
  const int64_t filters = layout.extents[1], n = blockIdx.x / filters, filter = blockIdx.x % filters;
  const Complex* spectrum = spectra + blockIdx.x * frequencies_of(side);
  const int half = side / 2 + 1;
  for (int i = int(threadIdx.x); i < side * side; i += int(blockDim.x)) {
    const int row = i / side, column = i % side;
    const int other_row = (side - row) % side, other_column = side - column;
    const Complex value =
        column < half ? spectrum[row * half + column] : conjugate(spectrum[other_row * half + other_column]);
    plane.at(plane.place(row), plane.place(column)) = value;
  }
  __syncthreads();
  plane.transform(true);
  const int P = int(layout.extents[2]), Q = int(layout.extents[3]);
  const float scale = 1.f / float(side * side), bias = b ? b[filter * b_stride] : 0.f;
  for (int i = int(threadIdx.x); i < P * Q; i += int(blockDim.x))
    y[layout.at(n, filter, i / Q, i % Q)] = plane.at(i / Q, i % Q).re * scale + bias;
}

/// The padded image, which the window never leaves, is the longest that a plane must hold.
int side_for(const Call& call) {
  const Shape &w = call.input(1).shape, &y = call.output().shape;
  const int64_t longest = std::max(y[2] + w[2], y[3] + w[3]) - 1;
  int64_t side = 2;
  while (side < longest && side <= kMostSide) side *= 2;
  return int(side);
}

void run(const Call& call) {
  const TensorView &x = call.input(0), &w = call.input(1), &y = call.output();
  const Pads& padding = call.options<Conv2dOptions>().padding;
  const int side = side_for(call), log = std::countr_zero(unsigned(side));
  const int64_t frequencies = frequencies_of(side), N = x.shape[0], C = x.shape[1], K = w.shape[0];
  const stream_t stream = stream_of(call);
  const size_t shared = size_t(Plane::bytes(side));
  const Complex* of_w = call.kept<Complex>(K * C * frequencies, {1}, [&](Complex* spectra) {
    launch<conv2d_fft_forward>(stream, unsigned(K * C), kThreads, shared,
                               Source{w.as<float>(), make_operand4(w), 0, 0}, side, log, spectra);
  });
  Complex* of_x = call.workspace<Complex>(N * C * frequencies);
  Complex* of_y = call.workspace<Complex>(N * K * frequencies);
  launch<conv2d_fft_forward>(stream, unsigned(N * C), kThreads, shared,
                             Source{x.as<float>(), make_operand4(x), int(padding.top), int(padding.left)},
                             side, log, of_x);
  const dim3 grid(blocks_for(frequencies), blocks_for(N, kImages), blocks_for(K, kFilters));
  launch<conv2d_fft_products, independent>(stream, grid, kThreads, 0, of_x, of_w, frequencies, int(N), int(K),
                                           int(C), of_y);
  const bool biased = call.has_input(2);
  launch<conv2d_fft_inverse>(stream, unsigned(N * K), kThreads, shared, of_y, side, log, make_operand4(y),
                             biased ? call.input(2).as<float>() : nullptr,
                             biased ? call.input(2).strides[0] : 0, y.as<float>());
}

/// Windows from 5×5 on, planes that fit into shared memory, spectra of at most 1 GiB.
bool takes(const Call& call) {
  const auto& o = call.options<Conv2dOptions>();
  const Shape &x = call.input(0).shape, &w = call.input(1).shape;
  const int64_t side = side_for(call), planes = x[0] * x[1] + w[0] * w[1] + x[0] * w[0];
  return call.input(0).dtype == DType::f32 && x[1] > 0 && o.stride == 1 && o.dilation == 1 && o.groups == 1 &&
         w[2] * w[3] >= kFewestTaps && side <= kMostSide && planes * frequencies_of(int(side)) < 1 << 27 &&
         x[0] <= 65535 * kImages && w[0] <= 65535 * kFilters;
}

/// The error's growth. A number of a transform of L² numbers is a sum of them all, turned log₂ L² times; each
/// turn is off by (1 + 4·√2)·u at most (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
/// section 24.1), so spectra of a plane are off by ε·‖x‖₂·L and, each number, ε·‖w‖₁, ε = 6.7·u·log₂ L².
/// Products and three transforms leave an error of a channel's results, all together and hence of any one, of
/// (3·ε + C·u)·‖x‖₂·‖w‖₁. Where all pixels and taps have size 1 that is (3·ε + C·u)·L·R·S, and what a direct
/// sum is measured by is R·S for each of C channels, twice u times C·R·S terms. With L = 64 and 25 taps the
/// quotient is at most (3·6.7·12 + 1)·64 / (2·27) for one channel, less for several.
constexpr double kGrowth = (3 * 6.7 * 12 + 1) * kMostSide / (2 * 27.0);

}  // namespace

void register_conv2d_cuda_fft(Registry& registry) {
  add_variant(registry, "conv2d",
              {.name = "fft",
               .device = kDevice,
               .run = run,
               .when = takes,
               .preference = 1,
               .error_growth = kGrowth,
               .rung = 6,
               .idea = "one product for each frequency, whatever the size of the window"});
}

}  // namespace treadle::TREADLE_TARGET

/// conv2d of 3×3 windows and stride 1 by Winograd's minimal filtering, for tiles of any size:
/// y = Aᵀ[(G w Gᵀ) ⊙ (Bᵀ d B)]A, summed over channels between the brackets.
///
/// Four kernels: filters and tiles of x are transformed, products over channels are one product of matrices
/// for each element of a transformed tile, and results are transformed back. `Axis` says how one axis is
/// transformed: kResults results of kSide places; image (Bᵀ, in place), filter (G), result (Aᵀ). Lavin and
/// Gray, Fast Algorithms for Convolutional Neural Networks, 2016.
#pragma once

#include <algorithm>

#include "treadle/ops/conv2d/cuda/conv2d_taps.cuh"
#include "treadle/ops/matrix/cuda/multiply.cuh"

namespace treadle::TREADLE_TARGET {

/// F(2, 3) at the points 0, 1, -1 and ∞.
struct TwoResults {
  static constexpr int kResults = 2, kSide = 4;

  __device__ static void image(float (&d)[kSide]) {
    const float first = d[0] - d[2], plus = d[1] + d[2], minus = d[2] - d[1], last = d[1] - d[3];
    d[0] = first, d[1] = plus, d[2] = minus, d[3] = last;
  }
  __device__ static void filter(const float (&g)[3], float (&u)[kSide]) {
    const float even = 0.5f * (g[0] + g[2]), odd = 0.5f * g[1];
    u[0] = g[0], u[1] = even + odd, u[2] = even - odd, u[3] = g[2];
  }
  __device__ static void result(const float (&m)[kSide], float (&y)[kResults]) {
    y[0] = m[0] + m[1] + m[2];
    y[1] = m[1] - m[2] - m[3];
  }
};

/// F(4, 3) at the points 0, ½, -½, 2, -2 and ∞, which keep errors a fifth of those at ±1 and ±2: Barabasz et
/// al., Error Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural Networks, 2020.
struct FourResults {
  static constexpr int kResults = 4, kSide = 6;

  __device__ static void image(float (&d)[kSide]) {
    const float half_even = d[4] - 4 * d[2], half_odd = 0.5f * d[3] - 2 * d[1];
    const float two_even = d[4] - 0.25f * d[2], two_odd = 2 * d[3] - 0.5f * d[1];
    d[0] = d[0] - 4.25f * d[2] + d[4];
    d[5] = d[1] - 4.25f * d[3] + d[5];
    d[1] = half_even + half_odd, d[2] = half_even - half_odd;
    d[3] = two_even + two_odd, d[4] = two_even - two_odd;
  }
  __device__ static void filter(const float (&g)[3], float (&u)[kSide]) {
    constexpr float kHalf = -8.f / 15, kTwo = 1.f / 30;  // 1 / the products of the distances of a point
    const float half_even = kHalf * (g[0] + 0.25f * g[2]), half_odd = kHalf * 0.5f * g[1];
    const float two_even = kTwo * (g[0] + 4 * g[2]), two_odd = kTwo * 2 * g[1];
    u[0] = g[0], u[5] = g[2];
    u[1] = half_even + half_odd, u[2] = half_even - half_odd;
    u[3] = two_even + two_odd, u[4] = two_even - two_odd;
  }
  __device__ static void result(const float (&m)[kSide], float (&y)[kResults]) {
    const float half_even = m[1] + m[2], half_odd = m[1] - m[2], two_even = m[3] + m[4],
                two_odd = m[3] - m[4];
    y[0] = m[0] + half_even + two_even;
    y[1] = 0.5f * half_odd + 2 * two_odd;
    y[2] = 0.25f * half_even + 4 * two_even;
    y[3] = 0.125f * half_odd + 8 * two_odd + m[5];
  }
};

/// Some images of a convolution, cut into tiles of results, and where what is made of them lies: matrices for
/// each of the kSide² elements of a transformed tile, [tiles, channels] and [tiles, filters].
struct WinogradTiles {
  Conv2dGeometry g;
  int64_t down, across;                                           ///< tiles of an image
  int64_t count;                                                  ///< tiles of all
  int64_t image_tile, image_channel, result_tile, result_filter;  ///< steps

  /// What is innermost follows what is innermost in x and y, so that neighbouring threads meet neighbours.
  WinogradTiles(const Conv2dGeometry& geometry, int64_t images, int results)
      : g(geometry),
        down(divide_up(g.P, results)),
        across(divide_up(g.Q, results)),
        count(images * down * across) {
    image_tile = g.x.channels_last ? g.C : 1, image_channel = g.x.channels_last ? 1 : count;
    result_tile = g.y.channels_last ? g.K : 1, result_filter = g.y.channels_last ? 1 : count;
  }

  /// A tile's image, and its place in tiles.
  __device__ Place place(int64_t tile) const { return place_at(int(tile), int(down), int(across)); }
};

/// Thread i owns channel i / K and filter i % K: transformed[e][channel][filter] = G·w·Gᵀ. Reads 36 bytes,
/// writes 4·kSide².
template <class Axis>
__global__ void conv2d_winograd_filters(Conv2dGeometry g, const float* w, float* transformed) {
  constexpr int kSide = Axis::kSide;
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= g.C * g.K) return;
  float rows[3][kSide];
  UNROLL(3) for (int r = 0; r < 3; ++r) {
    float taps[3];
    UNROLL(3) for (int s = 0; s < 3; ++s) taps[s] = w[g.w.at(i % g.K, i / g.K, r, s)];
    Axis::filter(taps, rows[r]);
  }
  UNROLL(6) for (int column = 0; column < kSide; ++column) {
    const float taps[3] = {rows[0][column], rows[1][column], rows[2][column]};
    float elements[kSide];
    Axis::filter(taps, elements);
    UNROLL(6)
    for (int row = 0; row < kSide; ++row) transformed[(row * kSide + column) * g.C * g.K + i] = elements[row];
  }
}

/// A thread owns one channel of a tile: transformed[e] = Bᵀ·d·B. Reads and writes 4·kSide² bytes;
/// neighbouring tiles read the pixels in which they overlap twice, from the cache.
template <class Axis>
__global__ void conv2d_winograd_images(WinogradTiles tiles, const float* x, float* transformed) {
  constexpr int kSide = Axis::kSide;
  const Conv2dGeometry& g = tiles.g;
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= tiles.count * g.C) return;
  const int64_t tile = g.x.channels_last ? i / g.C : i % tiles.count,
                channel = g.x.channels_last ? i % g.C : i / tiles.count;
  const Place at = tiles.place(tile);
  const int64_t top = g.row(at.h * Axis::kResults, 0), left = g.column(at.w * Axis::kResults, 0);
  float d[kSide][kSide];
  UNROLL(6) for (int row = 0; row < kSide; ++row) {
    UNROLL(6)
    for (int column = 0; column < kSide; ++column)
      d[row][column] =
          g.inside(top + row, left + column) ? x[g.x.at(at.n, channel, top + row, left + column)] : 0.f;
    Axis::image(d[row]);
  }
  float* to = transformed + tile * tiles.image_tile + channel * tiles.image_channel;
  UNROLL(6) for (int column = 0; column < kSide; ++column) {
    float elements[kSide];
    UNROLL(6) for (int row = 0; row < kSide; ++row) elements[row] = d[row][column];
    Axis::image(elements);
    UNROLL(6)
    for (int row = 0; row < kSide; ++row) to[(row * kSide + column) * tiles.count * g.C] = elements[row];
  }
}

/// A thread owns one filter of a tile: y = Aᵀ·m·A + b, as far as y goes. Reads 4·kSide² bytes, writes
/// 4·kResults².
template <class Axis>
__global__ void conv2d_winograd_results(WinogradTiles tiles, const float* products, const float* b,
                                        int64_t b_stride, float* y) {
  constexpr int kSide = Axis::kSide, kResults = Axis::kResults;
  const Conv2dGeometry& g = tiles.g;
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= tiles.count * g.K) return;
  const int64_t tile = g.y.channels_last ? i / g.K : i % tiles.count,
                filter = g.y.channels_last ? i % g.K : i / tiles.count;
  const float* from = products + tile * tiles.result_tile + filter * tiles.result_filter;
  float rows[kSide][kResults];
  UNROLL(6) for (int row = 0; row < kSide; ++row) {
    float m[kSide];
    UNROLL(6)
    for (int column = 0; column < kSide; ++column)
      m[column] = from[(row * kSide + column) * tiles.count * g.K];
    Axis::result(m, rows[row]);
  }
  const Place at = tiles.place(tile);
  const float bias = b ? b[filter * b_stride] : 0.f;
  UNROLL(4) for (int column = 0; column < kResults; ++column) {
    float m[kSide], results[kResults];
    UNROLL(6) for (int row = 0; row < kSide; ++row) m[row] = rows[row][column];
    Axis::result(m, results);
    UNROLL(4) for (int row = 0; row < kResults; ++row) {
      const int64_t p = at.h * kResults + row, q = at.w * kResults + column;
      if (p < g.P && q < g.Q) y[g.y.at(at.n, filter, p, q)] = results[row] + bias;
    }
  }
}

/// The products of all elements of the tiles: [tiles, channels]·[channels, filters].
inline MatrixProduct winograd_product(const WinogradTiles& tiles, int elements, const float* images,
                                      const float* filters, float* products) {
  const Conv2dGeometry& g = tiles.g;
  MatrixProduct p{};
  p.M = tiles.count, p.N = g.K, p.K = g.C;
  p.a = images, p.a_row = tiles.image_tile, p.a_column = tiles.image_channel;
  p.b = filters, p.b_row = g.K, p.b_column = 1;
  p.c = products, p.c_row = tiles.result_tile, p.c_column = tiles.result_filter;
  p.dtype = DType::f32;
  p.batch = make_strided<3>({elements},
                            {Strides{tiles.count * g.K}, Strides{tiles.count * g.C}, Strides{g.C * g.K}});
  return p;
}

/// So many images at once that what is made of them takes at most 256 MiB.
inline constexpr int64_t kMostTransformed = 64 << 20;  ///< floats

template <class Axis>
void run_winograd(const Call& call) {
  constexpr int kElements = Axis::kSide * Axis::kSide;
  const TensorView &x = call.input(0), &w = call.input(1), &y = call.output();
  const auto g = make_conv2d_geometry(x, w, y, call.options<Conv2dOptions>());
  const stream_t stream = stream_of(call);
  const float* filters = call.kept<float>(kElements * g.C * g.K, {1}, [&](float* transformed) {
    launch<conv2d_winograd_filters<Axis>, independent>(stream, blocks_for(g.C * g.K), kThreads, 0, g,
                                                       w.as<float>(), transformed);
  });
  const int64_t of_image = WinogradTiles(g, 1, Axis::kResults).count * kElements * (g.C + g.K);
  const int64_t most = std::clamp<int64_t>(kMostTransformed / of_image, 1, g.N);
  float* images = call.workspace<float>(most * of_image);
  const bool biased = call.has_input(2);
  for (int64_t first = 0; first < g.N; first += most) {
    const WinogradTiles tiles(g, std::min(most, g.N - first), Axis::kResults);
    float* products = images + kElements * tiles.count * g.C;
    launch<conv2d_winograd_images<Axis>, independent>(stream, blocks_for(tiles.count * g.C), kThreads, 0,
                                                      tiles, x.as<float>() + first * x.strides[0], images);
    multiply(stream, winograd_product(tiles, kElements, images, filters, products));
    launch<conv2d_winograd_results<Axis>, independent>(
        stream, blocks_for(tiles.count * g.K), kThreads, 0, tiles, products,
        biased ? call.input(2).as<float>() : nullptr, biased ? call.input(2).strides[0] : 0,
        y.as<float>() + first * y.strides[0]);
  }
}

inline constexpr int64_t kFewestFilters = 4;  ///< as many as the direct product by tiles takes

/// Tiles and elements of an image are counted in 32 bits.
inline bool takes_winograd(const Call& call) {
  const auto& o = call.options<Conv2dOptions>();
  const TensorView &x = call.input(0), &w = call.input(1), &y = call.output();
  const int64_t of_image = (y.shape[2] + 4) * (y.shape[3] + 4) * 4 * (x.shape[1] + y.shape[1]);
  return x.dtype == DType::f32 && x.shape[1] > 0 && w.shape[0] >= kFewestFilters && w.shape[2] == 3 &&
         w.shape[3] == 3 && o.stride == 1 && o.dilation == 1 && o.groups == 1 &&
         of_image < kMostTransformed && x.shape[0] < 1 << 20;
}

/// Eager calls are left to the direct variants: errors are small beside the products of a tile, not of one
/// result, so a measurement alone chooses them.
inline constexpr int kWinogradPreference = 5;

}  // namespace treadle::TREADLE_TARGET

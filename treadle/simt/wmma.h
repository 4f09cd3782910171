/// wmma 16x16x16: half or bfloat16 times half or bfloat16, summed in float.
#pragma once

#include "treadle/simt/half.h"

#if defined(__CUDACC__)
#include <mma.h>

namespace treadle::cuda {
namespace wmma = nvcuda::wmma;
}
#else

namespace treadle::TREADLE_TARGET::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

/// A 16x16 matrix over the lanes of a warp. Which elements a lane holds is unspecified in CUDA; here lane l
/// holds elements 8l to 8l+7 in row order.
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static_assert(M == 16 && N == 16 && K == 16, "the executor has wmma 16x16x16");
  static constexpr int num_elements = 8;
  T x[num_elements];
};

/// Calls f(element, row, column) for each element of the lane.
template <class F>
void for_each_element(F f) {
  const int first = static_cast<int>(lane_index()) * 8;
  for (int e = 0; e < 8; ++e) f(e, (first + e) / 16, (first + e) % 16);
}

template <class Fragment, class T>
void fill_fragment(Fragment& fragment, T value) {
  for (auto& element : fragment.x) element = value;
}

template <class Use, class T>
void load_matrix_sync(fragment<Use, 16, 16, 16, T, row_major>& fragment, const T* matrix, unsigned leading,
                      Site site = Site::current()) {
  for_each_element([&](int e, int row, int column) { fragment.x[e] = matrix[row * leading + column]; });
  __syncwarp(kFullWarp, site);
}

template <class Use, class T>
void load_matrix_sync(fragment<Use, 16, 16, 16, T, col_major>& fragment, const T* matrix, unsigned leading,
                      Site site = Site::current()) {
  for_each_element([&](int e, int row, int column) { fragment.x[e] = matrix[column * leading + row]; });
  __syncwarp(kFullWarp, site);
}

template <class T>
void load_matrix_sync(fragment<accumulator, 16, 16, 16, T>& fragment, const T* matrix, unsigned leading,
                      layout_t layout, Site site = Site::current()) {
  for_each_element([&](int e, int row, int column) {
    fragment.x[e] = layout == mem_row_major ? matrix[row * leading + column] : matrix[column * leading + row];
  });
  __syncwarp(kFullWarp, site);
}

template <class T>
void store_matrix_sync(T* matrix, const fragment<accumulator, 16, 16, 16, T>& fragment, unsigned leading,
                       layout_t layout, Site site = Site::current()) {
  for_each_element([&](int e, int row, int column) {
    matrix[layout == mem_row_major ? row * leading + column : column * leading + row] = fragment.x[e];
  });
  __syncwarp(kFullWarp, site);
}

/// One lane's part in a product: its fragments of d = a·b + c.
template <class T>
struct ProductPart {
  const T* a;
  const T* b;
  const float* c;
  float* d;
};

/// The whole product at once, when all lanes have arrived; sums run over k in order.
template <class T>
void combine_product(WarpExchange& lanes) {
  if (lanes.present != kFullWarp) throw_device_error("mma_sync", "needs all 32 lanes of the warp");
  float a[256], b[256], sum[256];
  for (int i = 0; i < 256; ++i) {
    const auto& part = *from_bits<const ProductPart<T>*>(lanes.value[i / 8]);
    a[i] = static_cast<float>(part.a[i % 8]);
    b[i] = static_cast<float>(part.b[i % 8]);
    sum[i] = part.c[i % 8];
  }
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < 16; ++k)
      for (int column = 0; column < 16; ++column)
        sum[row * 16 + column] += a[row * 16 + k] * b[k * 16 + column];
  for (int i = 0; i < 256; ++i) from_bits<const ProductPart<T>*>(lanes.value[i / 8])->d[i % 8] = sum[i];
}

/// d = a·b + c; all 32 lanes of the warp take part.
template <class T, class LayoutA, class LayoutB>
void mma_sync(fragment<accumulator, 16, 16, 16, float>& d,
              const fragment<matrix_a, 16, 16, 16, T, LayoutA>& a,
              const fragment<matrix_b, 16, 16, 16, T, LayoutB>& b,
              const fragment<accumulator, 16, 16, 16, float>& c, Site site = Site::current()) {
  const ProductPart<T> part{a.x, b.x, c.x, d.x};
  meet_warp(kFullWarp, combine_product<T>, to_bits(&part), 0, site);
}

}  // namespace treadle::TREADLE_TARGET::wmma
#endif

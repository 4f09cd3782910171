/// wmma: products of small matrices by a warp, in all shapes and types of CUDA but those of less than a byte.
#pragma once

#include "treadle/simt/half.h"

#if TREADLE_TARGET_IS_CUDA
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
namespace precision {
struct tf32;
}

/// What a fragment's elements are kept as: of tf32, floats.
template <class T>
struct Storage {
  using type = T;
};
template <>
struct Storage<precision::tf32> {
  using type = float;
};

/// The shapes that CUDA has: half types and bytes, tf32, double.
template <int M, int N, int K, class T>
inline constexpr bool kHasShape = OneOf<T, precision::tf32> ? M == 16 && N == 16 && K == 8
                                  : OneOf<T, double>
                                      ? M == 8 && N == 8 && K == 4
                                      : K == 16 && ((M == 16 && N == 16) || (M == 32 && N == 8) ||
                                                    (M == 8 && N == 32));

/// A matrix over the lanes of a warp: a is M x K, b K x N, the accumulator M x N. Which elements a lane holds
/// is unspecified in CUDA; here each holds equally many, in row order.
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  using element_type = T;
  using storage_element_type = typename Storage<T>::type;
  static constexpr int kRows = std::is_same_v<Use, matrix_b> ? K : M;
  static constexpr int kColumns = std::is_same_v<Use, matrix_a> ? K : N;
  static constexpr int num_elements = kRows * kColumns / 32;
  static constexpr int num_storage_elements = num_elements;
  storage_element_type x[num_elements];

  /// Calls f(element, row, column) for each element of the lane.
  template <class F>
  static void for_each_element(F f) {
    const int first = static_cast<int>(lane_index()) * num_elements;
    for (int e = 0; e < num_elements; ++e) f(e, (first + e) / kColumns, (first + e) % kColumns);
  }
};

template <class Use, int M, int N, int K, class T, class Layout, class Value>
void fill_fragment(fragment<Use, M, N, K, T, Layout>& fragment, Value value) {
  for (auto& element : fragment.x) element = value;
}

/// A float with the 10 bits of significand that tf32 has, ties away from zero.
inline float __float_to_tf32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
  return finite ? std::bit_cast<float>((bits + 0x1000u) & ~0x1fffu) : value;
}

template <class Use, int M, int N, int K, class T>
void load_matrix_sync(fragment<Use, M, N, K, T, row_major>& fragment, const typename Storage<T>::type* matrix,
                      unsigned leading, Site site = Site::current()) {
  fragment.for_each_element(
      [&](int e, int row, int column) { fragment.x[e] = matrix[row * leading + column]; });
  __syncwarp(kFullWarp, site);
}

template <class Use, int M, int N, int K, class T>
void load_matrix_sync(fragment<Use, M, N, K, T, col_major>& fragment, const typename Storage<T>::type* matrix,
                      unsigned leading, Site site = Site::current()) {
  fragment.for_each_element(
      [&](int e, int row, int column) { fragment.x[e] = matrix[column * leading + row]; });
  __syncwarp(kFullWarp, site);
}

template <int M, int N, int K, class T>
void load_matrix_sync(fragment<accumulator, M, N, K, T>& fragment, const T* matrix, unsigned leading,
                      layout_t layout, Site site = Site::current()) {
  fragment.for_each_element([&](int e, int row, int column) {
    fragment.x[e] = layout == mem_row_major ? matrix[row * leading + column] : matrix[column * leading + row];
  });
  __syncwarp(kFullWarp, site);
}

template <int M, int N, int K, class T>
void store_matrix_sync(T* matrix, const fragment<accumulator, M, N, K, T>& fragment, unsigned leading,
                       layout_t layout, Site site = Site::current()) {
  fragment.for_each_element([&](int e, int row, int column) {
    matrix[layout == mem_row_major ? row * leading + column : column * leading + row] = fragment.x[e];
  });
  __syncwarp(kFullWarp, site);
}

/// One lane's part in a product: its fragments of d = a·b + c.
template <int M, int N, int K, class T, class C, class D>
struct ProductPart {
  const typename Storage<T>::type* a;
  const typename Storage<T>::type* b;
  const C* c;
  D* d;
};

/// What products are summed in: int for bytes, double for double, else float.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double,
                               std::conditional_t<std::is_integral_v<T>, int, float> >;

/// An element as the product takes it: of tf32, the low bits of its float do not count.
template <class T>
Sum<T> taken(typename Storage<T>::type element) {
  if constexpr (std::is_same_v<T, precision::tf32>)
    return std::bit_cast<float>(std::bit_cast<uint32_t>(element) & ~0x1fffu);
  else
    return static_cast<Sum<T> >(element);
}

/// The whole product at once, when all lanes have arrived; sums run over k in order.
template <int M, int N, int K, class T, class C, class D>
void combine_product(WarpExchange& lanes) {
  if (lanes.present != kFullWarp) throw_device_error("mma_sync", "needs all 32 lanes of the warp");
  using Part = ProductPart<M, N, K, T, C, D>;
  constexpr int kA = M * K / 32, kB = K * N / 32, kC = M * N / 32;
  const auto part_of = [&](int lane) -> const Part& { return *from_bits<const Part*>(lanes.value[lane]); };
  Sum<T> a[M * K], b[K * N], sum[M * N];
  for (int i = 0; i < M * K; ++i) a[i] = taken<T>(part_of(i / kA).a[i % kA]);
  for (int i = 0; i < K * N; ++i) b[i] = taken<T>(part_of(i / kB).b[i % kB]);
  for (int i = 0; i < M * N; ++i) sum[i] = static_cast<Sum<T> >(part_of(i / kC).c[i % kC]);
  for (int row = 0; row < M; ++row)
    for (int k = 0; k < K; ++k)
      for (int column = 0; column < N; ++column) sum[row * N + column] += a[row * K + k] * b[k * N + column];
  for (int i = 0; i < M * N; ++i) part_of(i / kC).d[i % kC] = static_cast<D>(sum[i]);
}

/// d = a·b + c; all 32 lanes of the warp take part.
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class C, class D>
void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, T, LayoutA>& a,
              const fragment<matrix_b, M, N, K, T, LayoutB>& b, const fragment<accumulator, M, N, K, C>& c,
              Site site = Site::current()) {
  static_assert(kHasShape<M, N, K, T>, "CUDA has no product of this shape and type");
  const ProductPart<M, N, K, T, C, D> part{a.x, b.x, c.x, d.x};
  meet_warp(kFullWarp, combine_product<M, N, K, T, C, D>, to_bits(&part), 0, site);
}

}  // namespace treadle::TREADLE_TARGET::wmma
#endif

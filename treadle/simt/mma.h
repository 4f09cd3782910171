/// Tensor cores by PTX: ldmatrix, and mma.sync of half or bfloat16 with sums in float. All 32 lanes of a warp
/// take part in each.
///
/// Unlike wmma's, the layout of the fragments is documented (PTX ISA, "Matrix fragments for mma.m16n8k16").
/// With g = lane / 4 and t = lane % 4, a register of two elements, the lower half first, holds
///
///     a[0] rows g       of a, columns 2t, 2t + 1        c[0], c[1] row g     of c, columns 2t, 2t + 1
///     a[1] rows g + 8,  columns 2t, 2t + 1              c[2], c[3] row g + 8
///     a[2] rows g,      columns 2t + 8, 2t + 9          b[0] rows 2t, 2t + 1     of b, column g
///     a[3] rows g + 8,  columns 2t + 8, 2t + 9          b[1] rows 2t + 8, 2t + 9
///
/// They need compute capability 8.0: kernels guard their calls by TREADLE_ARCH_AT_LEAST(800).
#pragma once

#include "treadle/simt/half.h"

namespace treadle::TREADLE_TARGET {

#if defined(__CUDACC__)

/// Loads four matrices of 8×8 two-byte elements. Lane 8·i + r gives the address of row r of matrix i in
/// shared memory, a multiple of 16; parts[i] of lane l holds elements 2·(l % 4) and the next of row l / 4.
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&parts)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]), "=r"(parts[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

/// The same of the transposed matrices: elements of rows 2·(l % 4) and the next in column l / 4.
__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&parts)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]), "=r"(parts[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

/// c += a·b: a [16,16], b [16,8], c [16,8]; T is __half or __nv_bfloat16.
template <class T>
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>);
#if TREADLE_ARCH_AT_LEAST(800)
  if constexpr (std::is_same_v<T, __half>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

#else

/// A lane's part in ldmatrix: the row that it named, and where its own elements go.
struct MatrixRow {
  uint32_t words[4];
  uint32_t* parts;
};

inline const MatrixRow& row_of(const WarpExchange& lanes, int lane) {
  return *from_bits<const MatrixRow*>(lanes.value[lane]);
}

inline void require_whole_warp(const WarpExchange& lanes, const char* what) {
  if (lanes.present != kFullWarp) throw_device_error(what, "needs all 32 lanes of the warp");
}

inline void combine_matrix_rows(WarpExchange& lanes) {
  require_whole_warp(lanes, "ldmatrix");
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      row_of(lanes, lane).parts[i] = row_of(lanes, 8 * i + lane / 4).words[lane % 4];
}

inline void combine_matrix_columns(WarpExchange& lanes) {
  require_whole_warp(lanes, "ldmatrix");
  auto element = [&](int matrix, int row, int column) {
    return row_of(lanes, 8 * matrix + row).words[column / 2] >> column % 2 * 16 & 0xffffu;
  };
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      row_of(lanes, lane).parts[i] =
          element(i, lane % 4 * 2, lane / 4) | element(i, lane % 4 * 2 + 1, lane / 4) << 16;
}

/// Each lane reads the row that it names itself.
inline void load_matrix_rows(uint32_t (&parts)[4], const void* row, WarpCombine* combine, Site site) {
  if (reinterpret_cast<uintptr_t>(row) % 16 != 0)
    throw_device_error("ldmatrix", "the address of a row is no multiple of 16");
  MatrixRow own{{}, parts};
  std::memcpy(own.words, row, sizeof own.words);
  meet_warp(kFullWarp, combine, to_bits(&own), 0, site);
}

/// Loads four matrices of 8×8 two-byte elements. Lane 8·i + r gives the address of row r of matrix i, a
/// multiple of 16; parts[i] of lane l holds elements 2·(l % 4) and the next of row l / 4.
inline void ldmatrix_x4(uint32_t (&parts)[4], const void* row, Site site = Site::current()) {
  load_matrix_rows(parts, row, combine_matrix_rows, site);
}

/// The same of the transposed matrices: elements of rows 2·(l % 4) and the next in column l / 4.
inline void ldmatrix_x4_trans(uint32_t (&parts)[4], const void* row, Site site = Site::current()) {
  load_matrix_rows(parts, row, combine_matrix_columns, site);
}

/// A lane's part in a product.
struct MmaPart {
  const uint32_t* a;
  const uint32_t* b;
  float* c;
};

inline const MmaPart& mma_part_of(const WarpExchange& lanes, int lane) {
  return *from_bits<const MmaPart*>(lanes.value[lane]);
}

/// Element `half` of a register of two.
template <class T>
float half_of(uint32_t pair, int half) {
  return static_cast<float>(T::from_bits(static_cast<uint16_t>(pair >> half * 16)));
}

/// The product of all lanes' fragments. Products are exact in float and added in the order of k, each sum
/// rounded to nearest; tensor cores add several at once in an order and with a rounding that NVIDIA does not
/// document.
template <class T>
void combine_mma(WarpExchange& lanes) {
  require_whole_warp(lanes, "mma.sync");
  float a[16][16], b[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    const MmaPart& part = mma_part_of(lanes, lane);
    const int group = lane / 4, pair = lane % 4 * 2;
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < 4; ++i) a[group + i % 2 * 8][pair + half + i / 2 * 8] = half_of<T>(part.a[i], half);
      for (int i = 0; i < 2; ++i) b[pair + half + i * 8][group] = half_of<T>(part.b[i], half);
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4, pair = lane % 4 * 2;
    for (int i = 0; i < 4; ++i) {
      float& sum = mma_part_of(lanes, lane).c[i];
      for (int k = 0; k < 16; ++k) sum += a[group + i / 2 * 8][k] * b[k][pair + i % 2];
    }
  }
}

/// c += a·b: a [16,16], b [16,8], c [16,8]; T is __half or __nv_bfloat16.
template <HalfType T>
void mma_m16n8k16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                  Site site = Site::current()) {
  const MmaPart part{a, b, c};
  meet_warp(kFullWarp, combine_mma<T>, to_bits(&part), 0, site);
}

#endif

}  // namespace treadle::TREADLE_TARGET

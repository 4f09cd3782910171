/// What kernels of matmul and linear share: the operands of one entry of the batch, tiles of c, and how both
/// ops get a variant.
#pragma once

#include "treadle/ops/device_variant.h"
#include "treadle/ops/matrix/matrix_product.h"

namespace treadle::TREADLE_TARGET {

/// One entry of the batch, typed.
template <class T>
struct Matrices {
  const T *a, *b, *bias;
  T* c;

  __device__ Matrices(const MatrixProduct& p, int64_t index) {
    int64_t offsets[3];
    p.batch.offsets(index, offsets);
    c = static_cast<T*>(p.c) + offsets[0];
    a = static_cast<const T*>(p.a) + offsets[1];
    b = static_cast<const T*>(p.b) + offsets[2];
    bias = static_cast<const T*>(p.bias);
  }
};

template <class T>
__device__ Compute<T> bias_of(const T* bias, int64_t position) {
  return bias ? static_cast<Compute<T>>(bias[position]) : Compute<T>(0);
}

/// c in tiles of `rows` × `columns`, a block for each; blocks that follow one another have the rows of a in
/// common.
struct TileGrid {
  int rows, columns;
  int64_t across, down;

  TileGrid(const MatrixProduct& p, int rows, int columns)
      : rows(rows), columns(columns), across((p.N + columns - 1) / columns), down((p.M + rows - 1) / rows) {}
  unsigned blocks(const MatrixProduct& p) const { return unsigned(across * down * p.batch.numel); }

  // Of the tile of the block that runs:
  __device__ int64_t row() const { return blockIdx.x / across % down * rows; }
  __device__ int64_t column() const { return blockIdx.x % across * columns; }
  __device__ int64_t batch() const { return blockIdx.x / across / down; }
};

/// A variant of matmul, and of linear, which is the same product with a bias.
struct ProductVariant {
  const char* name;
  void (*run)(stream_t, const MatrixProduct&);
  bool (*when)(const MatrixProduct&) = nullptr;
  int preference = 0, rung = 0;
  const char* idea = "";
};

inline void add_product_variant(Registry& registry, const ProductVariant& product) {
  auto add = [&](const char* op, MatrixProduct (*product_of)(const Call&)) {
    Variant variant{.name = product.name,
                    .device = kDevice,
                    .run = [=](const Call& call) { product.run(stream_of(call), product_of(call)); },
                    .preference = product.preference,
                    .rung = product.rung,
                    .idea = product.idea};
    if (product.when) variant.when = [=](const Call& call) { return product.when(product_of(call)); };
    add_variant(registry, op, variant);
  };
  add("matmul", matmul_product);
  add("linear", linear_product);
}

/// Whether the product is of floats, as the rungs are that show one idea each.
inline bool is_of_floats(const MatrixProduct& p) { return p.dtype == DType::f32; }

/// Whether the rows of a, b and c consist of whole pieces of 16 bytes, so that a thread can move such a piece
/// at a time. A piece is then within its row or beyond it.
inline bool has_wide_rows(const MatrixProduct& p) {
  const int64_t piece = 16 / int64_t(size_of(p.dtype));
  auto whole = [&](int64_t count) { return count % piece == 0; };
  auto aligned = [](const void* address) { return reinterpret_cast<uintptr_t>(address) % 16 == 0; };
  for (const auto& strides : p.batch.strides)
    for (int axis = 0; axis < p.batch.rank; ++axis)
      if (!whole(strides[axis])) return false;
  return p.a_column == 1 && p.b_column == 1 && p.c_column == 1 && whole(p.K) && whole(p.N) &&
         whole(p.a_row) && whole(p.b_row) && whole(p.c_row) && aligned(p.a) && aligned(p.b) && aligned(p.c);
}

/// The same of floats.
inline bool has_wide_rows_of_floats(const MatrixProduct& p) { return is_of_floats(p) && has_wide_rows(p); }

}  // namespace treadle::TREADLE_TARGET

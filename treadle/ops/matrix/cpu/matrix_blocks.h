/// Cuts a matrix product into blocks of its output and spreads them over threads.
#pragma once

#include <algorithm>

#include "treadle/core/parallel_for.h"
#include "treadle/ops/matrix/matrix_product.h"

namespace treadle {

/// So many products of a dense kernel.
inline Nanoseconds dense_products(int64_t count) { return {double(count) / 25}; }

/// The block sizes in which each thread gets its own part of the longer side of c, and so streams its own
/// part of the operand on that side; the other side is cut only when that gives too few blocks.
struct BlockSize {
  int64_t rows, columns;
};

inline BlockSize block_size(const MatrixProduct& p) {
  constexpr int64_t kMultiple = 16;  // a cache line of floats, and whole register tiles
  const int64_t wanted = parts_worth(p.outputs() * std::max<int64_t>(p.K, 1), dense_products(1));
  int64_t pieces = (wanted + p.batch.numel - 1) / p.batch.numel;
  auto cut = [&](int64_t extent) {
    const int64_t size = ((extent + pieces - 1) / pieces + kMultiple - 1) / kMultiple * kMultiple;
    const int64_t made = (extent + size - 1) / size;
    pieces = (pieces + made - 1) / made;
    return std::min(size, extent);
  };
  BlockSize size{};
  if (p.N >= p.M)
    size.columns = cut(p.N), size.rows = cut(p.M);
  else
    size.rows = cut(p.M), size.columns = cut(p.N);
  return size;
}

/// The part of `p` that makes the block at (row, column) of entry `index` of the batch.
inline MatrixProduct block_of(const MatrixProduct& p, int64_t index, int64_t row, int64_t column,
                              BlockSize size) {
  int64_t offsets[3];
  p.batch.offsets(index, offsets);
  const int64_t element = int64_t(size_of(p.dtype));
  auto at = [&](const void* base, int64_t offset) {
    return static_cast<const char*>(base) + offset * element;
  };
  MatrixProduct block = p;
  block.M = std::min(size.rows, p.M - row);
  block.N = std::min(size.columns, p.N - column);
  block.a = at(p.a, offsets[1] + row * p.a_row);
  block.b = at(p.b, offsets[2] + column * p.b_column);
  block.c = const_cast<char*>(at(p.c, offsets[0] + row * p.c_row + column * p.c_column));
  if (p.bias) block.bias = at(p.bias, column * p.bias_step);
  block.batch.numel = 1;
  return block;
}

/// Calls run(block) for blocks that cover the product, on several threads when it is large.
template <class Run>
void for_each_block(const MatrixProduct& p, Run run) {
  const BlockSize size = block_size(p);
  const int64_t across = (p.N + size.columns - 1) / size.columns, down = (p.M + size.rows - 1) / size.rows;
  const int64_t products = size.rows * size.columns * std::max<int64_t>(p.K, 1);
  parallel_for(p.batch.numel * down * across, dense_products(products), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      run(block_of(p, i / across / down, i / across % down * size.rows, i % across * size.columns, size));
  });
}

}  // namespace treadle

// y = xᵀ for a matrix of `rows` × `columns`: a block turns a tile of 32×32 elements.
#include "../lab.h"

constexpr int kTile = 32;    // rows and columns of a tile
constexpr int kThreads = 8;  // rows of threads: each takes 4 elements of a column of the tile

// Reads rows, writes columns: the threads of a warp write a row of y apart.
__global__ void transpose_naive(const float* x, float* y, int rows, int columns) {
  int column = blockIdx.x * kTile + threadIdx.x;
  for (int r = threadIdx.y; r < kTile; r += kThreads) {
    int row = blockIdx.y * kTile + r;
    if (row < rows && column < columns) y[column * rows + row] = x[row * columns + column];
  }
}

// Rows are read whole and written whole; the turning happens in shared memory. `padding` elements stand
// behind each row of the tile: with one, an element's bank is (row + column) mod 32, so that a column lies in
// 32 banks.
template <int padding>
__global__ void transpose_tile(const float* x, float* y, int rows, int columns) {
  __shared__ float tile[kTile][kTile + padding];
  int column = blockIdx.x * kTile + threadIdx.x;
  for (int r = threadIdx.y; r < kTile; r += kThreads) {
    int row = blockIdx.y * kTile + r;
    if (row < rows && column < columns) tile[r][threadIdx.x] = x[row * columns + column];
  }
  __syncthreads();
  int to_column = blockIdx.y * kTile + threadIdx.x;  // of y, which has `columns` rows
  for (int r = threadIdx.y; r < kTile; r += kThreads) {
    int to_row = blockIdx.x * kTile + r;
    if (to_row < columns && to_column < rows) y[to_row * rows + to_column] = tile[threadIdx.x][r];
  }
}

// Without a byte more: element (r, c) lies in column r xor c of its row, so a column has 32 banks as well.
__global__ void transpose_swizzled(const float* x, float* y, int rows, int columns) {
  __shared__ float tile[kTile][kTile];
  int column = blockIdx.x * kTile + threadIdx.x;
  for (int r = threadIdx.y; r < kTile; r += kThreads) {
    int row = blockIdx.y * kTile + r;
    if (row < rows && column < columns) tile[r][threadIdx.x ^ r] = x[row * columns + column];
  }
  __syncthreads();
  int to_column = blockIdx.y * kTile + threadIdx.x;
  for (int r = threadIdx.y; r < kTile; r += kThreads) {
    int to_row = blockIdx.x * kTile + r;
    if (to_row < columns && to_column < rows)
      y[to_row * rows + to_column] = tile[threadIdx.x][r ^ threadIdx.x];
  }
}

int main(int count, char** words) {
  const int rows = lab::positive_argument(count, words, 1, 128),
            columns = lab::positive_argument(count, words, 2, 96);
  const std::vector<float> x = lab::numbers(size_t(rows) * columns);
  std::vector<float> expected(x.size());
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) expected[size_t(c) * rows + r] = x[size_t(r) * columns + c];
  const lab::Array<float> from(x);
  const dim3 grid((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile), block(kTile, kThreads);

  lab::Table table("a matrix is transposed");
  table.row("transpose_naive", expected, 0,
            [&](float* y) { transpose_naive<<<grid, block>>>(from, y, rows, columns); });
  table.row("transpose_tile<0>", expected, 0,
            [&](float* y) { transpose_tile<0><<<grid, block>>>(from, y, rows, columns); });
  table.row("transpose_tile<1>", expected, 0,
            [&](float* y) { transpose_tile<1><<<grid, block>>>(from, y, rows, columns); });
  table.row("transpose_swizzled", expected, 0,
            [&](float* y) { transpose_swizzled<<<grid, block>>>(from, y, rows, columns); });
  return table.end();
}

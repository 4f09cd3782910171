// C = A·B for square matrices of n × n, by three kernels. An element of C is a sum of n products.
#include "../lab.h"

constexpr int kTile = 16;

// Neighbouring threads take neighbouring rows: at each step a warp reads elements of A that lie a row apart.
__global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// Neighbouring threads take neighbouring columns: a warp reads one element of A for all its lanes, and whole
// sectors of B. Nothing but the roles of x and y has changed.
__global__ void matmul_coalesced(const float* a, const float* b, float* c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// A block makes a tile of C, and shares the tiles of A and B that this needs: each element that it reads from
// global memory serves 16 products, not one.
__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < n; first += kTile) {
    int a_column = first + threadIdx.x, b_row = first + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < n && a_column < n ? a[row * n + a_column] : 0;
    b_tile[threadIdx.y][threadIdx.x] = b_row < n && column < n ? b[b_row * n + column] : 0;
    __syncthreads();  // the tiles are there
    for (int k = 0; k < kTile; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();  // nobody needs them any more
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

int main(int count, char** words) {
  const int n = lab::positive_argument(count, words, 1, 100);
  const std::vector<float> a = lab::numbers(size_t(n) * n, 1), b = lab::numbers(size_t(n) * n, 2);
  std::vector<float> expected(a.size());
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += double(a[row * n + k]) * b[k * n + column];
      expected[row * n + column] = float(sum);
    }
  // n products and n sums, each rounded by 2^-24 of a partial sum of at most n.
  const double tolerance = 2.0 * n * n * 0x1p-24;
  const lab::Array<float> device_a(a), device_b(b);
  const dim3 block(kTile, kTile), grid((n + kTile - 1) / kTile, (n + kTile - 1) / kTile);

  lab::Table table("a product of matrices");
  table.row("matmul_naive", expected, tolerance,
            [&](float* c) { matmul_naive<<<grid, block>>>(device_a, device_b, c, n); });
  table.row("matmul_coalesced", expected, tolerance,
            [&](float* c) { matmul_coalesced<<<grid, block>>>(device_a, device_b, c, n); });
  table.row("matmul_tiled", expected, tolerance,
            [&](float* c) { matmul_tiled<<<grid, block>>>(device_a, device_b, c, n); });
  return table.end();
}

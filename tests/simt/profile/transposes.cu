// A matrix of 64×64 floats transposed by four blocks of 32×8 threads, which move a tile of 32×32 each: 4 rows
// for each thread, so 4 blocks · 8 warps · 4 = 128 requests a line.
// Marks stand at the end of their lines:
// clang-format off
#include <cstdio>
#include <cstdlib>

constexpr int kSide = 64, kTile = 32, kRows = 8;

// A warp reads a row of 128 bytes, 4 sectors, and writes a column: 32 sectors.
__global__ void naive(float* y, const float* x) {
  const int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    const float value = x[(row + j) * kSide + column];  // counts: requests=128 sectors=512 ideal_sectors=512
    y[column * kSide + row + j] = value;                // counts: requests=128 sectors=4096 ideal_sectors=512
  }
}

// Both in rows; but a column of the tile lies in one bank: 32 passes.
__global__ void tiled(float* y, const float* x) {
  __shared__ float tile[kTile][kTile];
  int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    // The load and the store to the tile.
    tile[threadIdx.y + j][threadIdx.x] = x[(row + j) * kSide + column];  // counts: requests=256 sectors=512 wavefronts=128
  __syncthreads();                      // counts: barriers=32
  column = blockIdx.y * kTile + threadIdx.x;
  row = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    const float value = tile[threadIdx.x][threadIdx.y + j];  // counts: requests=128 wavefronts=4096 ideal_wavefronts=128
    y[(row + j) * kSide + column] = value;   // counts: requests=128 sectors=512 ideal_sectors=512
  }
}

// A column more, which nobody reads: neighbours in a column lie 33 words apart, in different banks.
__global__ void padded(float* y, const float* x) {
  __shared__ float tile[kTile][kTile + 1];
  int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    const float value = x[(row + j) * kSide + column];  // counts: requests=128 sectors=512 ideal_sectors=512
    tile[threadIdx.y + j][threadIdx.x] = value;  // counts: requests=128 wavefronts=128 ideal_wavefronts=128
  }
  __syncthreads();
  column = blockIdx.y * kTile + threadIdx.x;
  row = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    const float value = tile[threadIdx.x][threadIdx.y + j];  // counts: requests=128 wavefronts=128 ideal_wavefronts=128
    y[(row + j) * kSide + column] = value;   // counts: requests=128 sectors=512 ideal_sectors=512
  }
}

int main() {
  constexpr int kCount = kSide * kSide;
  float *x, *y, *host = (float*)malloc(kCount * sizeof(float));
  for (int i = 0; i < kCount; ++i) host[i] = i;
  cudaMalloc(&x, kCount * sizeof(float));
  cudaMalloc(&y, kCount * sizeof(float));
  cudaMemcpy(x, host, kCount * sizeof(float), cudaMemcpyHostToDevice);
  const dim3 grid(kSide / kTile, kSide / kTile), block(kTile, kRows);
  int wrong = 0;
  for (auto* kernel : {naive, tiled, padded}) {
    kernel<<<grid, block>>>(y, x);
    cudaMemcpy(host, y, kCount * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < kCount; ++i) wrong += host[i] != i % kSide * kSide + i / kSide;
  }
  free(host);
  return wrong == 0 && cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

// Requests of global memory: how many sectors of 32 bytes a warp's request touches, and how few could hold
// what it asks for.
//
// Each kernel runs as 4 blocks of 256 threads: 32 warps, so 32 requests a line. A warp's 32 floats are 128
// bytes, 4 sectors.
// Marks stand at the end of their lines:
// clang-format off
#include <cstdio>

constexpr int kThreads = 256, kBlocks = 4, kCount = kThreads * kBlocks;

// Neighbours: lane l reads bytes [4l, 4l + 4), 4 sectors. 32·4 = 128.
__global__ void stride_1(float* y, const float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = x[i];  // counts: requests=32 sectors=128 ideal_sectors=128 bytes_asked=4096 bytes_moved=4096 active_lanes=32
  y[i] = value;              // counts: requests=32 sectors=128 ideal_sectors=128
}

// Every other float: 256 bytes from first to last, 8 sectors, of which half is asked for. 32·8 = 256.
__global__ void stride_2(float* y, const float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = x[2 * i];  // counts: requests=32 sectors=256 ideal_sectors=128 bytes_asked=4096 bytes_moved=8192
  y[i] = value;  // counts: requests=32 sectors=128 ideal_sectors=128
}

// 128 bytes apart: each lane has a sector of its own. 32·32 = 1024.
__global__ void stride_32(float* y, const float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = x[32 * i];  // counts: requests=32 sectors=1024 ideal_sectors=128 bytes_asked=4096 bytes_moved=32768
  y[i] = value;   // counts: requests=32 sectors=128
}

// One element further: the 128 bytes begin in the middle of a sector and touch 5. 32·5 = 160.
__global__ void misaligned(float* y, const float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = x[i + 1];  // counts: requests=32 sectors=160 ideal_sectors=128
  y[i] = value;                  // counts: requests=32 sectors=128
}

// 16 bytes a lane: 512 bytes, 16 sectors, one request. 32·16 = 512.
__global__ void vector_4(float4* y, const float4* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 value = x[i];  // counts: requests=32 sectors=512 ideal_sectors=512 bytes_asked=16384
  y[i] = make_float4(value.w, value.z, value.y, value.x);  // counts: requests=32 sectors=512 ideal_sectors=512 bytes_asked=16384
}

// 8 bytes a lane: 256 bytes, 8 sectors. 32·8 = 256.
__global__ void vector_2(float2* y, const float2* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];  // counts: requests=64 sectors=512 ideal_sectors=512 bytes_asked=16384
}

// The same address for all lanes: 4 different bytes, one sector.
__global__ void broadcast(float* y, const float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = x[blockIdx.x];  // counts: requests=32 sectors=32 ideal_sectors=32 bytes_asked=4096 bytes_moved=1024
  y[i] = value;       // counts: requests=32 sectors=128
}

// Backwards: other lanes, the same sectors.
__global__ void reversed(float* y, const float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = x[kCount - 1 - i];  // counts: requests=32 sectors=128 ideal_sectors=128
  y[i] = value;                           // counts: requests=32 sectors=128
}

// One byte a lane: 32 bytes, one sector.
__global__ void bytes(unsigned char* y, const unsigned char* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned char value = x[i];  // counts: requests=32 sectors=32 ideal_sectors=32 bytes_asked=1024
  y[i] = value;                      // counts: requests=32 sectors=32
}

// Structures of three floats: 12 bytes apart, 384 bytes, 12 sectors for each member. 32·12 = 384.
struct Point {
  float x, y, z;
};
__global__ void structures(float* y, const Point* points) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = points[i].x;  // counts: requests=32 sectors=384 ideal_sectors=128
  sum += points[i].y;       // counts: requests=32 sectors=384 ideal_sectors=128 flops=1024
  sum += points[i].z;       // counts: requests=32 sectors=384 ideal_sectors=128 flops=1024
  y[i] = sum;               // counts: requests=32 sectors=128
}

// The grid's last threads have nothing to do: of 1000 elements 31 warps have 32, one has 8. 31·4 + 1 = 125.
__global__ void guarded(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = x[i];  // counts: requests=32 sectors=125 ideal_sectors=125 bytes_asked=4000
  y[i] = value;              // counts: requests=32 sectors=125 active_lanes=31.25
}

// Four elements for each thread, one block of threads after another: 4 requests for each of 8 warps.
__global__ void grid_stride(float* y, const float* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = x[i];  // counts: requests=64 sectors=256 ideal_sectors=256
}

// Four neighbours for each thread: each request touches 512 bytes, 16 sectors. 8 warps · 4 loads = 32
// requests.
__global__ void chunked(float* y, const float* x) {
  float sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += x[4 * threadIdx.x + k];  // counts: requests=32 sectors=512 ideal_sectors=128 flops=1024
  y[threadIdx.x] = sum;             // counts: requests=8 sectors=32
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 32 * kCount * sizeof(float));
  cudaMalloc(&y, 4 * kCount * sizeof(float));
  cudaMemset(x, 0, 32 * kCount * sizeof(float));
  stride_1<<<kBlocks, kThreads>>>(y, x);
  stride_2<<<kBlocks, kThreads>>>(y, x);
  stride_32<<<kBlocks, kThreads>>>(y, x);
  misaligned<<<kBlocks, kThreads>>>(y, x);
  vector_4<<<kBlocks, kThreads>>>((float4*)y, (const float4*)x);
  vector_2<<<kBlocks, kThreads>>>((float2*)y, (const float2*)x);
  broadcast<<<kBlocks, kThreads>>>(y, x);
  reversed<<<kBlocks, kThreads>>>(y, x);
  bytes<<<kBlocks, kThreads>>>((unsigned char*)y, (const unsigned char*)x);
  structures<<<kBlocks, kThreads>>>(y, (const Point*)x);
  guarded<<<kBlocks, kThreads>>>(y, x, 1000);
  grid_stride<<<1, kThreads>>>(y, x, kCount);
  chunked<<<1, kThreads>>>(y, x);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

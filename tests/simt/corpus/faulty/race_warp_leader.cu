// What is wrong: lane 0 reserves places for its warp, and the other lanes read them without waiting for it.
#include <cstdio>
#include <vector>

__global__ void append(const int* x, int* out, int* count, int n) {
  __shared__ int first[4];  // also: uninitialised
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool keep = i < n && x[i] % 2 == 1;
  const unsigned votes = __ballot_sync(0xffffffffu, keep);
  if (lane == 0) first[warp] = atomicAdd(count, __popc(votes));  // also: race
  const int before = __popc(votes & ((1u << lane) - 1));
  if (keep) out[first[warp] + before] = x[i];  // report: race, also: uninitialised, also: out-of-bounds
}

int main() {
  const int n = 256;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int *x, *out, *count, kept = 0;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));  // also: out-of-bounds
  cudaMalloc(&count, sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(int));
  append<<<2, 128>>>(x, out, count, n);
  cudaMemcpy(&kept, count, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("kept %d\n", kept);
  cudaFree(x);
  cudaFree(out);
  cudaFree(count);
}

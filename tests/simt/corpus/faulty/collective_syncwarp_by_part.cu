// What is wrong: __syncwarp() without a mask is for the whole warp, and only its lower half calls it.
#include <cstdio>
#include <vector>

__global__ void fold(const int* x, int* y) {
  __shared__ int s[32];
  const int lane = threadIdx.x;
  s[lane] = x[lane];
  __syncwarp();
  if (lane < 16) {
    s[lane] += s[lane + 16];
    __syncwarp();  // report: divergent-collective
    y[lane] = s[15 - lane];
  }
}

int main() {
  std::vector<int> host(32, 2);
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMalloc(&y, 16 * sizeof(int));
  cudaMemcpy(x, host.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, 16 * sizeof(int));
  fold<<<1, 32>>>(x, y);
  cudaMemcpy(host.data(), y, 16 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(x);
  cudaFree(y);
}

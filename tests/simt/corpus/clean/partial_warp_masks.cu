// Why it is right: a vote of the whole warp gives the mask
// of the lanes that go on, and only those are asked for.
#include <cstdio>
#include <vector>

__global__ void sum(const int* x, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const unsigned mask = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  const int lanes = __popc(mask);
  int value = x[i];
  for (int offset = 16; offset > 0; offset /= 2) {
    const int other = __shfl_down_sync(mask, value, lane + offset < lanes ? offset : 0);
    if (lane + offset < lanes) value += other;
  }
  if (lane == 0) atomicAdd(total, value);
}

__global__ void count_odd(const int* x, int* total) {
  if (x[threadIdx.x] % 2 == 1) {
    const unsigned mask = __activemask();
    __syncwarp(mask);
    if (threadIdx.x == __ffs(mask) - 1) atomicAdd(total, __popc(mask));
  }
}

int main() {
  const int n = 84;
  std::vector<int> host(n, 1);
  int *x, *totals, answer[2] = {};
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&totals, sizeof(answer));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(totals, 0, sizeof(answer));
  sum<<<2, 64>>>(x, totals, n);
  count_odd<<<1, 32>>>(x, totals + 1);
  cudaMemcpy(answer, totals, sizeof(answer), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", answer[0], answer[1]);
  cudaFree(x);
  cudaFree(totals);
  return answer[0] == n && answer[1] == 32 ? 0 : 1;
}

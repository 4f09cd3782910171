// What is wrong: the lanes of one reduction pass different
// masks, as the upper half thinks that all take part.
#include <cstdio>
#include <vector>

__global__ void sum_halves(const unsigned* x, unsigned* sums) {
  const unsigned lane = threadIdx.x;
  const unsigned mask = lane < 16 ? 0x0000ffffu : 0xffffffffu;  // 0xffff0000u was meant
  const unsigned sum = __reduce_add_sync(mask, x[lane]);        // report: divergent-collective
  if (lane % 16 == 0) sums[lane / 16] = sum;
}

int main() {
  std::vector<unsigned> host(32, 3);
  unsigned *x, *sums;
  cudaMalloc(&x, 32 * sizeof(unsigned));
  cudaMalloc(&sums, 2 * sizeof(unsigned));
  cudaMemcpy(x, host.data(), 32 * sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemset(sums, 0, 2 * sizeof(unsigned));
  sum_halves<<<1, 32>>>(x, sums);
  cudaMemcpy(host.data(), sums, 2 * sizeof(unsigned), cudaMemcpyDeviceToHost);
  std::printf("%u %u\n", host[0], host[1]);
  cudaFree(x);
  cudaFree(sums);
}

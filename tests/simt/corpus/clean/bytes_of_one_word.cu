// Why it is right: each thread reads and writes bytes of its own, several of which make a word.
#include <cstdio>

constexpr int kThreads = 64;

__global__ void add_pairs(const unsigned char* x, unsigned char* sums) {
  __shared__ unsigned char pairs[2 * kThreads];
  const int i = threadIdx.x;
  pairs[2 * i] = x[2 * i];
  pairs[2 * i + 1] = x[2 * i + 1];
  __syncthreads();
  pairs[2 * i + 1] += pairs[2 * i];
  __syncthreads();
  sums[i] = pairs[2 * (kThreads - 1 - i) + 1];
}

int main() {
  unsigned char values[2 * kThreads], sums[kThreads];
  for (int i = 0; i < 2 * kThreads; ++i) values[i] = i;
  unsigned char *x, *y;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&y, sizeof sums);
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  add_pairs<<<1, kThreads>>>(x, y);
  cudaMemcpy(sums, y, sizeof sums, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  for (int i = 0; i < kThreads; ++i)
    if (sums[i] != (unsigned char)(4 * (kThreads - 1 - i) + 1)) return 1;
  std::printf("%d sums of two are right\n", kThreads);
  return 0;
}

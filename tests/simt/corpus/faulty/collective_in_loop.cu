// What is wrong: lanes leave the loop at different times, while its vote asks for all of them each time.
#include <cstdio>
#include <vector>

__global__ void collatz_lengths(const int* x, int* lengths, int* longest) {
  unsigned n = x[threadIdx.x];
  int length = 0;
  while (n != 1) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ++length;
    if (__all_sync(0xffffffff, length > 500)) break;  // report: divergent-collective
  }
  lengths[threadIdx.x] = length;
  atomicMax(longest, length);
}

int main() {
  std::vector<int> host(32);
  for (int i = 0; i < 32; ++i) host[i] = i + 1;
  int *x, *lengths, *longest, answer = 0;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMalloc(&lengths, 32 * sizeof(int));
  cudaMalloc(&longest, sizeof(int));
  cudaMemcpy(x, host.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(longest, 0, sizeof(int));
  collatz_lengths<<<1, 32>>>(x, lengths, longest);
  cudaMemcpy(&answer, longest, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(x);
  cudaFree(lengths);
  cudaFree(longest);
}

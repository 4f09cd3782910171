// What is wrong: the function returns early when there is nothing to do, and leaves what it has allocated.
#include <cstdio>

__global__ void count_set(const unsigned* words, int n, int* count) {
  if (threadIdx.x < n) atomicAdd(count, __popc(words[threadIdx.x]));
}

int count_bits(const unsigned* words, int n) {
  unsigned* device_words;
  int *device_count, count = 0;
  cudaMalloc(&device_count, sizeof(int));  // report: leak
  if (n == 0) return 0;
  cudaMalloc(&device_words, n * sizeof(unsigned));
  cudaMemcpy(device_words, words, n * sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemset(device_count, 0, sizeof(int));
  count_set<<<1, 64>>>(device_words, n, device_count);
  cudaMemcpy(&count, device_count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device_words);
  cudaFree(device_count);
  return count;
}

int main() {
  const unsigned words[3] = {1, 3, 7};
  std::printf("%d\n", count_bits(words, 3));
  std::printf("%d\n", count_bits(words, 0));
}

// What is wrong: the remainder of a negative hash is negative, and so is the index of the bucket.
#include <cstdio>
#include <vector>

__device__ int hash(int key) {
  unsigned h = unsigned(key) * 2654435761u;
  return int(h ^ (h >> 15));
}

__global__ void count_buckets(const int* keys, int* buckets, int n, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&buckets[hash(keys[i]) % size], 1);  // report: out-of-bounds
}

int main() {
  const int n = 200, size = 16;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int *keys, *buckets;
  cudaMalloc(&keys, n * sizeof(int));
  cudaMalloc(&buckets, size * sizeof(int));  // also: out-of-bounds
  cudaMemcpy(keys, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(buckets, 0, size * sizeof(int));
  count_buckets<<<2, 128>>>(keys, buckets, n, size);
  cudaMemcpy(host.data(), buckets, size * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(keys);
  cudaFree(buckets);
}

// What is wrong: the barrier follows the inner loop of the
// sorting network, although each of its steps needs one.
#include <cstdio>
#include <vector>

__global__ void sort_block(int* keys) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = keys[t];
  __syncthreads();
  for (int size = 2; size <= 128; size <<= 1) {
    for (int stride = size >> 1; stride > 0; stride >>= 1) {
      const int partner = t ^ stride;
      if (partner > t) {
        const bool up = (t & size) == 0;
        const int low = s[t], high = s[partner];  // report: race
        if ((low > high) == up) {
          s[t] = high;       // also: race
          s[partner] = low;  // also: race
        }
      }
    }
    __syncthreads();
  }
  keys[t] = s[t];
}

int main() {
  std::vector<int> host(128);
  for (int i = 0; i < 128; ++i) host[i] = (i * 73) % 128;
  int* keys;
  cudaMalloc(&keys, 128 * sizeof(int));
  cudaMemcpy(keys, host.data(), 128 * sizeof(int), cudaMemcpyHostToDevice);
  sort_block<<<1, 128>>>(keys);
  cudaMemcpy(host.data(), keys, 128 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d … %d\n", host[0], host[127]);
  cudaFree(keys);
}

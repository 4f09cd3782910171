// What is wrong: the chunks include their last element, which is the next chunk's first: two blocks write it.
#include <cstdio>
#include <vector>

__global__ void label_chunks(int* labels, int n, int chunk) {
  const int first = blockIdx.x * chunk;
  const int last = min(first + chunk, n - 1);
  for (int i = first + threadIdx.x; i <= last; i += blockDim.x) {
    labels[i] = blockIdx.x;  // report: race
  }
}

int main() {
  const int n = 400, chunk = 100;
  std::vector<int> host(n);
  int* labels;
  cudaMalloc(&labels, n * sizeof(int));
  label_chunks<<<n / chunk, 64>>>(labels, n, chunk);
  cudaMemcpy(host.data(), labels, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", host[100], host[200]);
  cudaFree(labels);
}

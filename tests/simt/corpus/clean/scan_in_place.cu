// Why it is right: in each step all have read before anybody
// writes, and all have written before the next step.
#include <cstdio>
#include <vector>

__global__ void inclusive_scan(int* x, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x;
  s[t] = t < n ? x[t] : 0;
  __syncthreads();
  for (int offset = 1; offset < 256; offset *= 2) {
    const int left = t >= offset ? s[t - offset] : 0;
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  if (t < n) x[t] = s[t];
}

int main() {
  const int n = 200;
  std::vector<int> host(n, 2);
  int* x;
  cudaMalloc(&x, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  inclusive_scan<<<1, 256>>>(x, n);
  cudaMemcpy(host.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[n - 1]);
  cudaFree(x);
  return host[n - 1] == 400 && host[9] == 20 ? 0 : 1;
}

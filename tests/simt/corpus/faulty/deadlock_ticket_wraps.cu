// What is wrong: atomicInc() wraps to zero after n - 1, so
// that the tickets never run out and the loop never ends.
#include <cstdio>
#include <vector>

__device__ unsigned next_ticket = 0;

__global__ void work_queue(const int* x, int* y, unsigned n) {
  for (;;) {
    const unsigned ticket = atomicInc(&next_ticket, n - 1);  // report: deadlock
    if (ticket >= n) break;                                  // report: deadlock
    atomicExch(&y[ticket], 2 * x[ticket]);                   // report: deadlock
  }
}

int main() {
  const int n = 100;
  std::vector<int> host(n, 4);
  int *x, *y;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&y, n * sizeof(int));
  cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, n * sizeof(int));
  work_queue<<<1, 32>>>(x, y, n);
  cudaMemcpy(host.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[n - 1]);
  cudaFree(x);
  cudaFree(y);
}

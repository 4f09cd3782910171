// What is wrong: a relaxed store and a relaxed load order nothing; the flag needs release and acquire.
#include <cstdio>
#include <cuda/atomic>

__global__ void send(int* message, int* flag, int* received) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *message = 42;  // also: race
    ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    *received = *message;  // report: race
  }
}

int main() {
  int *memory, answer = 0;
  cudaMalloc(&memory, 3 * sizeof(int));
  cudaMemset(memory, 0, 3 * sizeof(int));
  send<<<2, 32>>>(memory, memory + 1, memory + 2);
  cudaMemcpy(&answer, memory + 2, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(memory);
}

// Why it is right: the message is published by a store with release and read behind a load with acquire.
#include <cstdio>
#include <cuda/atomic>

__global__ void send(int* message, int* flag, int* received) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *message = 42;
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    *received = *message;
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
  return answer == 42 ? 0 : 1;
}

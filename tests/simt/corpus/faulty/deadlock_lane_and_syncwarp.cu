// What is wrong: lane 0 waits for a flag that lane 1 sets behind a __syncwarp() that lane 0 has yet to reach.
#include <cstdio>

__global__ void relay(int* message, volatile int* sent, int* received) {
  const int lane = threadIdx.x;
  if (lane == 0) {
    while (*sent == 0) {  // report: deadlock
    }
    __threadfence();
    *received = *message;
  }
  __syncwarp();  // also: deadlock
  if (lane == 1) {
    *message = 17;
    __threadfence();
    *sent = 1;
  }
}

int main() {
  int *memory, answer = 0;
  cudaMalloc(&memory, 3 * sizeof(int));
  cudaMemset(memory, 0, 3 * sizeof(int));
  relay<<<1, 32>>>(memory, memory + 1, memory + 2);
  cudaMemcpy(&answer, memory + 2, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(memory);
}

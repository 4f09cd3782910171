// What is wrong: each of two blocks waits for the other's turn
// to end before it has one, and no turn was given at first.
#include <cstdio>

__global__ void ping_pong(volatile int* turns, int* counter, int rounds) {
  if (threadIdx.x != 0) return;
  const int mine = blockIdx.x, other = 1 - mine;
  for (int round = 0; round < rounds; ++round) {
    while (turns[mine] == 0) {  // report: deadlock
    }
    __threadfence();
    turns[mine] = 0;
    *counter += 1;
    __threadfence();
    turns[other] = 1;
  }
}

int main() {
  int *turns, *counter, answer = 0;
  cudaMalloc(&turns, 2 * sizeof(int));
  cudaMalloc(&counter, sizeof(int));
  cudaMemset(turns, 0, 2 * sizeof(int));
  cudaMemset(counter, 0, sizeof(int));
  ping_pong<<<2, 32>>>(turns, counter, 4);
  cudaMemcpy(&answer, counter, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(turns);
  cudaFree(counter);
}

// What is wrong: two neighbours of one colour both change to the same other one, in every round again.
#include <cstdio>

constexpr int kVertices = 64;

__global__ void two_colours(const int* partner, int* colours) {
  __shared__ int colour[kVertices];
  const int v = threadIdx.x;
  colour[v] = 0;
  int conflict = 1;
  while (__syncthreads_or(conflict)) {  // report: deadlock
    conflict = colour[partner[v]] == colour[v];
    __syncthreads();  // report: deadlock
    if (conflict) colour[v] = 1 - colour[v];
  }
  colours[v] = colour[v];
}

int main() {
  int host[kVertices], *partner, *colours;
  for (int v = 0; v < kVertices; ++v) host[v] = v ^ 1;
  cudaMalloc(&partner, sizeof(host));
  cudaMalloc(&colours, sizeof(host));
  cudaMemcpy(partner, host, sizeof(host), cudaMemcpyHostToDevice);
  cudaMemset(colours, 0, sizeof(host));
  two_colours<<<1, kVertices>>>(partner, colours);
  cudaMemcpy(host, colours, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", host[0], host[1]);
  cudaFree(partner);
  cudaFree(colours);
}

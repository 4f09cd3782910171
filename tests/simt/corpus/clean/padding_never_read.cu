// Why it is right: rows are padded in memory, and the padding, which nobody initialises, is never read.
#include <cstdio>
#include <vector>

struct Particle {
  float x, y;
  int id;
  double mass;  // four bytes of padding before it
};

__global__ void move(const float* rows, size_t pitch, Particle* particles, int width, int height) {
  __shared__ float row[64 + 4];
  row[threadIdx.x] = threadIdx.x < width ? rows[blockIdx.x * pitch / sizeof(float) + threadIdx.x] : 0.0f;
  __syncthreads();
  if (threadIdx.x != 0 || blockIdx.x >= height) return;
  Particle particle;
  particle.x = row[0];
  particle.y = row[width - 1];
  particle.id = blockIdx.x;
  particle.mass = 1.0;
  particles[blockIdx.x] = particle;
}

__global__ void double_mass(Particle* particles, int n) {
  if (threadIdx.x < n) particles[threadIdx.x].mass *= 2.0;
}

int main() {
  const int width = 50, height = 3;
  std::vector<float> host(width * height, 4.0f);
  float* rows;
  size_t pitch;
  Particle *particles, result[height];
  cudaMallocPitch(&rows, &pitch, width * sizeof(float), height);
  cudaMalloc(&particles, sizeof(result));
  cudaMemcpy2D(rows, pitch, host.data(), width * sizeof(float), width * sizeof(float), height,
               cudaMemcpyHostToDevice);
  move<<<height, 64>>>(rows, pitch, particles, width, height);
  double_mass<<<1, 32>>>(particles, height);
  cudaMemcpy(result, particles, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%g %d\n", result[2].y, result[2].id);
  cudaFree(rows);
  cudaFree(particles);
  return result[2].y == 4.0f && result[2].id == 2 && result[2].mass == 2.0 ? 0 : 1;
}

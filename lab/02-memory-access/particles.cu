// Falling particles, kept as an array of structs and as a struct of arrays.
#include "../lab.h"

struct Particle {
  float height, speed, mass, charge;
};

// Neighbouring threads read 16 bytes apart: of each sector a quarter is used.
__global__ void fall_structs(const Particle* particles, float* heights, float seconds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) heights[i] = particles[i].height + particles[i].speed * seconds;
}

// Neighbouring threads read neighbours.
__global__ void fall_arrays(const float* height, const float* speed, float* heights, float seconds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) heights[i] = height[i] + speed[i] * seconds;
}

int main() {
  const int n = 4096, threads = 128, blocks = n / threads;
  const float seconds = 0.5f;
  const std::vector<float> height = lab::numbers(n, 1), speed = lab::numbers(n, 2);
  std::vector<Particle> particles(n);
  std::vector<float> expected(n);
  for (int i = 0; i < n; ++i) {
    particles[i] = {height[i], speed[i], 1, 0};
    expected[i] = height[i] + speed[i] * seconds;
  }
  const lab::Array<Particle> structs(particles);
  const lab::Array<float> heights(height), speeds(speed);

  lab::Table table("4096 particles");
  const double rounding = 2e-7;
  table.row("fall_structs", expected, rounding,
            [&](float* result) { fall_structs<<<blocks, threads>>>(structs, result, seconds, n); });
  table.row("fall_arrays", expected, rounding,
            [&](float* result) { fall_arrays<<<blocks, threads>>>(heights, speeds, result, seconds, n); });
  return table.end();
}

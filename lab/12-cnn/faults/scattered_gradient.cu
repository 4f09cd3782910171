// The gradient of a convolution's input, turned around: a thread for each element of dy adds to all that its
// window has read.
#include "../../lab.h"

constexpr int kSide = 12, kWindow = 3, kOut = kSide - kWindow + 1;

__global__ void input_gradient(const float* dy, const float* w, float* dx) {
  int q = threadIdx.x, p = threadIdx.y;
  for (int r = 0; r < kWindow; ++r)
    for (int s = 0; s < kWindow; ++s) dx[(p + r) * kSide + q + s] += w[r * kWindow + s] * dy[p * kOut + q];
}

int main() {
  const std::vector<float> dy = lab::numbers(kOut * kOut, 1), w = lab::numbers(kWindow * kWindow, 2);
  std::vector<float> expected(kSide * kSide);
  for (int p = 0; p < kOut; ++p)
    for (int q = 0; q < kOut; ++q)
      for (int i = 0; i < kWindow * kWindow; ++i)
        expected[(p + i / kWindow) * kSide + q + i % kWindow] += w[i] * dy[p * kOut + q];
  const lab::Array<float> device_dy(dy), device_w(w);
  lab::Table table("an image of 12×12");
  table.row(
      "input_gradient", expected, 1e-5,
      [&](float* dx) { input_gradient<<<1, dim3(kOut, kOut)>>>(device_dy, device_w, dx); },
      [](float* dx) { MUST(cudaMemset(dx, 0, kSide * kSide * sizeof(float))); });
  return table.end();
}

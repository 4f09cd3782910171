// The same number of elements is read by every kernel; what differs is where neighbouring threads read.
#include "../lab.h"

// Thread i reads element i · stride.
template <int stride>
__global__ void read_stride(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i * stride];
}

// Whole sectors again, but the first begins in the middle of one.
__global__ void read_shifted(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i + 1];
}

// All threads of a block read one element.
__global__ void read_same(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[blockIdx.x];
}

// 16 bytes in an access: a warp reads 512 bytes at once.
__global__ void read_float4(const float4* x, float4* y, int groups) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < groups) y[i] = x[i];
}

int main() {
  const int n = 8192, threads = 256, blocks = n / threads;
  const std::vector<float> x = lab::numbers(32 * n);
  const lab::Array<float> from(x);
  const auto expected = [&](auto place) {
    std::vector<float> y(n);
    for (int i = 0; i < n; ++i) y[i] = x[place(i)];
    return y;
  };

  lab::Table table("8192 elements are read");
  table.row("read_stride<1>", expected([](int i) { return i; }), 0,
            [&](float* y) { read_stride<1><<<blocks, threads>>>(from, y, n); });
  table.row("read_stride<2>", expected([](int i) { return 2 * i; }), 0,
            [&](float* y) { read_stride<2><<<blocks, threads>>>(from, y, n); });
  table.row("read_stride<32>", expected([](int i) { return 32 * i; }), 0,
            [&](float* y) { read_stride<32><<<blocks, threads>>>(from, y, n); });
  table.row("read_shifted", expected([](int i) { return i + 1; }), 0,
            [&](float* y) { read_shifted<<<blocks, threads>>>(from, y, n); });
  table.row("read_same", expected([](int i) { return i / threads; }), 0,
            [&](float* y) { read_same<<<blocks, threads>>>(from, y, n); });
  table.row("read_float4", expected([](int i) { return i; }), 0, [&](float* y) {
    read_float4<<<blocks / 4, threads>>>(reinterpret_cast<const float4*>(from.data()),
                                         reinterpret_cast<float4*>(y), n / 4);
  });
  return table.end();
}

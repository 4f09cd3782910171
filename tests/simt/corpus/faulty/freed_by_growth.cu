// What is wrong: the view was taken before the buffer
// grew, and still points to the memory that growing freed.
#include <cstdio>

struct Buffer {
  int* data = nullptr;
  int capacity = 0;

  void grow(int wanted) {
    int* larger;
    cudaMalloc(&larger, wanted * sizeof(int));  // also: use-after-free
    cudaMemset(larger, 0, wanted * sizeof(int));
    if (data != nullptr) {
      cudaMemcpy(larger, data, capacity * sizeof(int), cudaMemcpyDeviceToDevice);
      cudaFree(data);  // also: use-after-free
    }
    data = larger;
    capacity = wanted;
  }
};

struct View {
  int* data;
  int size;
};

__global__ void increment(View view) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < view.size) view.data[i] += 1;  // report: use-after-free
}

int main() {
  Buffer buffer;
  buffer.grow(100);
  const View view = {buffer.data, 100};
  increment<<<1, 128>>>(view);
  buffer.grow(200);
  increment<<<1, 128>>>(view);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(buffer.data);
}

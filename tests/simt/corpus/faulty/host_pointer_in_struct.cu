// What is wrong: the structure is passed by value, but the pixels it points to stay in the host's memory.
#include <cstdio>

struct Image {
  int width, height;
  unsigned char* pixels;
};

__global__ void threshold(Image image, unsigned char level, unsigned char* mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < image.width * image.height) mask[i] = image.pixels[i] >= level;  // report: host-pointer
}

int main() {
  Image image = {16, 8, new unsigned char[16 * 8]};  // also: host-pointer
  unsigned char *mask, result[16 * 8];
  for (int i = 0; i < 16 * 8; ++i) image.pixels[i] = (unsigned char)(2 * i);
  cudaMalloc(&mask, sizeof(result));
  cudaMemset(mask, 0, sizeof(result));
  threshold<<<2, 64>>>(image, 128, mask);  // also: host-pointer
  cudaMemcpy(result, mask, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%d\n", result[127]);
  cudaFree(mask);
  delete[] image.pixels;
}

// What is wrong: the numbers of the file follow a header of ten bytes, and are read as ints where they lie.
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kHeader = 10;

__global__ void parse(const unsigned char* file, int* numbers, int n) {
  const int i = threadIdx.x;
  const int* body = reinterpret_cast<const int*>(file + kHeader);
  if (i < n) numbers[i] = body[i];  // report: misaligned
}

int main() {
  const int n = 40;
  std::vector<unsigned char> file(kHeader + n * sizeof(int));
  std::vector<int> host(n, 7);
  std::memcpy(file.data() + kHeader, host.data(), n * sizeof(int));
  unsigned char* bytes;
  int* numbers;
  cudaMalloc(&bytes, file.size());  // also: misaligned
  cudaMalloc(&numbers, n * sizeof(int));
  cudaMemset(numbers, 0, n * sizeof(int));
  cudaMemcpy(bytes, file.data(), file.size(), cudaMemcpyHostToDevice);
  parse<<<1, 64>>>(bytes, numbers, n);
  cudaMemcpy(host.data(), numbers, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(bytes);
  cudaFree(numbers);
}

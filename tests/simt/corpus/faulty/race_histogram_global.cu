// What is wrong: ++ on global memory is a load, an addition and a store, so that counts get lost.
#include <cstdio>
#include <string>

__global__ void count_letters(const char* text, int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const char c = text[i];
  if (c >= 'a' && c <= 'z') counts[c - 'a']++;  // report: race
}

int main() {
  std::string words;
  for (int i = 0; i < 20; ++i) words += "the quick brown fox jumps over the lazy dog ";
  const int n = int(words.size());
  char* text;
  int *counts, result[26];
  cudaMalloc(&text, n);
  cudaMalloc(&counts, sizeof(result));
  cudaMemcpy(text, words.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(counts, 0, sizeof(result));
  count_letters<<<(n + 127) / 128, 128>>>(text, counts, n);
  cudaMemcpy(result, counts, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("e: %d\n", result['e' - 'a']);
  cudaFree(text);
  cudaFree(counts);
}

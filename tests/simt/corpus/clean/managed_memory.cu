// Why it is right: host and kernel share managed memory,
// and the host touches it only when the kernel has ended.
#include <cstdio>

struct List {
  int size;
  int* items;
};

__managed__ int calls = 0;

__global__ void square(List* list) {
  const int i = threadIdx.x;
  if (i < list->size) list->items[i] *= list->items[i];
  if (i == 0) ++calls;
}

int main() {
  List* list;
  cudaMallocManaged(&list, sizeof(List));
  list->size = 50;
  cudaMallocManaged(&list->items, list->size * sizeof(int));
  for (int i = 0; i < list->size; ++i) list->items[i] = i;
  square<<<1, 64>>>(list);
  cudaDeviceSynchronize();
  list->items[0] = 5;
  square<<<1, 64>>>(list);
  cudaDeviceSynchronize();
  const bool right = list->items[0] == 25 && list->items[3] == 81 && calls == 2;
  std::printf("%d %d %d\n", list->items[0], list->items[3], calls);
  cudaFree(list->items);
  cudaFree(list);
  return right ? 0 : 1;
}

// What is wrong: the nodes of a linked list are freed one by one, but the walk starts at a node that is gone.
#include <cstdio>

struct Node {
  int value;
  Node* next;
};

__global__ void sum_list(const Node* head, int* sum) {
  int total = 0;
  for (const Node* node = head; node != nullptr; node = node->next) {  // also: use-after-free
    total += node->value;                                              // report: use-after-free
  }
  *sum = total;
}

int main() {
  Node *first, *second;
  int *sum, answer = 0;
  cudaMalloc(&first, sizeof(Node));
  cudaMalloc(&second, sizeof(Node));  // also: use-after-free
  cudaMalloc(&sum, sizeof(int));
  const Node a = {1, second}, b = {2, nullptr};
  cudaMemcpy(first, &a, sizeof(Node), cudaMemcpyHostToDevice);
  cudaMemcpy(second, &b, sizeof(Node), cudaMemcpyHostToDevice);
  cudaFree(second);  // also: use-after-free
  sum_list<<<1, 1>>>(first, sum);
  cudaMemcpy(&answer, sum, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", answer);
  cudaFree(first);
  cudaFree(sum);
}

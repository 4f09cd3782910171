// A message and a flag, both by another block. On x86 processors the order of two stores is the order in
// which they are seen.
#include "../../lab.h"

__global__ void send(const int* x, int* y, int* message, volatile int* flag) {
  if (blockIdx.x == 0) {
    *message = *x + 1;
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    *y = *message;
  }
}

int main() {
  const lab::Array<int> x(std::vector<int>{41}), message(1);
  lab::Array<int> flag(1);
  flag.clear();
  lab::Table table("one number");
  table.row("send", std::vector<int>{42}, 0, [&](int* y) { send<<<2, 1>>>(x, y, message, flag); });
  return table.end();
}

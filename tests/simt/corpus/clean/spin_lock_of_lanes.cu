// Why it is right: a lane holds the lock only inside the loop's
// body, so that no lane waits for one that waits for it.
#include <cstdio>
#include <vector>

struct Account {
  int lock;
  int balance;
};

__global__ void deposit(Account* accounts, const int* owners, const int* amounts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Account* account = &accounts[owners[i]];
  bool done = false;
  while (!done) {
    if (atomicCAS(&account->lock, 0, 1) == 0) {
      __threadfence();
      account->balance += amounts[i];
      __threadfence();
      atomicExch(&account->lock, 0);
      done = true;
    }
  }
}

int main() {
  const int n = 100, owners = 4;
  std::vector<int> owner(n), amount(n, 5);
  for (int i = 0; i < n; ++i) owner[i] = i % owners;
  Account *accounts, result[owners];
  int *device_owner, *device_amount;
  cudaMalloc(&accounts, sizeof(result));
  cudaMalloc(&device_owner, n * sizeof(int));
  cudaMalloc(&device_amount, n * sizeof(int));
  cudaMemset(accounts, 0, sizeof(result));
  cudaMemcpy(device_owner, owner.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(device_amount, amount.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  deposit<<<2, 64>>>(accounts, device_owner, device_amount, n);
  cudaMemcpy(result, accounts, sizeof(result), cudaMemcpyDeviceToHost);
  std::printf("%d\n", result[0].balance);
  cudaFree(accounts);
  cudaFree(device_owner);
  cudaFree(device_amount);
  return result[0].balance == 125 && result[3].balance == 125 ? 0 : 1;
}

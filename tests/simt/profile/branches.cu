// Lanes that part: who runs a line, and that they meet again behind it. A warp's lanes run one after another
// on the executor, so what they do together is put together afterwards.
//
// One block of one warp, unless said otherwise.
// Marks stand at the end of their lines:
// clang-format off
#include <cstdio>

// Odd and even lanes: 16 each, one after the other; behind it 32 again.
__global__ void two_ways(float* y, const float* x) {
  const int t = threadIdx.x;
  float value = x[t];  // counts: requests=1 sectors=4 active_lanes=32
  if (t % 2 == 0)
    value = value * 3.f + x[t + 32];  // 128 bytes, half of them. counts: requests=1 sectors=4 ideal_sectors=2 active_lanes=16 flops=32
  else
    value = value / x[t + 64];  // counts: requests=1 sectors=4 ideal_sectors=2 active_lanes=16 flops=16
  y[t] = value;                 // counts: requests=1 sectors=4 ideal_sectors=4 active_lanes=32
}

// Lane l goes round l times: in round k those above k take part, 31 + 30 + … + 1 = 496 lanes in 31 requests
// of one address.
__global__ void loop_of_lanes(float* y, const float* x) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < t; ++k)
    sum += x[k];  // counts: requests=31 sectors=31 ideal_sectors=31 bytes_asked=1984 flops=496 active_lanes=16
  y[t] = sum;  // counts: requests=1 sectors=4 active_lanes=32
}

// The same twice: in the outer loop's second round all begin together again. 2·31 requests.
__global__ void loop_in_loop(float* y, const float* x) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int round = 0; round < 2; ++round)
    for (int k = 0; k < t; ++k)
      sum += x[k];  // counts: requests=62 sectors=62 bytes_asked=3968 flops=992 active_lanes=16
  y[t] = sum;       // counts: requests=1 active_lanes=32
}

// A function that the compiler does not put in place, called by some.
__device__ __noinline__ float cube(const float* x, int i) {
  const float value = x[i];      // counts: requests=1 bytes_asked=32 active_lanes=8
  return value * value * value;  // counts: flops=16 active_lanes=8
}
__global__ void call_by_some(float* y, const float* x) {
  const int t = threadIdx.x;
  float value = 1;
  if (t % 4 == 0) value = cube(x, t);
  y[t] = value;  // counts: requests=1 sectors=4 active_lanes=32
}

// Neighbours add in pairs, then in fours …: 32 threads that are far apart. 2 warps of 64 threads:
// step 1: lanes 0, 2, 4, …: 16 in each warp. step 2: 8, 4: 4, 8: 2, 16: 1 in each; step 32: lane 0 of the
// first warp only. Requests of the line: two loads and a store in 5·2 + 1 = 11 warps; additions 2·(16 + 8 + 4
// + 2 + 1) + 1 = 63.
__global__ void interleaved_reduction(float* y, const float* x) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int step = 1; step < 64; step *= 2) {
    if (t % (2 * step) == 0) s[t] += s[t + step];  // counts: requests=33 flops=63
    __syncthreads();                               // 6 steps of 2 warps. counts: barriers=12
  }
  if (t == 0) y[0] = s[0];  // counts: requests=2 sectors=1 ideal_sectors=1
}

// The same by shuffles: 5 collectives of one warp.
__global__ void shuffles(float* y, const float* x) {
  float sum = x[threadIdx.x];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, step);  // counts: collectives=5 flops=160
  if (threadIdx.x == 0) y[0] = sum;                   // counts: requests=1 sectors=1 bytes_asked=4
}

// More threads than the executor lets a thread run ahead of: 2 loads in each of 5000 rounds, in step to the
// end.
__global__ void long_loop(float* y, const float* x) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 5000; ++k) {
    if (k % 2 == t % 2)
      sum += x[t];  // counts: requests=5000 bytes_asked=320000 flops=80000
    else
      sum -= x[t + 32];  // counts: requests=5000 bytes_asked=320000 flops=80000
  }
  y[t] = sum;  // counts: requests=1 active_lanes=32
}

// 20 threads: 20 lanes.
__global__ void part_of_a_warp(float* y) {
  y[threadIdx.x] = 1;  // counts: requests=1 sectors=3 ideal_sectors=3 bytes_asked=80 active_lanes=20
}

// One address for all: 32 rounds; four addresses: 8 rounds.
__global__ void atomics(int* y) {
  const int t = threadIdx.x;
  atomicAdd(&y[0], 1);      // counts: requests=1 atomics=1 sectors=1 atomic_rounds=32
  atomicAdd(&y[t % 4], 1);  // counts: requests=1 atomics=1 sectors=1 atomic_rounds=8
  __shared__ int s[32];
  s[t] = 0;
  __syncthreads();
  atomicAdd(&s[t], 1);      // counts: requests=1 atomics=1 atomic_rounds=1 wavefronts=1
  atomicMax(&s[t / 2], t);  // counts: requests=1 atomics=1 atomic_rounds=2 wavefronts=1
  __syncthreads();
  y[t] += s[t];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  cudaMemset(x, 0, 4096);
  cudaMemset(y, 0, 4096);
  two_ways<<<1, 32>>>(y, x);
  loop_of_lanes<<<1, 32>>>(y, x);
  loop_in_loop<<<1, 32>>>(y, x);
  call_by_some<<<1, 32>>>(y, x);
  interleaved_reduction<<<1, 64>>>(y, x);
  shuffles<<<1, 32>>>(y, x);
  long_loop<<<1, 32>>>(y, x);
  part_of_a_warp<<<1, 20>>>(y);
  atomics<<<1, 32>>>((int*)y);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

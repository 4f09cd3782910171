// The kernel that the debugger test stops in.
#include "tests/simt/kernels.h"

namespace treadle::TREADLE_TARGET {
namespace {

__global__ void debugged_kernel(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __syncthreads();
  out[i] = i;  // line 10
}

}  // namespace

void debugged(stream_t stream, int* out) { launch<debugged_kernel>(stream, 2, 8, 0, out); }

}  // namespace treadle::TREADLE_TARGET

"""A CUDA kernel, run without a GPU: its mistake is found, it is mended, and what it asks of memory is counted."""

# %% A transpose through shared memory, as one writes it first.
import treadle as td

TRANSPOSE = """#include <cstdio>
#include <vector>
constexpr int kTile = 32;

__global__ void transpose(const float* x, float* y, int n) {
  __shared__ float tile[kTile][kTile + PADDING];
  const int left = blockIdx.x * kTile, top = blockIdx.y * kTile;
  tile[threadIdx.y][threadIdx.x] = x[(top + threadIdx.y) * n + left + threadIdx.x];
  BARRIER;
  y[(left + threadIdx.y) * n + top + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
  const int n = 64;
  std::vector<float> values(n * n);
  for (int i = 0; i < n * n; ++i) values[i] = i;
  float *x, *y;
  cudaMalloc(&x, n * n * sizeof(float));
  cudaMalloc(&y, n * n * sizeof(float));
  cudaMemcpy(x, values.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
  transpose<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(x, y, n);
  cudaMemcpy(values.data(), y, n * n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x), cudaFree(y);
  for (int i = 0; i < n * n; ++i)
    if (values[i] != i % n * n + i / n) return puts("element wrong"), 1;
  puts("all elements are right");
}
"""

# %% Nobody waits until the tile is full: a race, though the order of threads may hide it.
found = td.simt.check(TRANSPOSE, define=["PADDING=0", "BARRIER=(void)0"], workers=1)
for report in found.reports:
    print(report)
    print("  in", report.allocation, "by threads", report.place.thread, "and", report.other.thread if report.other else None)

# %% With a barrier nothing is found, in other orders of blocks and threads neither.
for options in {"schedule": "forward"}, {"schedule": "reverse"}, {"seed": 7}:
    mended = td.simt.check(TRANSPOSE, define=["PADDING=0", "BARRIER=__syncthreads()"], **options)
    print(options, "clean" if mended else "faulty", "-", mended.output.strip())

# %% The tile is read by columns: 32 lanes in one bank of shared memory, unless its rows are one longer.
LINE = TRANSPOSE.splitlines().index("  y[(left + threadIdx.y) * n + top + threadIdx.x] = tile[threadIdx.x][threadIdx.y];") + 1
for padding in 0, 1:
    counts = td.simt.profile(TRANSPOSE, define=[f"PADDING={padding}", "BARRIER=__syncthreads()"], card="A100")
    (kernel,) = counts.kernels
    line = kernel.line(LINE)
    print(f"padding {padding}: {line['wavefronts']} wavefronts where {line['ideal_wavefronts']} would do; held by {kernel.bound['bottleneck']}")

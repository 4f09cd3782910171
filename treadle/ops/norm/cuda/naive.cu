/// layer_norm the plainest way: a thread for each row, which reads it three times: for the mean, for the
/// squares of what is off it, for the result. Neighbouring threads have neighbouring rows, so that each read
/// of a warp meets 32 sectors.
#include "treadle/ops/norm/cuda/normalized_rows.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

template <class T>
__global__ void layer_norm_naive(LayerNormOperands in) {
  using C = Compute<T>;
  const int64_t row = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= in.rows.numel) return;
  const LayerNormRow<T> x(in, row);
  C sum = 0, squares = 0;
  for (int64_t i = 0; i < in.length; ++i) sum += x.element(i);
  const C mean = sum / static_cast<C>(in.length);
  for (int64_t i = 0; i < in.length; ++i) squares += (x.element(i) - mean) * (x.element(i) - mean);
  const C deviation = x.deviation(squares);
  for (int64_t i = 0; i < in.length; ++i) x.write(i, mean, deviation);
}

void run(const Call& call) {
  const LayerNormOperands in = layer_norm_operands(call);
  with_floating_device_type(call.output().dtype, [&](auto tag) {
    launch<layer_norm_naive<typename decltype(tag)::type>, independent>(
        stream_of(call), blocks_for(in.rows.numel), kThreads, 0, in);
  });
}

}  // namespace

void register_norm_cuda_naive(Registry& registry) {
  add_variant(registry, "layer_norm",
              {.name = "naive",
               .device = kDevice,
               .run = run,
               .rung = 1,
               .idea = "a thread for each row, three passes over it"});
}

}  // namespace treadle::TREADLE_TARGET

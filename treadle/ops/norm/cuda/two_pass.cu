/// layer_norm with a warp for each row: neighbouring lanes read neighbours, and sums meet by shuffles.
///
/// The passes are naive's: the mean first, then the squares, then the result. The squares must wait for the
/// mean, as the mean of squares less the square of the mean loses all digits where the mean is large beside
/// the deviation. Kirk and Hwu, Programming Massively Parallel Processors, on coalescing; Chan, Golub and
/// LeVeque, Algorithms for Computing the Sample Variance, 1983, on the two passes.
#include "treadle/ops/norm/cuda/normalized_rows.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

__global__ void layer_norm_two_pass(LayerNormOperands in) {
  const WarpGroup group;
  if (group.item() >= in.rows.numel) return;
  const LayerNormRow<float> x(in, group.item());
  const Addition<float> add;
  float sum = 0, squares = 0;
  for (int64_t i = group.rank(); i < in.length; i += group.size()) sum += x.element(i);
  const float mean = group.reduce(sum, add, 0.f) / static_cast<float>(in.length);
  for (int64_t i = group.rank(); i < in.length; i += group.size())
    squares += (x.element(i) - mean) * (x.element(i) - mean);
  const float deviation = x.deviation(group.reduce(squares, add, 0.f));
  for (int64_t i = group.rank(); i < in.length; i += group.size()) x.write(i, mean, deviation);
}

void run(const Call& call) {
  const LayerNormOperands in = layer_norm_operands(call);
  launch<layer_norm_two_pass>(stream_of(call), blocks_for(in.rows.numel, WarpGroup::kPerBlock),
                              WarpGroup::kThreads, 0, in);
}

bool takes(const Call& call) { return call.output().dtype == DType::f32; }

}  // namespace

void register_norm_cuda_two_pass(Registry& registry) {
  add_variant(registry, "layer_norm",
              {.name = "two_pass",
               .device = kDevice,
               .run = run,
               .when = takes,
               .preference = -1,
               .rung = 2,
               .idea = "a warp for each row: whole sectors, and sums by shuffles"});
}

}  // namespace treadle::TREADLE_TARGET

/// max_pool2d of channels-last images by four channels at a time.
///
/// naive finds the place of each result by divisions, and walks its window, for one element of 4 bytes. Where
/// channels lie innermost, four neighbours share all of that: a thread takes four, and reads, writes and
/// notes positions 16 bytes at a time. A quarter of the requests and of the reckoning of places; what is
/// compared stays the same. Luitjens, CUDA Pro Tip: Increase Performance with Vectorized Memory Access, 2013.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/pool2d/max_pool2d_options.h"
#include "treadle/ops/pool2d/pool2d_geometry.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// Keeps the first largest value, or the first that is no number.
__device__ inline void offer(float value, int32_t place, float& best, int32_t& position) {
  if (position >= 0 && (value <= best || best != best)) return;
  best = value, position = place;
}

/// Thread i owns quad i of y and of its positions, in the order of memory. Reads up to R·S times 16 bytes,
/// writes twice 16.
__global__ void max_pool2d_vector4(Pool2dGeometry g, Operand4 argmax, const float* x, float* y,
                                   int32_t* positions) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, quads = g.C / 4;
  if (i >= g.N * quads * g.P * g.Q) return;
  const int64_t c = i % quads * 4, q = i / quads % g.Q, p = i / quads / g.Q % g.P, n = i / quads / g.Q / g.P;
  float4 best = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
  int4 position = make_int4(-1, -1, -1, -1);
  for (int64_t r = 0; r < g.R; ++r)
    for (int64_t s = 0; s < g.S; ++s) {
      const int64_t h = g.row(p, r), w = g.column(q, s);
      if (!g.inside(h, w)) continue;
      const float4 value = *reinterpret_cast<const float4*>(x + g.x.at(n, c, h, w));
      const int32_t place = int32_t(h * g.W + w);
      offer(value.x, place, best.x, position.x);
      offer(value.y, place, best.y, position.y);
      offer(value.z, place, best.z, position.z);
      offer(value.w, place, best.w, position.w);
    }
  *reinterpret_cast<float4*>(y + g.y.at(n, c, p, q)) = best;
  *reinterpret_cast<int4*>(positions + argmax.at(n, c, p, q)) = position;
}

void run(const Call& call) {
  const TensorView &x = call.input(0), &y = call.output(), &positions = call.output(1);
  const auto& o = call.options<MaxPool2dOptions>();
  const auto g = make_pool2d_geometry(x, y, o.kernel, o.stride, o.padding, o.dilation);
  launch<max_pool2d_vector4, independent>(stream_of(call), blocks_for(y.numel() / 4), kThreads, 0, g,
                                          make_operand4(positions), x.as<float>(), y.as<float>(),
                                          positions.as<int32_t>());
}

/// Four channels lie side by side at a multiple of 16 bytes wherever they begin.
bool has_quads_of_channels(const TensorView& view) {
  return view.shape[1] % 4 == 0 && view.strides[1] == 1 && view.strides[0] % 4 == 0 &&
         view.strides[2] % 4 == 0 && view.strides[3] % 4 == 0 &&
         reinterpret_cast<uintptr_t>(view.data) % 16 == 0;
}

bool takes(const Call& call) {
  return call.input(0).dtype == DType::f32 && has_quads_of_channels(call.input(0)) &&
         has_quads_of_channels(call.output(0)) && has_quads_of_channels(call.output(1));
}

}  // namespace

void register_pool2d_cuda_vector4(Registry& registry) {
  add_variant(registry, "max_pool2d",
              {.name = "vector4",
               .device = kDevice,
               .run = run,
               .when = takes,
               .preference = 10,
               .rung = 2,
               .idea = "a thread takes four channels, 16 bytes in each access"});
}

}  // namespace treadle::TREADLE_TARGET

/// layer_norm of f32 on the cpu device: each row is read while it lies in the cache, y written once.
#include <cmath>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/norm/layer_norm.h"

namespace treadle {
namespace {

constexpr double kElement = 0.3;  ///< nanoseconds
constexpr int64_t kLanes = 16;

/// Σ value(i) for i in [0, count), in as many sums as a vector has lanes.
template <class Value>
float sum_of(int64_t count, Value value) {
  float lanes[kLanes] = {}, sum = 0;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] += value(i + k);
  for (; i < count; ++i) sum += value(i);
  for (float lane : lanes) sum += lane;
  return sum;
}

void write_row(const float* x, const float* w, const float* b, float* y, int64_t C, float epsilon) {
  const float mean = sum_of(C, [&](int64_t c) { return x[c]; }) / float(C);
  const float squares = sum_of(C, [&](int64_t c) { return (x[c] - mean) * (x[c] - mean); });
  const float scale = 1 / std::sqrt(squares / float(C) + epsilon);
  if (b)
    for (int64_t c = 0; c < C; ++c) y[c] = (x[c] - mean) * scale * w[c] + b[c];
  else
    for (int64_t c = 0; c < C; ++c) y[c] = (x[c] - mean) * scale * w[c];
}

/// A thread owns whole rows. Memory: x read and y written, 8 bytes an element.
void run(const Call& call) {
  const int64_t C = call.input(0).shape[-1], rows = C ? call.output().numel() / C : 0;
  const float *x = call.input(0).as<float>(), *w = call.input(1).as<float>();
  const float* b = call.has_input(2) ? call.input(2).as<float>() : nullptr;
  float* y = call.output().as<float>();
  const float epsilon = float(call.options<LayerNormOptions>().epsilon);
  parallel_for(rows, Nanoseconds{kElement * double(C)}, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) write_row(x + row * C, w, b, y + row * C, C, epsilon);
  });
}

bool takes(const Call& call) {
  return call.input(0).dtype == DType::f32 && call.input(0).contiguous() && call.input(1).contiguous() &&
         (!call.has_input(2) || call.input(2).contiguous());
}

}  // namespace

namespace ops {

void register_norm_cpu_rows(Registry& registry) {
  add_variant(registry, "layer_norm",
              {.name = "rows", .device = DeviceKind::cpu, .run = run, .when = takes, .preference = 20});
}

}  // namespace ops
}  // namespace treadle

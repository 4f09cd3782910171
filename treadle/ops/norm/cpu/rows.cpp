/// layer_norm of f32 and its gradient on the cpu device: each row is read while it lies in the cache, and
/// what is made of it written once.
#include <algorithm>
#include <cmath>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/norm/layer_norm.h"
#include "treadle/simd/instruction_sets.h"

namespace treadle {
namespace {

constexpr double kElement = 0.3;  ///< nanoseconds
constexpr int64_t kLanes = 16;

/// Σ value(i) for i in [0, count), in as many sums as a vector has lanes.
template <class Value>
TREADLE_ALWAYS_INLINE float sum_of(int64_t count, Value value) {
  float lanes[kLanes] = {}, sum = 0;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] += value(i + k);
  for (; i < count; ++i) sum += value(i);
  for (float lane : lanes) sum += lane;
  return sum;
}

struct Row {
  float mean, scale;  ///< n = (x - mean)·scale
};

TREADLE_ALWAYS_INLINE Row measured(const float* x, int64_t C, float epsilon) {
  const float mean = sum_of(C, [&](int64_t c) { return x[c]; }) / float(C);
  const float squares = sum_of(C, [&](int64_t c) { return (x[c] - mean) * (x[c] - mean); });
  return {mean, 1 / std::sqrt(squares / float(C) + epsilon)};
}

/// Rows that follow each other; b may be null.
struct Forward {
  const float *x, *w, *b;
  float* y;
  int64_t C;
  float epsilon;

  TREADLE_ALWAYS_INLINE void run(int64_t begin, int64_t end) const {
    for (int64_t row = begin; row < end; ++row) write_row(x + row * C, y + row * C);
  }
  TREADLE_ALWAYS_INLINE void write_row(const float* in, float* __restrict out) const {
    const Row row = measured(in, C, epsilon);
    if (b)
      for (int64_t c = 0; c < C; ++c) out[c] = (in[c] - row.mean) * row.scale * w[c] + b[c];
    else
      for (int64_t c = 0; c < C; ++c) out[c] = (in[c] - row.mean) * row.scale * w[c];
  }
};

/// The sums over rows, dw and db, are those of blocks of so many rows, so that threads change no bits.
constexpr int64_t kRowsOfBlock = 64;

struct Backward {
  const float *dy, *x, *w;
  float *dx, *sums;  ///< of each block, dw and db
  int64_t C, rows;
  float epsilon;

  TREADLE_ALWAYS_INLINE void run(int64_t begin, int64_t end) const {
    for (int64_t block = begin; block < end; ++block) {
      float *dw = sums + block * 2 * C, *db = dw + C;
      std::fill(dw, db + C, 0.f);
      const int64_t last = std::min((block + 1) * kRowsOfBlock, rows);
      for (int64_t row = block * kRowsOfBlock; row < last; ++row)
        add_row(dy + row * C, x + row * C, dx + row * C, dw, db);
    }
  }
  TREADLE_ALWAYS_INLINE void add_row(const float* dy_row, const float* in, float* __restrict out,
                                     float* __restrict dw, float* __restrict db) const {
    const auto [mean, scale] = measured(in, C, epsilon);
    const float share = 1 / float(C), sum = share * sum_of(C, [&](int64_t c) { return dy_row[c] * w[c]; }),
                dot = share * scale * sum_of(C, [&](int64_t c) { return dy_row[c] * w[c] * (in[c] - mean); });
    for (int64_t c = 0; c < C; ++c) {
      const float n = (in[c] - mean) * scale;
      out[c] = (dy_row[c] * w[c] - sum - n * dot) * scale;
      dw[c] += dy_row[c] * n;
      db[c] += dy_row[c];
    }
  }
};

float epsilon_of(const Call& call) { return float(call.options<LayerNormOptions>().epsilon); }

/// A thread owns whole rows. Memory: x read and y written, 8 bytes an element.
void run(const Call& call) {
  const int64_t C = call.input(0).shape[-1], count = C ? call.output().numel() / C : 0;
  const float* b = call.has_input(2) ? call.input(2).as<float>() : nullptr;
  const Forward rows{call.input(0).as<float>(), call.input(1).as<float>(), b, call.output().as<float>(), C,
                     epsilon_of(call)};
  parallel_for(count, Nanoseconds{kElement * double(C)},
               [&](int64_t begin, int64_t end) { in_widest_vectors([&] { rows.run(begin, end); }); });
}

/// A thread owns whole blocks of rows. Memory: dy and x read and dx written, 12 bytes an element.
void run_gradient(const Call& call) {
  const TensorView& x = call.input(1);
  const int64_t C = x.shape[-1], count = C ? x.numel() / C : 0,
                blocks = (count + kRowsOfBlock - 1) / kRowsOfBlock;
  float *sums = call.workspace<float>(std::max<int64_t>(blocks * 2 * C, 1)), *dw = call.output(1).as<float>(),
        *db = call.output(2).as<float>();
  const Backward rows{call.input(0).as<float>(),
                      x.as<float>(),
                      call.input(2).as<float>(),
                      call.output(0).as<float>(),
                      sums,
                      C,
                      count,
                      epsilon_of(call)};
  parallel_for(blocks, Nanoseconds{2 * kElement * double(C * kRowsOfBlock)},
               [&](int64_t begin, int64_t end) { in_widest_vectors([&] { rows.run(begin, end); }); });
  std::fill_n(dw, C, 0.f), std::fill_n(db, C, 0.f);
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t c = 0; c < C; ++c) dw[c] += sums[block * 2 * C + c], db[c] += sums[(block * 2 + 1) * C + c];
}

bool takes(const Call& call) {
  for (const TensorView& operand : call.inputs)
    if (operand.defined() && (operand.dtype != DType::f32 || !operand.contiguous())) return false;
  return true;
}

}  // namespace

namespace ops {

void register_norm_cpu_rows(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&)) {
    add_variant(registry, op,
                {.name = "rows", .device = DeviceKind::cpu, .run = run, .when = takes, .preference = 20});
  };
  add("layer_norm", run);
  add("layer_norm_gradient", run_gradient);
}

}  // namespace ops
}  // namespace treadle

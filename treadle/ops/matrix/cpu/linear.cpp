/// The cpu variants for the products of linear layers in f32: "rows" (c = a·b for b whose columns are
/// dense) and "panels" (c = a·b for b whose rows are, and updates in place), each thread on its own part of
/// the result.
#include "treadle/graph/variant.h"
#include "treadle/ops/matrix/cpu/gradient_blocks.h"
#include "treadle/ops/matrix/cpu/linear_parts.h"
#include "treadle/ops/matrix/cpu/linear_products.h"
#include "treadle/ops/matrix/cpu/panel_parts.h"
#include "treadle/ops/matrix/linear_options.h"
#include "treadle/ops/matrix/matrix_product.h"

namespace treadle {
namespace {

using namespace linear_parts;

constexpr int64_t kBlock = 16 * 1024;  ///< floats of a gradient that wait in L2 for what follows
constexpr int64_t kBlockColumns = 512;

/// Each thread streams its own rows of b, unless there are few.
void multiply_in_parts(const cpu::RowProduct& product) {
  const int64_t wanted = parts_of(product.M * product.N * product.K);
  const bool by_columns = product.N >= 2 * kLine * wanted || product.N >= product.M;
  const Cut cut = by_columns ? Cut(product.N, wanted, kLine) : Cut(product.M, wanted, kTile);
  for_each_part(cut, [&](int64_t, Range r) {
    cpu::RowProduct p = product;
    if (by_columns) {
      p.N = r.size(), p.b += r.begin * p.b_row, p.c += r.begin;
      if (p.bias) p.bias += r.begin;
    } else {
      p.M = r.size(), p.a += r.begin * p.a_row, p.c += r.begin * p.c_row;
    }
    cpu::multiply_rows(p);
  });
}

cpu::RowProduct row_product(const MatrixProduct& p, bool relu = false) {
  return {p.M,
          p.N,
          p.K,
          static_cast<const float*>(p.a),
          p.a_row,
          static_cast<const float*>(p.b),
          p.b_column,
          static_cast<const float*>(p.bias),
          static_cast<float*>(p.c),
          p.c_row,
          relu};
}

cpu::PanelProduct panel_product(const MatrixProduct& p, bool relu = false) {
  return {p.M,
          p.N,
          p.K,
          static_cast<const float*>(p.a),
          p.a_row,
          p.a_column,
          static_cast<const float*>(p.b),
          p.b_row,
          p.N <= 1 ? 1 : p.b_column,
          static_cast<float*>(p.c),
          p.c_row,
          static_cast<const float*>(p.bias),
          relu};
}

bool suits_rows(const MatrixProduct& p) {
  return p.dtype == DType::f32 && p.batch.numel == 1 && has_unit_step(p.K, p.a_column) &&
         has_unit_step(p.K, p.b_row) && has_unit_step(p.N, p.c_column) &&
         (!p.bias || has_unit_step(p.N, p.bias_step));
}

/// Beyond small batches, packing both operands is the better scheme.
constexpr int64_t kLargestBatch = 512;

bool suits_panels(const MatrixProduct& p) {
  return p.dtype == DType::f32 && p.batch.numel == 1 && std::min(p.M, p.K) <= kLargestBatch &&
         has_unit_step(p.N, p.b_column) && has_unit_step(p.N, p.c_column) &&
         (!p.bias || has_unit_step(p.N, p.bias_step));
}

template <bool relu>
void run_rows(const Call& call) {
  multiply_in_parts(row_product(linear_product(call), relu));
}

bool takes_rows(const Call& call) { return suits_rows(linear_product(call)); }

// ---- y = x·w for w in memory as [in][out] -----------------------------------------------------------------

constexpr int64_t kInputParts = 4;  ///< a constant, so that sums do not depend on threads

/// Whether threads share the inputs, which is to say rows of w. Gradients are shared so as well: each thread
/// finds its rows of w in its own cache, and there are few sums to add up.
bool is_shared_by_inputs(const cpu::PanelProduct& p) {
  return p.K >= 256 && p.M * p.N <= 8192 && p.M * p.N * p.K >= 100'000;
}

/// c += the other parts' sums, then ReLU.
void add_parts(const cpu::PanelProduct& p, const float* sums) {
  for (int64_t i = 0; i < p.M; ++i) {
    float* c = p.c + i * p.c_row;
    for (int64_t part = 0; part + 1 < kInputParts; ++part) {
      const float* row = sums + (part * p.M + i) * p.N;
      for (int64_t j = 0; j < p.N; ++j) c[j] += row[j];
    }
    if (p.relu)
      for (int64_t j = 0; j < p.N; ++j) c[j] = c[j] <= 0 ? 0 : c[j];
  }
}

void multiply_by_inputs(const Call& call, const cpu::PanelProduct& product) {
  const int64_t wanted = (parts_of(product.M * product.N * product.K) + kInputParts - 1) / kInputParts;
  const Cut inputs(product.K, kInputParts, kLine), columns(product.N, wanted, kLine);
  const int64_t size = in_lines(cpu::panel_scratch(product));
  float* scratch = call.workspace<float>(size * columns.parts() * kInputParts);
  float* sums = call.workspace<float>(product.M * product.N * (kInputParts - 1));
  for_each_part(columns.parts() * kInputParts, [&](int64_t index) {
    const int64_t part = index / columns.parts();
    const Range own = columns[index % columns.parts()], terms = inputs[part];
    cpu::PanelProduct p = product;
    p.K = terms.size(), p.a += terms.begin * p.a_column, p.b += terms.begin * p.b_row + own.begin;
    p.N = own.size(), p.relu = false;
    if (part > 0) p.c = sums + (part - 1) * product.M * product.N, p.c_row = product.N, p.bias = nullptr;
    p.c += own.begin;
    if (p.bias) p.bias += own.begin;
    cpu::multiply_panels(p, scratch + index * size);
  });
  add_parts(product, sums);
}

template <bool relu>
void run_panels(const Call& call) {
  const cpu::PanelProduct product = panel_product(linear_product(call), relu);
  if (is_shared_by_inputs(product))
    multiply_by_inputs(call, product);
  else
    multiply_panels_in_parts(call, product);
}

bool takes_panels(const Call& call) { return suits_panels(linear_product(call)); }

/// Whether packing columns of b pays: by tiles of packed b, a large M is faster; by rows, a large K.
bool is_worth_packing(const MatrixProduct& p) { return 6 * p.M >= p.K; }

void run_matmul_rows(const Call& call) { multiply_in_parts(row_product(matmul_product(call))); }

bool takes_matmul_rows(const Call& call) {
  const MatrixProduct p = matmul_product(call);
  return suits_rows(p) && !is_worth_packing(p);
}

void run_matmul_panels(const Call& call) {
  multiply_panels_in_parts(call, panel_product(matmul_product(call)));
}

bool takes_matmul_panels(const Call& call) {
  const MatrixProduct p = matmul_product(call);
  if (p.dtype != DType::f32 || p.batch.numel != 1 || std::min(p.M, p.K) > kLargestBatch ||
      !has_unit_step(p.N, p.c_column))
    return false;
  return has_unit_step(p.N, p.b_column) || (has_unit_step(p.K, p.b_row) && is_worth_packing(p));
}

/// dyᵀ·x as c = a·b with the rows of c along the inputs or, `by_input`, xᵀ·dy with them along the outputs.
cpu::PanelProduct weight_product(const TensorView& x, const TensorView& dy, const TensorView& w,
                                 bool by_input) {
  const TensorView &a = by_input ? x : dy, &b = by_input ? dy : x;
  return {a.shape[1],
          b.shape[1],
          x.shape[0],
          a.as<float>(),
          a.strides[1],
          a.strides[0],
          b.as<float>(),
          b.strides[0],
          1,
          w.as<float>(),
          w.strides[by_input ? 1 : 0]};
}

bool takes_weight_product(const TensorView& x, const TensorView& dy, const TensorView& w, bool by_input) {
  const int along = by_input ? 0 : 1;
  return has_unit_step(w.shape[along], (by_input ? dy : x).strides[1]) &&
         has_unit_step(w.shape[along], w.strides[along]);
}

void run_weight_gradient(const Call& call) {
  const TensorView &x = call.input(0), &dy = call.input(1), &dw = call.output();
  float* db = call.outputs.size() > 1 ? call.output(1).as<float>() : nullptr;
  const bool by_input = !takes_weight_product(x, dy, dw, false);
  multiply_panels_in_parts(call, weight_product(x, dy, dw, by_input), [&](int64_t index, int64_t parts) {
    const Cut outputs(dy.shape[1], parts, kLine);
    if (!db || index >= outputs.parts()) return;
    sum_over_batch(dy, outputs[index].begin, outputs[index].size(), db + outputs[index].begin);
  });
}

bool takes_weight_product(const TensorView& x, const TensorView& dy, const TensorView& w) {
  return x.dtype == DType::f32 &&
         (takes_weight_product(x, dy, w, false) || takes_weight_product(x, dy, w, true));
}

bool takes_weight_gradient(const Call& call) {
  return call.input(0).shape[0] <= kLargestBatch &&
         takes_weight_product(call.input(0), call.input(1), call.output());
}

cpu::PanelProduct update_product(const Call& call) {
  const TensorView &x = call.input(0), &dy = call.input(1), &w = weight_of(call);
  return weight_product(x, dy, w, !takes_weight_product(x, dy, w, false));
}

/// Calls with(outputs, their gradients), each thread for its own outputs; `sums` holds all.
template <class With>
auto for_bias(const Call& call, float* sums, With with) {
  return [&call, sums, with](int64_t index, int64_t parts) {
    const TensorView& dy = call.input(1);
    const Cut outputs(dy.shape[1], parts, kLine);
    if (!sums || index >= outputs.parts()) return;
    const Range own = outputs[index];
    sum_over_batch(dy, own.begin, own.size(), sums + own.begin);
    with(own, sums + own.begin);
  };
}

/// Makes a product in blocks that stay in L2 with what they update.
void multiply_in_blocks(const cpu::PanelProduct& p, const float* w, float* block, float* scratch,
                        const BlockConsumer& consumer) {
  const int64_t width = std::min(p.N, kBlockColumns);
  const int64_t height = std::max(kBlock / std::max<int64_t>(width, 1) / kTile * kTile, kTile);
  for (int64_t j = 0; j < p.N; j += width)
    for (int64_t i = 0; i < p.M; i += height) {
      cpu::PanelProduct part = p;
      part.M = std::min(height, p.M - i), part.a += i * p.a_row;
      part.N = std::min(width, p.N - j), part.b += j * p.b_column;
      part.c = block, part.c_row = part.N;
      cpu::multiply_panels(part, scratch);
      consumer.take(consumer.context,
                    {false, part.M, part.N, block, part.N, p.c - w + i * p.c_row + j, p.c_row});
    }
}

}  // namespace

bool takes_panels(const Call& call, int tensors) {
  return takes_weight_product(call.input(0), call.input(1), weight_of(call)) &&
         (tensors == 1 || kept_lies_alike(call, tensors));
}

void gradient_by_panels(const Call& call, int tensors, const BlockConsumer& consumer) {
  const cpu::PanelProduct product = update_product(call);
  const int64_t block = std::max(kBlock, kTile * std::min(product.N, kBlockColumns));
  float* sums = updates_bias(call, tensors) ? call.workspace<float>(call.input(1).shape[1]) : nullptr;
  for_parts_of(
      call, product, share_of(product), block + cpu::panel_scratch(product),
      [&](const cpu::PanelProduct& part, float* scratch) {
        multiply_in_blocks(part, product.c, scratch, scratch + block, consumer);
      },
      for_bias(call, sums, [&](Range own, const float* gradient) {
        consumer.take(consumer.context, {true, 1, own.size(), gradient, 0, own.begin, 0});
      }));
}

void update_by_panels(const Call& call, const DecayedStep<float>& step) {
  cpu::PanelProduct product = update_product(call);
  product.update = true, product.rate = step.rate, product.weight_decay = step.weight_decay;
  const bool bias = updates_bias(call, 1);
  float* sums = bias ? call.workspace<float>(call.input(1).shape[1]) : nullptr;
  multiply_panels_in_parts(call, product, for_bias(call, sums, [&](Range own, const float* gradient) {
                             update_bias(call.input(kParametersOfLinearUpdate + 1), own, gradient, step);
                           }));
}

namespace ops {

void register_matrix_cpu_linear(Registry& registry) {
  auto add = [&](const char* op, const char* name, void (*run)(const Call&), bool (*when)(const Call&),
                 int preference = 30) {
    add_variant(
        registry, op,
        {.name = name, .device = DeviceKind::cpu, .run = run, .when = when, .preference = preference});
  };
  add("linear", "rows", run_rows<false>, takes_rows);
  add("linear", "panels", run_panels<false>, takes_panels, 29);
  add("linear_relu", "rows", run_rows<true>, takes_rows);
  add("linear_relu", "panels", run_panels<true>, takes_panels, 29);
  add("matmul", "panels", run_matmul_panels, takes_matmul_panels);
  add("matmul", "rows", run_matmul_rows, takes_matmul_rows, 29);
  add("linear_weight_gradient", "panels", run_weight_gradient, takes_weight_gradient);
}

}  // namespace ops
}  // namespace treadle

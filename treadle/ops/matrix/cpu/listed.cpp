/// The cpu variants "listed" of the ops around linear, in f32: they list the elements of x that are not zero
/// and skip the others. They take weights that lie in memory as [in][out].
#include "treadle/graph/variant.h"
#include "treadle/ops/matrix/cpu/gradient_blocks.h"
#include "treadle/ops/matrix/cpu/linear_parts.h"
#include "treadle/ops/matrix/cpu/listed_products.h"
#include "treadle/ops/matrix/linear_options.h"

namespace treadle {
namespace {

using namespace linear_parts;

constexpr int64_t kFewRows = 3;  ///< up to so many rows, threads share the inputs, not the outputs
constexpr int64_t kMostParts = 8, kInputsOfPart = 256;  ///< of the inputs then: whatever the threads
constexpr int64_t kLargestOffset = 1 << 30;             ///< kernels count elements in 32 bits

bool is_row_major(const TensorView& x) { return has_unit_step(x.shape[1], x.strides[1]); }

/// x is a row-major matrix, w [out, in] lies in memory as [in][out].
bool suits_lists(const TensorView& x, const TensorView& w) {
  return x.dtype == DType::f32 && is_row_major(x) && has_unit_step(w.shape[0], w.strides[0]) &&
         w.strides[1] >= w.shape[0] && w.strides[1] <= kLargestOffset / 1024 &&
         x.shape[0] * 128 < kLargestOffset;
}

// ---- linear -----------------------------------------------------------------------------------------------

cpu::ListedProduct listed_product(const Call& call, bool relu) {
  const TensorView &x = call.input(0), &w = call.input(1), &y = call.output();
  return {x.shape[0],    x.shape[1],    w.shape[0],   x.as<float>(),
          x.strides[0],  w.as<float>(), w.strides[1], call.has_input(2) ? call.input(2).as<float>() : nullptr,
          y.as<float>(), y.strides[0],  relu};
}

/// Each thread sums over its own inputs, so that the rows of w stay in its cache for the gradients. The
/// number of parts does not depend on threads, and with it no sum.
void multiply_few_rows(const Call& call, const cpu::ListedProduct& product) {
  const Cut inputs(product.in, std::clamp<int64_t>(product.in / kInputsOfPart, 1, kMostParts), kLine);
  const int64_t parts = inputs.parts();
  const int64_t size = in_lines(cpu::listed_product_scratch(product.N));
  const int64_t partial = in_lines(product.N * product.out);
  float* scratch = call.workspace<float>((size + partial) * parts);
  float* sums = scratch + size * parts;
  for_each_part(inputs, [&](int64_t index, Range r) {
    cpu::ListedProduct p = product;
    p.in = r.size(), p.x += r.begin, p.w += r.begin * p.w_row, p.bias = nullptr, p.relu = false;
    p.y = sums + index * partial, p.y_row = p.out;
    cpu::multiply_listed(p, scratch + index * size);
  });
  for (int64_t n = 0; n < product.N; ++n) {
    float* y = product.y + n * product.y_row;
    if (product.bias)
      std::copy_n(product.bias, product.out, y);
    else
      std::fill_n(y, product.out, 0.0f);
    for (int64_t part = 0; part < parts; ++part) {
      const float* sum = sums + part * partial + n * product.out;
      for (int64_t o = 0; o < product.out; ++o) y[o] += sum[o];
    }
    if (product.relu)
      for (int64_t o = 0; o < product.out; ++o) y[o] = y[o] <= 0 ? 0 : y[o];
  }
}

/// Each thread reads its own columns of w; where they are too few, some rows of x besides.
void multiply_many_rows(const Call& call, const cpu::ListedProduct& product) {
  constexpr int64_t kColumns = 64;
  const int64_t parts = parts_of(product.N * product.in * product.out / 4);
  const Cut across(product.out, parts, kColumns), down(product.N, parts / across.parts());
  const int64_t size = in_lines(cpu::listed_product_scratch(product.N));
  float* scratch = call.workspace<float>(size * across.parts() * down.parts());
  for_each_part(across.parts() * down.parts(), [&](int64_t index) {
    const Range columns = across[index % across.parts()], rows = down[index / across.parts()];
    cpu::ListedProduct p = product;
    p.N = rows.size(), p.x += rows.begin * p.x_row, p.out = columns.size(), p.w += columns.begin;
    p.y += rows.begin * p.y_row + columns.begin;
    if (p.bias) p.bias += columns.begin;
    cpu::multiply_listed(p, scratch + index * size);
  });
}

template <bool relu>
void run_linear(const Call& call) {
  const cpu::ListedProduct product = listed_product(call, relu);
  if (product.N <= kFewRows)
    multiply_few_rows(call, product);
  else
    multiply_many_rows(call, product);
}

bool takes_linear(const Call& call) {
  return suits_lists(call.input(0), call.input(1)) && is_row_major(call.output()) &&
         (!call.has_input(2) || call.input(2).contiguous());
}

// ---- Gradients --------------------------------------------------------------------------------------------

cpu::ListedGradient listed_gradient(const TensorView& x, const TensorView& dy) {
  return {x.shape[0], x.shape[1], dy.shape[1], x.as<float>(), x.strides[0], dy.as<float>(), dy.strides[0]};
}

/// Calls run(gradient of a part, its first input, scratch), each thread on its own inputs. Behind the
/// kernel's scratch lie `floats` more.
template <class Run>
void for_inputs_in_parts(const Call& call, const cpu::ListedGradient& gradient, Run run, int64_t floats = 0) {
  constexpr int64_t kPartsPerThread = 3;  // x has more zeros in some places than in others
  const int64_t threads = parts_of(gradient.N * gradient.in * gradient.out / 4);
  const bool few = gradient.N <= kFewRows || threads == 1;
  const Cut inputs(gradient.in, few ? threads : threads * kPartsPerThread, kLine);
  const int64_t size = in_lines(cpu::listed_gradient_scratch(gradient.N, gradient.out)) + in_lines(floats);
  float* scratch = call.workspace<float>(size * inputs.parts());
  for_each_part(inputs, [&](int64_t index, Range r) {
    cpu::ListedGradient part = gradient;
    part.in = r.size(), part.x += r.begin;
    run(part, r.begin, scratch + index * size);
  });
}

void run_input_gradient(const Call& call) {
  const TensorView &dy = call.input(0), &w = call.input(1), &x = call.input(2), &dx = call.output();
  for_inputs_in_parts(call, listed_gradient(x, dy), [&](const auto& part, int64_t first, float* scratch) {
    cpu::listed_input_gradient(part, w.as<float>() + first * w.strides[1], w.strides[1],
                               dx.as<float>() + first, dx.strides[0], scratch);
  });
}

bool takes_input_gradient(const Call& call) {
  return suits_lists(call.input(2), call.input(1)) && is_row_major(call.input(0)) &&
         is_row_major(call.output());
}

void run_weight_gradient(const Call& call) {
  const TensorView &x = call.input(0), &dy = call.input(1), &dw = call.output();
  for_inputs_in_parts(call, listed_gradient(x, dy), [&](const auto& part, int64_t first, float* scratch) {
    cpu::listed_weight_gradient(part, {dw.as<float>() + first * dw.strides[1], dw.strides[1]}, scratch);
  });
  if (call.outputs.size() > 1) sum_over_batch(dy, 0, dy.shape[1], call.output(1).as<float>());
}

bool takes_weight_gradient(const Call& call) {
  return suits_lists(call.input(0), call.output()) && is_row_major(call.input(1));
}

/// The gradients of b, where the update has one, in scratch.
float* bias_gradient(const Call& call, int tensors) {
  if (!updates_bias(call, tensors)) return nullptr;
  const TensorView& dy = call.input(1);
  float* sums = call.workspace<float>(in_lines(dy.shape[1]));
  sum_over_batch(dy, 0, dy.shape[1], sums);
  return sums;
}

}  // namespace

bool takes_lists(const Call& call, int tensors) {
  return suits_lists(call.input(0), weight_of(call)) && is_row_major(call.input(1)) &&
         (tensors == 1 || kept_lies_alike(call, tensors));
}

void gradient_by_lists(const Call& call, int tensors, const BlockConsumer& consumer) {
  constexpr int64_t kBlock = 16 * 1024;  // floats that wait in L2 for what follows
  const TensorView &x = call.input(0), &dy = call.input(1), &w = weight_of(call);
  const int64_t out = dy.shape[1],
                inputs = std::max(kBlock / std::max<int64_t>(out, 1) / kLine, int64_t(1)) * kLine;
  const int64_t own = in_lines(cpu::listed_gradient_scratch(x.shape[0], out));
  auto update = [&](const cpu::ListedGradient& part, int64_t first, float* scratch) {
    float* block = scratch + own;
    for (int64_t i = 0; i < part.in; i += inputs) {
      cpu::ListedGradient rows = part;
      rows.in = std::min(inputs, part.in - i), rows.x += i;
      cpu::listed_weight_gradient(rows, {block, out}, scratch);
      consumer.take(consumer.context,
                    {false, rows.in, out, block, out, (first + i) * w.strides[1], w.strides[1]});
    }
  };
  for_inputs_in_parts(call, listed_gradient(x, dy), update, inputs * out);
  if (const float* sums = bias_gradient(call, tensors))
    consumer.take(consumer.context, {true, 1, out, sums, 0, 0, 0});
}

void update_by_lists(const Call& call, const DecayedStep<float>& step) {
  const TensorView &x = call.input(0), &dy = call.input(1), &w = weight_of(call);
  for_inputs_in_parts(call, listed_gradient(x, dy), [&](const auto& part, int64_t first, float* scratch) {
    cpu::listed_weight_gradient(
        part, {w.as<float>() + first * w.strides[1], w.strides[1], true, step.rate, step.weight_decay},
        scratch);
  });
  if (const float* sums = bias_gradient(call, 1))
    update_bias(call.input(kParametersOfLinearUpdate + 1), {0, dy.shape[1]}, sums, step);
}

namespace ops {

/// Behind the dense variants where nothing is measured: these are slower than they where x has few zeros.
void register_matrix_cpu_listed(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&), bool (*when)(const Call&)) {
    add_variant(registry, op,
                {.name = "listed",
                 .device = DeviceKind::cpu,
                 .run = run,
                 .when = when,
                 .preference = 25,
                 .skips_zeros = true});
  };
  add("linear", run_linear<false>, takes_linear);
  add("linear_relu", run_linear<true>, takes_linear);
  add("linear_input_gradient", run_input_gradient, takes_input_gradient);
  add("linear_weight_gradient", run_weight_gradient, takes_weight_gradient);
}

}  // namespace ops
}  // namespace treadle

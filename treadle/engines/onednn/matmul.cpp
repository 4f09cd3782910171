/// matmul and linear by oneDNN, in f32 and bf16: the output is cut into blocks, one single-threaded call
/// each.
#include "treadle/engines/onednn/onednn.h"
#include "treadle/ops/matrix/cpu/matrix_blocks.h"

namespace treadle::onednn {
namespace {

TreadleOnednnTensor matrix(const void* data, DType dtype, int64_t rows, int64_t columns, int64_t row_stride,
                           int64_t column_stride) {
  return {const_cast<void*>(data), plugin_dtype(dtype), 2, {rows, columns}, {row_stride, column_stride}};
}

void multiply_block(const MatrixProduct& p) {
  const auto a = matrix(p.a, p.dtype, p.M, p.K, p.a_row, p.a_column),
             b = matrix(p.b, p.dtype, p.K, p.N, p.b_row, p.b_column),
             c = matrix(p.c, p.dtype, p.M, p.N, p.c_row, p.c_column);
  const TreadleOnednnTensor bias{const_cast<void*>(p.bias), plugin_dtype(p.dtype), 1, {p.N}, {p.bias_step}};
  call_plugin("matmul", [&](char* message, size_t size) {
    return api()->matmul(&a, &b, p.bias ? &bias : nullptr, 0, &c, message, size);
  });
}

template <MatrixProduct (*product_of)(const Call&)>
void run(const Call& call) {
  for_each_block(product_of(call), multiply_block);
}

/// Matrices of which each lies row by row or column by column: others would be copied.
template <MatrixProduct (*product_of)(const Call&)>
bool suits(const Call& call) {
  const TensorView &a = call.input(0), &b = call.input(1);
  return takes({&a, &b, &call.output()}) && suits_blas(product_of(call)) &&
         (!call.has_input(2) || call.input(2).contiguous());
}

template <MatrixProduct (*product_of)(const Call&)>
Variant variant() {
  return {.name = "onednn",
          .device = DeviceKind::cpu,
          .run = run<product_of>,
          .when = suits<product_of>,
          .preference = 20,
          .engine = Engine::onednn};
}

}  // namespace

void register_matmul(Registry& registry) {
  add_variant(registry, "matmul", variant<matmul_product>());
  add_variant(registry, "linear", variant<linear_product>());
}

}  // namespace treadle::onednn

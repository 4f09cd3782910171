// c = a b + bias + beta c: two-dimensional products, repeated over the batch dimensions that do not fold into
// M.
#include <array>
#include <bit>

#include "treadle/engines/onednn/plugin/functions.h"
#include "treadle/engines/onednn/plugin/primitive_descriptors.h"
#include "treadle/engines/onednn/plugin/thread_state.h"

namespace treadle::onednn {

namespace {

using Memory = dnnl::memory;

constexpr int64_t kMatmulKey = 1000;  // apart from the convolutions'

/// A matrix in memory; the batch dimensions are kept outside.
struct Matrix {
  int64_t rows, columns, row_stride, column_stride;
  Memory::data_type type;
};

Matrix matrix_of(const Tensor& t) {
  const int r = t.rank - 2, c = t.rank - 1;
  return {t.shape[r], t.shape[c], t.strides[r], t.strides[c], type_of(t)};
}

bool is_row_major(const Matrix& m) {
  return (m.columns == 1 || m.column_stride == 1) && (m.rows == 1 || m.row_stride >= m.columns);
}

Matrix transposed(const Matrix& m) { return {m.columns, m.rows, m.column_stride, m.row_stride, m.type}; }

Memory::desc row_major(const Matrix& m) {
  return {{m.rows, m.columns}, m.type, Memory::dims{m.rows == 1 ? m.columns : m.row_stride, 1}};
}

/// The strides as given, with those of single rows or columns replaced by what the matrix product accepts.
Memory::desc describe(const Matrix& m) {
  if (is_row_major(m)) return row_major(m);
  const Matrix t = transposed(m);
  if (is_row_major(t))
    return {{m.rows, m.columns}, m.type, Memory::dims{1, t.rows == 1 ? t.columns : t.row_stride}};
  return {{m.rows, m.columns}, m.type, Memory::dims{m.row_stride, m.column_stride}};
}

/// What the fast implementations read: `m` itself if one of its dimensions is contiguous, else a dense copy.
Memory::desc operand(const Matrix& m) {
  if (is_row_major(m) || is_row_major(transposed(m))) return describe(m);
  return row_major({m.rows, m.columns, m.columns, 1, m.type});
}

/// One two-dimensional product; tensors 0 to 3 are a, b, bias, c.
struct Product {
  Matrix a, b, c;
  const Tensor* bias;
  float beta;
};

Memory::desc describe_bias(const Product& p, bool given) {
  if (!p.bias) return {};
  const int64_t stride = given && p.c.columns > 1 ? p.bias->strides[0] : 1;
  return {{1, p.c.columns}, type_of(*p.bias), Memory::dims{stride * p.c.columns, stride}};
}

dnnl::primitive_attr attributes_of(const Product& p) {
  dnnl::primitive_attr attributes = default_attributes();
  if (p.beta == 0) return attributes;
  dnnl::post_ops accumulate;
  accumulate.append_sum(p.beta);
  attributes.set_post_ops(accumulate);
  return attributes;
}

/// c' = b' a' when c lies column by column.
bool is_solved_transposed(const Product& p) {
  return !is_row_major(p.c) && is_row_major(transposed(p.c)) && !p.bias;
}

Product transposed(const Product& p) {
  return {transposed(p.b), transposed(p.a), transposed(p.c), nullptr, p.beta};
}

void build(Plan& plan, const Product& given) {
  const bool swapped = is_solved_transposed(given);
  const Product p = swapped ? transposed(given) : given;
  const Memory::desc c =
      is_row_major(p.c) ? row_major(p.c) : row_major({p.c.rows, p.c.columns, p.c.columns, 1, p.c.type});
  const auto chosen = describe_matmul(ThreadState::current().engine(), operand(p.a), operand(p.b),
                                      describe_bias(p, false), c, attributes_of(p));
  Arguments arguments{{DNNL_ARG_SRC, plan.input(swapped ? 1 : 0, describe(p.a), chosen.src_desc())},
                      {DNNL_ARG_WEIGHTS, plan.input(swapped ? 0 : 1, describe(p.b), chosen.weights_desc())}};
  if (p.bias)
    arguments.emplace_back(DNNL_ARG_BIAS, plan.input(2, describe_bias(p, true), chosen.bias_desc()));
  arguments.emplace_back(
      DNNL_ARG_DST, p.beta == 0 ? plan.output(3, describe(p.c), c) : plan.input_output(3, describe(p.c), c));
  plan.add<dnnl::matmul>(chosen, arguments);
  plan.set_implementation(chosen.impl_info_str());
}

/// The batch dimensions of c, slowest first, with the strides of a, b and c (0 where broadcast).
struct Batch {
  int rank = 0;
  std::array<int64_t, TREADLE_ONEDNN_MAX_RANK> extent{};
  std::array<std::array<int64_t, 3>, TREADLE_ONEDNN_MAX_RANK> strides{};
};

Batch batch_of(const Tensor& a, const Tensor& b, const Tensor& c) {
  const auto stride = [](const Tensor& t, int d) { return t.shape[d] == 1 ? 0 : t.strides[d]; };
  Batch batch;
  for (int d = 0; d < c.rank - 2; ++d) {
    if (c.shape[d] == 1) continue;
    batch.extent[batch.rank] = c.shape[d];
    batch.strides[batch.rank++] = {stride(a, d), stride(b, d), stride(c, d)};
  }
  return batch;
}

/// Rows of a and c that follow one another across a batch dimension make one taller product when b is shared.
void fold_into_rows(Batch& batch, Product& p) {
  const auto continues = [](const Matrix& m, int64_t stride) { return stride == m.rows * m.row_stride; };
  while (batch.rank > 0) {
    const auto& [a, b, c] = batch.strides[batch.rank - 1];
    if (p.a.rows == 1) p.a.row_stride = a;
    if (p.c.rows == 1) p.c.row_stride = c;
    if (b != 0 || a == 0 || !continues(p.a, a) || !continues(p.c, c)) return;
    p.a.rows = p.c.rows = p.a.rows * batch.extent[--batch.rank];
  }
}

PlanKey key_of(const Product& p) {
  PlanKey key;
  key.append(kMatmulKey);
  for (const Matrix& m : {p.a, p.b, p.c})
    for (const int64_t word :
         {m.rows, m.columns, m.row_stride, m.column_stride, static_cast<int64_t>(m.type)})
      key.append(word);
  key.append(p.bias);
  key.append(std::bit_cast<int32_t>(p.beta));
  return key;
}

void* offset(const Tensor& tensor, int64_t elements) {
  const int64_t bytes = tensor.dtype == TREADLE_ONEDNN_BF16 ? 2 : 4;
  return static_cast<char*>(tensor.data) + elements * bytes;
}

/// Moves `index` to the next batch entry, last dimension fastest; false after the last.
bool advance(std::array<int64_t, TREADLE_ONEDNN_MAX_RANK>& index, const Batch& batch) {
  for (int d = batch.rank - 1; d >= 0; --d) {
    if (++index[d] < batch.extent[d]) return true;
    index[d] = 0;
  }
  return false;
}

void require_valid(const Tensor& a, const Tensor& b, const Tensor* bias, const Tensor& c) {
  onednn::require_valid(a, "a");
  onednn::require_valid(b, "b");
  onednn::require_valid(c, "c");
  const int rank = c.rank;
  require(rank >= 2 && a.rank == rank && b.rank == rank,
          "matmul: a, b and c must have one rank of at least 2");
  require(a.shape[rank - 2] == c.shape[rank - 2] && b.shape[rank - 1] == c.shape[rank - 1] &&
              a.shape[rank - 1] == b.shape[rank - 2],
          "matmul: a, b and c are not [..., M, K], [..., K, N] and [..., M, N]");
  for (int d = 0; d < rank - 2; ++d)
    require((a.shape[d] == 1 || a.shape[d] == c.shape[d]) && (b.shape[d] == 1 || b.shape[d] == c.shape[d]),
            "matmul: the batch extents of a and b must be 1 or those of c");
  if (!bias) return;
  onednn::require_valid(*bias, "bias");
  require(bias->rank == 1 && bias->shape[0] == c.shape[rank - 1], "matmul: the bias must be [N]");
}

}  // namespace

void matmul(const Tensor& a, const Tensor& b, const Tensor* bias, float beta, const Tensor& c) {
  require_valid(a, b, bias, c);
  Product product{matrix_of(a), matrix_of(b), matrix_of(c), bias, beta};
  Batch batch = batch_of(a, b, c);
  fold_into_rows(batch, product);
  ThreadState& state = ThreadState::current();
  Plan& plan = state.plan(key_of(product), [&](Plan& fresh) { build(fresh, product); });
  std::array<int64_t, TREADLE_ONEDNN_MAX_RANK> index{};
  do {
    std::array<int64_t, 3> at{};
    for (int d = 0; d < batch.rank; ++d)
      for (int operand = 0; operand < 3; ++operand) at[operand] += index[d] * batch.strides[d][operand];
    void* const data[] = {offset(a, at[0]), offset(b, at[1]), bias ? bias->data : nullptr, offset(c, at[2])};
    state.execute(plan, data);
  } while (advance(index, batch));
}

}  // namespace treadle::onednn

/// The cpu variant "split_k" of a linear layer's weight gradient and update in f32, for batches that are
/// large beside the layer, as tokens are: threads share the terms of the sums, which is to say the rows of
/// both operands. Each is read once, by the thread that has just made it where others cut their rows alike.
#include "treadle/graph/variant.h"
#include "treadle/ops/matrix/cpu/gradient_blocks.h"
#include "treadle/ops/matrix/cpu/linear_parts.h"
#include "treadle/ops/matrix/cpu/tall_products.h"

namespace treadle {
namespace {

using namespace linear_parts;

constexpr int64_t kSmallestBatch = 256;
constexpr int64_t kRows = 128, kColumns = 256;  ///< of a block of the gradient, which stays in L2
constexpr int64_t kTasks = 8;  ///< blocks times parts of the batch: a constant, as sums depend on it

/// The gradient as c = aᵀ·b: xᵀ·dy where w lies row by row along the inputs, else dyᵀ·x.
struct Product {
  TensorView a, b, dy;
  int64_t c_row;  ///< elements between rows of w
  int64_t M = a.shape[1], N = b.shape[1];
  int64_t across = (N + kColumns - 1) / kColumns, blocks = (M + kRows - 1) / kRows * across;
  int64_t size = kRows * cpu::padded_columns(std::min(N, kColumns));  ///< of a block in scratch

  Range rows(int64_t block) const { return part(block / across * kRows, kRows, M); }
  Range columns(int64_t block) const { return part(block % across * kColumns, kColumns, N); }
  int64_t block_row(int64_t block) const { return cpu::padded_columns(columns(block).size()); }
  Cut batch() const {
    const int64_t wanted = (kTasks + blocks - 1) / std::max<int64_t>(blocks, 1);
    return Cut(a.shape[0], std::min(wanted, a.shape[0] / kSmallestBatch));
  }

 private:
  static Range part(int64_t begin, int64_t size, int64_t count) {
    return {begin, std::min(begin + size, count)};
  }
};

bool is_by_input(const TensorView& w) { return !has_unit_step(w.shape[1], w.strides[1]); }

Product product_of(const Call& call, const TensorView& w) {
  const TensorView &x = call.input(0), &dy = call.input(1);
  if (is_by_input(w)) return {x, dy, dy, w.strides[1]};
  return {dy, x, dy, w.strides[0]};
}

/// One block, summed over some of the batch.
void multiply(const Product& p, int64_t block, Range terms, float* c, float* scratch) {
  const Range rows = p.rows(block), columns = p.columns(block);
  cpu::multiply_tall(
      {terms.size(), rows.size(), columns.size(),
       p.a.as<float>() + terms.begin * p.a.strides[0] + rows.begin * p.a.strides[1], p.a.strides[0],
       p.a.strides[1], p.b.as<float>() + terms.begin * p.b.strides[0] + columns.begin, p.b.strides[0], c},
      scratch);
}

/// A call's gradient, made for a consumer.
class SplitGradient {
 public:
  SplitGradient(const Call& call, const Product& product, bool bias, const BlockConsumer& consumer)
      : call_(call), p_(product), consumer_(consumer), batch_(product.batch()) {
    if (bias) bias_ = call.workspace<float>(bias_row() * std::max<int64_t>(batch_.parts(), 1));
  }

  void make() const {
    batch_.parts() > 1 ? make_parts() : make_blocks();
    if (!bias_) return;
    const int64_t out = p_.dy.shape[1];
    cpu::sum_rows(batch_.parts(), out, bias_, bias_row(), bias_);
    consumer_.take(consumer_.context, {true, 1, out, bias_, 0, 0, 0});
  }

 private:
  int64_t bias_row() const { return in_lines(p_.dy.shape[1]); }

  void sum_bias(int64_t part, Range terms) const {
    const int64_t row = p_.dy.strides[0];
    if (bias_)
      cpu::sum_rows(terms.size(), p_.dy.shape[1], p_.dy.as<float>() + terms.begin * row, row,
                    bias_ + part * bias_row());
  }

  /// Rows of a block, from `c` on.
  void pass_on(int64_t block, Range rows, const float* c) const {
    const Range columns = p_.columns(block);
    consumer_.take(consumer_.context, {false, rows.size(), columns.size(), c, p_.block_row(block),
                                       rows.begin * p_.c_row + columns.begin, p_.c_row});
  }

  /// Where there are blocks enough, a thread makes whole ones.
  void make_blocks() const {
    const int64_t size = p_.size + cpu::tall_scratch(), threads = std::min<int64_t>(num_threads(), p_.blocks);
    float* scratch = call_.workspace<float>(size * threads);
    parallel_for_each(p_.blocks, threads, [&](int64_t thread, int64_t block) {
      float* c = scratch + thread * size;
      multiply(p_, block, {0, p_.a.shape[0]}, c, c + p_.size);
      pass_on(block, p_.rows(block), c);
      if (block == 0) sum_bias(0, {0, p_.a.shape[0]});
    });
  }

  /// Each part of the batch makes all blocks; then threads share their rows, and add up the parts.
  void make_parts() const {
    const int64_t size = p_.blocks * p_.size, tile = cpu::tall_scratch();
    float* sums = call_.workspace<float>((size + tile) * batch_.parts());
    parallel_for_parts(batch_, [&](int64_t part, Range terms) {
      float *c = sums + part * size, *scratch = sums + batch_.parts() * size + part * tile;
      for (int64_t block = 0; block < p_.blocks; ++block)
        multiply(p_, block, terms, c + block * p_.size, scratch);
      sum_bias(part, terms);
    });
    const Nanoseconds row{0.1 * double(p_.N * batch_.parts())};
    parallel_for(p_.M, row, [&](int64_t begin, int64_t end) {
      for (int64_t block = 0; block < p_.blocks; ++block) add_parts(block, {begin, end}, sums);
    });
  }

  /// Those rows of a block that are among `rows`.
  void add_parts(int64_t block, Range rows, float* sums) const {
    const Range all = p_.rows(block), own{std::max(all.begin, rows.begin), std::min(all.end, rows.end)};
    if (own.begin >= own.end) return;
    const int64_t row = p_.block_row(block);
    float* c = sums + block * p_.size + (own.begin - all.begin) * row;
    cpu::sum_rows(batch_.parts(), own.size() * row, c, p_.blocks * p_.size, c);
    pass_on(block, own, c);
  }

  const Call& call_;
  const Product& p_;
  const BlockConsumer& consumer_;
  Cut batch_;
  float* bias_ = nullptr;
};

bool takes(const Call& call, const TensorView& w) {
  const TensorView &x = call.input(0), &dy = call.input(1);
  return x.dtype == DType::f32 && x.shape[0] >= kSmallestBatch && x.shape[1] > 0 && dy.shape[1] > 0 &&
         has_unit_step(x.shape[1], x.strides[1]) && has_unit_step(dy.shape[1], dy.strides[1]) &&
         (has_unit_step(w.shape[0], w.strides[0]) || has_unit_step(w.shape[1], w.strides[1]));
}

bool takes_weight_gradient(const Call& call) { return takes(call, call.output()); }

/// Writes a gradient where it belongs.
void write(const void* context, const GradientBlock& block) {
  const Call& call = *static_cast<const Call*>(context);
  float* to = call.output(block.of_bias ? 1 : 0).as<float>() + block.first;
  for (int64_t i = 0; i < block.rows; ++i)
    std::copy_n(block.gradient + i * block.gradient_row, block.columns, to + i * block.row);
}

void run_weight_gradient(const Call& call) {
  const BlockConsumer consumer{write, &call};
  SplitGradient(call, product_of(call, call.output()), call.outputs.size() > 1, consumer).make();
}

}  // namespace

bool takes_split_k(const Call& call, int tensors) {
  return takes(call, weight_of(call)) && kept_lies_alike(call, tensors);
}

void gradient_by_split_k(const Call& call, int tensors, const BlockConsumer& consumer) {
  SplitGradient(call, product_of(call, weight_of(call)), updates_bias(call, tensors), consumer).make();
}

namespace ops {

void register_matrix_cpu_split_k(Registry& registry) {
  add_variant(registry, "linear_weight_gradient",
              {.name = "split_k",
               .device = DeviceKind::cpu,
               .run = run_weight_gradient,
               .when = takes_weight_gradient,
               .preference = 31});
}

}  // namespace ops
}  // namespace treadle

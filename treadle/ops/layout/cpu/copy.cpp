/// Copies on the cpu device: rows of a merged loop nest, and transpositions in blocks that fit the first
/// cache.
#include <cstring>

#include "treadle/core/work.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/layout/copy_elements.h"
#include "treadle/ops/layout/transpose_plan.h"

namespace treadle {
namespace {

constexpr double kElement = 0.125;  ///< nanoseconds
constexpr int64_t kBlock = 64;      ///< side of a transposition's block

template <class Word>
void copy_row(Word* y, const Word* x, int64_t y_stride, int64_t x_stride, int64_t count) {
  if (y_stride == 1 && x_stride == 1)
    std::memcpy(y, x, size_t(count) * sizeof(Word));
  else if (y_stride == 1 && x_stride == 0)
    std::fill_n(y, count, *x);
  else
    for (int64_t i = 0; i < count; ++i) y[i * y_stride] = x[i * x_stride];
}

void copy_rows(const TensorView& target, const TensorView& source) {
  auto nest = make_strided<2>(target, {&source, 1});
  with_word_type(target.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::type;
    for_each_row(nest, Nanoseconds{kElement}, [&](const auto& o, const auto& s, int64_t count) {
      copy_row(target.as<Word>() + o[0], source.as<Word>() + o[1], s[0], s[1], count);
    });
  });
}

using Vector = uint32_t __attribute__((vector_size(16)));

/// Transposes 4 × 4 elements of four bytes in registers: y rows are dense, x columns are.
inline void transpose_4x4(uint32_t* y, int64_t y_stride, const uint32_t* x, int64_t x_stride) {
  Vector column[4], half[4];
  for (int c = 0; c < 4; ++c) std::memcpy(&column[c], x + c * x_stride, sizeof(Vector));
  for (int c = 0; c < 2; ++c) {
    half[c] = __builtin_shuffle(column[2 * c], column[2 * c + 1], Vector{0, 4, 1, 5});
    half[c + 2] = __builtin_shuffle(column[2 * c], column[2 * c + 1], Vector{2, 6, 3, 7});
  }
  for (int r = 0; r < 4; r += 2) {
    const Vector even = __builtin_shuffle(half[r], half[r + 1], Vector{0, 1, 4, 5});
    const Vector odd = __builtin_shuffle(half[r], half[r + 1], Vector{2, 3, 6, 7});
    std::memcpy(y + r * y_stride, &even, sizeof(Vector));
    std::memcpy(y + (r + 1) * y_stride, &odd, sizeof(Vector));
  }
}

/// Transposes through a buffer: x is read and y written in whole cache lines, and strides that are powers of
/// two do not crowd one cache set.
template <class Word>
void transpose_block(Word* y, const Word* x, const TransposePlan& plan, int64_t rows, int64_t columns) {
  Word block[kBlock][kBlock + 4];
  int64_t done = 0;
  if constexpr (sizeof(Word) == 4)
    for (; columns % 4 == 0 && done + 4 <= rows; done += 4)
      for (int64_t c = 0; c < columns; c += 4)
        transpose_4x4(&block[done][c], kBlock + 4, x + c * plan.x_stride + done, plan.x_stride);
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = done; r < rows; ++r) block[r][c] = x[c * plan.x_stride + r];
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(y + r * plan.y_stride, block[r], size_t(columns) * sizeof(Word));
}

/// Rows of few elements, such as the channels of pictures: straight from x, of which each column is read in
/// order.
template <int64_t kColumns, class Word>
void transpose_narrow(Word* y, const Word* x, const TransposePlan& plan, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < kColumns; ++c) y[r * plan.y_stride + c] = x[c * plan.x_stride + r];
}

constexpr int64_t kFewestColumns = 2, kMostNarrow = 4, kNarrowRows = 1024;

template <class Word>
void transpose_narrow(Word* y, const Word* x, const TransposePlan& plan) {
  const Cut cut(plan.rows, plan.rows, kNarrowRows);
  const auto narrow = plan.columns == 2   ? transpose_narrow<2, Word>
                      : plan.columns == 3 ? transpose_narrow<3, Word>
                                          : transpose_narrow<4, Word>;
  const Nanoseconds cost{kElement * double(std::min(plan.rows, kNarrowRows) * plan.columns)};
  parallel_for(plan.batch.numel * cut.parts(), cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t o[2];
      plan.batch.offsets(i / cut.parts(), o);
      const Range rows = cut[i % cut.parts()];
      narrow(y + o[0] + rows.begin * plan.y_stride, x + o[1] + rows.begin, plan, rows.size());
    }
  });
}

template <class Word>
void transpose(Word* y, const Word* x, const TransposePlan& plan) {
  if (plan.columns <= kMostNarrow) return transpose_narrow(y, x, plan);
  const int64_t row_blocks = (plan.rows + kBlock - 1) / kBlock,
                column_blocks = (plan.columns + kBlock - 1) / kBlock;
  parallel_for(
      plan.batch.numel * row_blocks * column_blocks, Nanoseconds{kElement * kBlock * kBlock},
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t column = i % column_blocks * kBlock, row = i / column_blocks % row_blocks * kBlock, o[2];
          plan.batch.offsets(i / column_blocks / row_blocks, o);
          transpose_block(y + o[0] + row * plan.y_stride + column, x + o[1] + column * plan.x_stride + row,
                          plan, std::min(kBlock, plan.rows - row), std::min(kBlock, plan.columns - column));
        }
      });
}

void copy_transposed(const TensorView& target, const TensorView& source, const TransposePlan& plan) {
  with_word_type(target.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::type;
    transpose(target.as<Word>(), source.as<Word>(), plan);
  });
}

/// The source is the last input of both ops: copy(x) and copy_into(target, source).
const TensorView& source_of(const Call& call) { return call.inputs.back(); }

std::optional<TransposePlan> plan_of(const TensorView& target, const TensorView& source) {
  return plan_transpose(target, source, kFewestColumns);
}

bool is_transposition(const Call& call) { return plan_of(call.output(), source_of(call)).has_value(); }
void run_rows(const Call& call) { copy_rows(call.output(), source_of(call)); }
void run_blocked(const Call& call) {
  copy_transposed(call.output(), source_of(call), *plan_of(call.output(), source_of(call)));
}

}  // namespace

void copy_elements(const TensorView& target, const TensorView& source) {
  if (target.numel() == 0) return;
  if (auto plan = plan_of(target, source))
    copy_transposed(target, source, *plan);
  else
    copy_rows(target, source);
}

namespace ops {

void register_layout_cpu_copy(Registry& registry) {
  for (const char* op : {"copy", "copy_into"}) {
    add_variant(registry, op, {.name = "loop", .device = DeviceKind::cpu, .run = run_rows});
    add_variant(registry, op,
                {.name = "tiled",
                 .device = DeviceKind::cpu,
                 .run = run_blocked,
                 .when = is_transposition,
                 .preference = 1});
  }
}

}  // namespace ops
}  // namespace treadle

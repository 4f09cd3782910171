/// Strided<N>: the element offsets of a position, with 32-bit and with 64-bit division, without any memory
/// behind.
#include "treadle/kernels/strided.h"

#include <gtest/gtest.h>

namespace treadle {
namespace {

/// Offsets of [rows][columns] where operand 0 is row-major and operand 1 column-major.
void expect_both_orders(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  const Strided<2> nest{2, rows * columns, {rows, columns}, {{columns, 1}, {1, rows}}};
  int64_t offsets[2];
  nest.offsets(row * columns + column, offsets);
  EXPECT_EQ(offsets[0], row * columns + column);
  EXPECT_EQ(offsets[1], row + column * rows);
}

TEST(Strided, OffsetsOfSmallNests) {
  expect_both_orders(3, 5, 0, 0);
  expect_both_orders(3, 5, 2, 4);
  expect_both_orders(1 << 15, 1 << 15, 32767, 32766);
}

TEST(Strided, OffsetsBeyond32Bits) {
  const int64_t rows = (1 << 20) + 7, columns = (1 << 14) + 3;
  for (int64_t row : {int64_t(0), int64_t(1) << 18, rows - 1})
    for (int64_t column : {int64_t(0), int64_t(11), columns - 1})
      expect_both_orders(rows, columns, row, column);
}

}  // namespace
}  // namespace treadle

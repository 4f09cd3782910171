// ldmatrix and mma.sync against the layouts and sums that the PTX ISA documents.
#include <gtest/gtest.h>

#include <vector>

#include "tests/simt/kernels.h"
#include "tests/simt/settings.h"
#include "treadle/core/error.h"

namespace treadle::simt {
namespace {

unsigned element_of(uint32_t pair, int half) { return pair >> half * 16 & 0xffffu; }

TEST(TensorCores, LanesGetNeighboursOfARowOrOfAColumn) {
  std::vector<__half> matrices(4 * 64);
  for (unsigned i = 0; i < matrices.size(); ++i)
    matrices[i] = __half::from_bits(static_cast<uint16_t>(1000 + i));
  std::vector<uint32_t> rows(128), columns(128);
  load_matrices(nullptr, matrices.data(), rows.data(), columns.data());
  for (int lane = 0; lane < 32; ++lane)
    for (int matrix = 0; matrix < 4; ++matrix)
      for (int half = 0; half < 2; ++half) {
        const int along = lane % 4 * 2 + half, across = lane / 4, first = 1000 + matrix * 64;
        EXPECT_EQ(element_of(rows[lane * 4 + matrix], half), unsigned(first + across * 8 + along));
        EXPECT_EQ(element_of(columns[lane * 4 + matrix], half), unsigned(first + along * 8 + across));
      }
}

/// Small integers, of which every product and sum is exact.
template <class T>
void expect_product() {
  std::vector<T> a(16 * 16), b(16 * 8);
  std::vector<float> c(16 * 8), wanted(16 * 8);
  for (int i = 0; i < 256; ++i) a[i] = T(float(i * 7 % 23 - 11));
  for (int i = 0; i < 128; ++i) b[i] = T(float(i * 5 % 17 - 8)), c[i] = wanted[i] = float(i % 9 - 4);
  for (int i = 0; i < 128; ++i)
    for (int k = 0; k < 16; ++k) wanted[i] += float(a[i / 8 * 16 + k]) * float(b[k * 8 + i % 8]);
  mma_product(nullptr, a.data(), b.data(), c.data(), 32);
  EXPECT_EQ(c, wanted);
}

TEST(TensorCores, MultiplyHalves) { expect_product<__half>(); }
TEST(TensorCores, MultiplyBrainFloats) { expect_product<__nv_bfloat16>(); }

TEST(TensorCores, NeedAWholeWarpAndRowsAtMultiplesOf16) {
  std::vector<__half> a(256), b(128);
  std::vector<float> c(128);
  std::vector<uint32_t> rows(32);
  EXPECT_THROW(mma_product(nullptr, a.data(), b.data(), c.data(), 16), DeviceError);
  EXPECT_THROW(load_unaligned_rows(nullptr, rows.data()), DeviceError);
}

}  // namespace
}  // namespace treadle::simt

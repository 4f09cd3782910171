// Cooperative groups, active lanes, wmma's shapes and ordered atomics in kernels.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "treadle/simt/cooperative_groups.h"
#include "treadle/simt/executor.h"
#include "treadle/simt/toolkit/launch_api.h"
#include "treadle/simt/toolkit/nv_atomics.h"
#include "treadle/simt/wmma.h"

namespace treadle::simt {
namespace {

namespace cg = cooperative_groups;

template <class... P>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::type_identity_t<P>... arguments) {
  void* pointers[] = {&arguments...};
  ASSERT_EQ(cudaLaunchKernel(kernel, grid, block, pointers), cudaSuccess);
}

/// Runs under each kind of schedule.
struct Groups : testing::TestWithParam<const char*> {
  Groups() { set_schedule(parse_schedule(GetParam())); }
  ~Groups() override { set_schedule({}); }
};

void fold(int* results) {
  const int rank = static_cast<int>(threadIdx.x);
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const auto odd = cg::binary_partition(tile, rank % 2 != 0);
  const cg::thread_group four = cg::tiled_partition(cg::this_thread_block(), 4);
  int* r = results + rank * 8;
  r[0] = cg::reduce(tile, rank, cg::plus<int>());
  r[1] = cg::inclusive_scan(tile, rank);
  r[2] = cg::exclusive_scan(odd, rank, cg::plus<int>());
  r[3] = cg::reduce(odd, rank, cg::greater<int>());
  r[4] = static_cast<int>(four.thread_rank());
  r[5] = static_cast<int>(odd.meta_group_rank());
  r[6] = static_cast<int>(odd.ballot(odd.thread_rank() == 3));
  const auto by_three = cg::labeled_partition(tile, rank % 3);
  r[7] = static_cast<int>(by_three.size());
}

TEST_P(Groups, FoldAndScan) {
  std::vector<int> results(64 * 8, -1);
  launch(fold, 1, 64, results.data());
  for (int rank = 0; rank < 64; ++rank) {
    const int* r = &results[rank * 8];
    const int first = rank / 16 * 16;
    int sum = 0, below_or_equal = 0, below_alike = 0;
    for (int i = first; i < first + 16; ++i) {
      sum += i;
      if (i <= rank) below_or_equal += i;
      if (i < rank && i % 2 == rank % 2) below_alike += i;
    }
    ASSERT_EQ(r[0], sum) << rank;
    ASSERT_EQ(r[1], below_or_equal) << rank;
    ASSERT_EQ(r[2], below_alike) << rank;
    ASSERT_EQ(r[3], first + 14 + rank % 2) << rank;
    ASSERT_EQ(r[4], rank % 4) << rank;
    ASSERT_EQ(r[5], rank % 2) << "groups are ranked by their first lanes";
    ASSERT_EQ(r[6], 1 << 3) << rank;
    int alike = 0;
    for (int i = first; i < first + 16; ++i) alike += i % 3 == rank % 3;
    ASSERT_EQ(r[7], alike) << rank;
  }
}

void gather(unsigned* masks, unsigned* sizes) {
  const unsigned t = threadIdx.x;
  if (t % 3 == 0) masks[t] = __activemask();
  for (unsigned i = 0; i < t % 4; ++i) sizes[t] = cg::coalesced_threads().size();
}

TEST_P(Groups, ActiveLanesAreThoseOfTheBranch) {
  std::vector<unsigned> masks(64), sizes(64);
  launch(gather, 1, 64, masks.data(), sizes.data());
  for (unsigned t = 0; t < 64; t += 3) ASSERT_EQ(masks[t], t < 32 ? 0x49249249u : 0x92492492u) << t;
  // In the last turn of lane t's loop those are left that turn as often or more.
  for (unsigned t = 0; t < 64; ++t) ASSERT_EQ(sizes[t], t % 4 == 0 ? 0 : 8 * (4 - t % 4)) << t;
}

INSTANTIATE_TEST_SUITE_P(Schedules, Groups, testing::Values("forward", "reverse", "random:1", "random:2"));

template <int M, int N, int K, class T, class Sum>
void multiply(const typename wmma::Storage<T>::type* a, const typename wmma::Storage<T>::type* b, Sum* c) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
  wmma::fill_fragment(fc, Sum(1));
  wmma::load_matrix_sync(fa, a, K);
  wmma::load_matrix_sync(fb, b, K);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}

/// Small integers: every product and sum is exact.
template <int M, int N, int K, class T, class Sum>
void check_product() {
  using Element = typename wmma::Storage<T>::type;
  std::vector<Element> a(M * K), b(K * N);
  std::vector<Sum> c(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = static_cast<Element>(i * 7 % 5);
  for (int i = 0; i < K * N; ++i) b[i] = static_cast<Element>(i * 3 % 4);
  launch(multiply<M, N, K, T, Sum>, 1, 32, a.data(), b.data(), c.data());
  for (int row = 0; row < M; ++row)
    for (int column = 0; column < N; ++column) {
      double sum = 1;
      for (int k = 0; k < K; ++k) sum += double(a[row * K + k]) * double(b[column * K + k]);
      ASSERT_EQ(double(c[row * N + column]), sum) << row << " " << column;
    }
}

TEST(Products, OfAllShapesAndTypes) {
  check_product<16, 16, 16, __half, __half>();
  check_product<32, 8, 16, __half, float>();
  check_product<8, 32, 16, __nv_bfloat16, float>();
  check_product<16, 16, 16, signed char, int>();
  check_product<8, 32, 16, unsigned char, int>();
  check_product<16, 16, 8, wmma::precision::tf32, float>();
  check_product<8, 8, 4, double, double>();
}

TEST(Products, Tf32HasTenBits) {
  EXPECT_EQ(wmma::__float_to_tf32(1.f + 1.f / 2048), 1.f + 1.f / 1024) << "ties go away from zero";
  EXPECT_EQ(wmma::__float_to_tf32(1.f + 1.f / 4096), 1.f);
}

/// Block 0 waits for what block 1 says.
void hand_over(int* flag, int* value, int* result) {
  if (blockIdx.x == 1) {
    *value = 42;
    __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  } else {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0) {
    }
    *result = *value;
  }
}

TEST(OrderedAtomics, HandOver) {
  int flag = 0, value = 0, result = 0;
  launch(hand_over, 2, 1, &flag, &value, &result);
  EXPECT_EQ(result, 42);
}

}  // namespace
}  // namespace treadle::simt

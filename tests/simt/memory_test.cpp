// The device's memory: poison, guard zones, statistics.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "treadle/core/error.h"
#include "treadle/simt/memory.h"

namespace treadle::simt {
namespace {

TEST(Memory, IsAlignedAndReadsAsNaN) {
  for (size_t count : {1, 3, 1000}) {
    auto* block = static_cast<float*>(simt_allocate(count * sizeof(float)));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 256, 0u);
    for (size_t i = 0; i < count; ++i) EXPECT_TRUE(std::isnan(block[i]));
    simt_free(block);
  }
}

/// Writes one byte at `offset` from a block's start and expects the violation there.
void expect_violation(ptrdiff_t offset, bool before, size_t distance) {
  const size_t bytes = 100;
  auto* block = static_cast<volatile char*>(simt_allocate(bytes));
  const char old = block[offset];
  block[offset] = static_cast<char>(~old);
  const auto found = check_guards();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].block, const_cast<char*>(block));
  EXPECT_EQ(found[0].block_bytes, bytes);
  EXPECT_EQ(found[0].before, before);
  EXPECT_EQ(found[0].distance, distance);
  try {
    simt_free(const_cast<char*>(block));
    FAIL() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find(before ? "before a block of 100" : "after a block of 100"),
              std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(check_guards().empty());
}

TEST(Memory, WritesOutsideAreFoundWithSideAndDistance) {
  expect_violation(-1, true, 0);
  expect_violation(-64, true, 63);
  expect_violation(-256, true, 255);
  expect_violation(100, false, 0);
  expect_violation(163, false, 63);
  expect_violation(355, false, 255);
}

TEST(Memory, CorrectUseLeavesGuardsIntact) {
  char* block = static_cast<char*>(simt_allocate(77));
  std::memset(block, 0, 77);
  EXPECT_TRUE(check_guards().empty());
  EXPECT_NO_THROW(simt_free(block));
}

TEST(Memory, UnknownPointersAreRefused) {
  int local = 0;
  EXPECT_THROW(simt_free(&local), DeviceError);
  void* block = simt_allocate(8);
  simt_free(block);
  EXPECT_THROW(simt_free(block), DeviceError);
  EXPECT_NO_THROW(simt_free(nullptr));
  EXPECT_THROW(simt_allocate(SIZE_MAX), DeviceError);
}

TEST(Memory, StatisticsCountBlocksAndBytes) {
  const MemoryStatistics before = memory_statistics();
  void* a = simt_allocate(1000);
  void* b = simt_allocate(0);
  const MemoryStatistics during = memory_statistics();
  EXPECT_EQ(during.live_blocks, before.live_blocks + 2);
  EXPECT_EQ(during.live_bytes, before.live_bytes + 1000);
  EXPECT_EQ(during.allocations, before.allocations + 2);
  EXPECT_GE(during.peak_bytes, during.live_bytes);
  simt_free(a);
  simt_free(b);
  EXPECT_EQ(memory_statistics().live_bytes, before.live_bytes);
}

}  // namespace
}  // namespace treadle::simt

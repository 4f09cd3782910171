// Occupancy as NVIDIA's calculator gives it, and bounds by hand.
#include <gtest/gtest.h>

#include "treadle/core/error.h"
#include "treadle/simt/driver/registers.h"
#include "treadle/simt/profile/bound.h"

namespace treadle::simt {
namespace {

Occupancy occupancy(const char* card, unsigned threads, unsigned shared, unsigned registers) {
  return occupancy_on(card_named(card), {threads, shared, registers});
}

TEST(Occupancy, IsThatOfTheCalculator) {
  EXPECT_EQ(occupancy("A100", 256, 0, 32).warps, 64u);
  EXPECT_EQ(occupancy("A100", 256, 0, 64).warps, 32u);  // 2,048 registers a warp, 8 warps a quarter
  EXPECT_EQ(occupancy("A100", 256, 0, 64).limit, "registers");
  EXPECT_EQ(occupancy("A100", 128, 0, 33).warps, 48u);          // rounded up to 1,280 a warp
  EXPECT_EQ(occupancy("H100", 1024, 0, 33).warps, 32u);         // 12 warps a quarter: one block of 32
  EXPECT_EQ(occupancy("A100", 128, 48 * 1024, 32).blocks, 3u);  // 49 KiB each, of 164
  EXPECT_EQ(occupancy("A100", 128, 48 * 1024, 32).limit, "shared memory");
  EXPECT_EQ(occupancy("A100", 32, 0, 16).blocks, 32u);
  EXPECT_EQ(occupancy("A100", 32, 0, 16).limit, "blocks");
  EXPECT_EQ(occupancy("RTX 4090", 1024, 0, 32).warps,
            32u);  // one block; 1,536 threads are room for one and a half
  EXPECT_EQ(occupancy("T4", 1024, 0, 0).share(), 1.0);
  EXPECT_EQ(occupancy("T4", 100, 0, 0).warps, 32u);  // 4 warps a block
  EXPECT_EQ(occupancy("T4", 256, 65 * 1024, 0).blocks, 0u);
}

TEST(Cards, AreFoundByName) {
  EXPECT_EQ(card_named("rtx 4090").name, "RTX4090");
  EXPECT_THROW(card_named("Voodoo2"), ValueError);
  for (const Card& card : cards()) {
    EXPECT_GT(card.shared_bytes, card.shared_bytes_reserved) << card.name;
    EXPECT_GE(card.threads, 1024u) << card.name;
  }
}

/// One launch of as many blocks as the card has SMs, all lanes active.
KernelProfile kernel_on(const Card& card) {
  KernelProfile kernel;
  kernel.launches.block = {256, 1, 1};
  kernel.launches.launches = 1;
  kernel.launches.blocks = card.processors;
  kernel.total.warp_instructions = 1;
  kernel.total.lane_instructions = 32;
  return kernel;
}

TEST(Bounds, AreTheSlowestPart) {
  const Card& card = card_named("A100");
  KernelProfile kernel = kernel_on(card);
  kernel.launches.read_sectors = 2'039'000'000 / 32;  // a millisecond
  kernel.total.single.additions = kernel.total.single.products =
      uint64_t(64) * 108 * 1'410'000 / 2;  // half of one
  const Bound bound = bound_on(card, kernel, 0);
  ASSERT_EQ(bound.parts.size(), 2u);
  EXPECT_EQ(bound.parts[0].part, "memory");
  EXPECT_NEAR(bound.seconds(), 1e-3, 1e-6);
  EXPECT_EQ(bound.parts[1].part, "f32 units");
  EXPECT_NEAR(bound.parts[1].seconds, 0.5e-3, 1e-6);  // sums and products are fused
  EXPECT_NEAR(bound.intensity, 64. * 108 * 1'410'000 / 2'039'000'000, 1e-3);
}

TEST(Bounds, KnowIdleLanesAndIdleProcessors) {
  const Card& card = card_named("A100");
  KernelProfile kernel = kernel_on(card);
  kernel.total.single.products = uint64_t(64) * 108 * 1'410'000;
  EXPECT_NEAR(bound_on(card, kernel, 0).seconds(), 1e-3, 1e-6);
  kernel.total.lane_instructions = 16;
  EXPECT_NEAR(bound_on(card, kernel, 0).seconds(), 2e-3, 1e-6);
  kernel.launches.blocks = 109;  // one SM has two
  EXPECT_NEAR(bound_on(card, kernel, 0).balance, 2 * 108 / 109., 1e-9);
}

TEST(Registers, AreReadFromWhatNvccSays) {
  const auto registers = driver::registers_in(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z5scaleIfEvPT_' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z5scaleIfEvPT_\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 12 registers, used 0 barriers\n"
      "ptxas info    : Compiling entry function '_Z5scaleIdEvPT_' for 'sm_90'\n"
      "ptxas info    : Used 14 registers, used 0 barriers, 256 bytes smem\n");
  EXPECT_EQ(registers.of("scale<float>"), 12u);
  EXPECT_EQ(registers.of("scale<double>"), 14u);
  EXPECT_EQ(registers.of("scale<T>"), 14u);  // as it is written where it is launched
  EXPECT_EQ(registers.of("other"), 0u);
  EXPECT_EQ(driver::Registers(40).of("other"), 40u);
}

}  // namespace
}  // namespace treadle::simt

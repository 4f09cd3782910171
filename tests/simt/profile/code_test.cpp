// What is read from assembly and disassembly of profiled programs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/simt/driver/block_order.h"
#include "treadle/simt/driver/joined_accesses.h"
#include "treadle/simt/profile/disassembly.h"
#include "treadle/simt/profile/report.h"

namespace treadle::simt {
namespace {

using Order = std::vector<size_t>;

TEST(OrderOfCode, PutsWhatFollowsBehind) {
  EXPECT_EQ(driver::order_of_code({{1, 2}, {3}, {3}, {}}), (Order{0, 1, 2, 3}));  // if and else
  EXPECT_EQ(driver::order_of_code({{3, 1}, {2}, {}, {2}}), (Order{0, 3, 1, 2}));  // laid out in another order
}

TEST(OrderOfCode, KeepsLoopsTogether) {
  // 0 → 1 → 2 → 1, and 1 → 3: the way out stands first.
  EXPECT_EQ(driver::order_of_code({{1}, {3, 2}, {1}, {}}), (Order{0, 1, 2, 3}));
  // A loop in a loop: 1 → 2 → 2, 2 → 3 → 1, 3 → 4.
  EXPECT_EQ(driver::order_of_code({{1}, {2}, {3, 2}, {4, 1}, {}}), (Order{0, 1, 2, 3, 4}));
  EXPECT_EQ(driver::order_of_code({}), Order{});
}

/// A function in which a branch lies behind the end.
constexpr char kAssembly[] =
    "\t.section\t.text._Z1fv,\"axG\",@progbits,_Z1fv,comdat\n"
    "_Z1fv:\n\t.cfi_startproc\n"
    "\tcall\t__sanitizer_cov_trace_pc\n\ttestl\t%edi, %edi\n\tje\t.L3\n"
    ".L2:\n\tcall\t__sanitizer_cov_trace_pc\n\tret\n"
    ".L3:\n\tcall\t__sanitizer_cov_trace_pc\n\tjmp\t.L2\n\t.cfi_endproc\n";

TEST(BlockOrder, IsATableBesideTheFunction) {
  const std::string assembly = driver::with_block_order(kAssembly);
  const size_t table = assembly.find(".pushsection\ttreadle_code_order,\"aG\",@progbits,_Z1fv,comdat");
  ASSERT_NE(table, std::string::npos) << assembly;
  EXPECT_NE(
      assembly.find(
          ".quad\t.Ltreadle_code_0, 1\n\t.quad\t.Ltreadle_code_2, 2\n\t.quad\t.Ltreadle_code_1, 3\n", table),
      std::string::npos)
      << assembly;
}

TEST(JoinedAccesses, AreThoseOfOnePlace) {
  const auto joined = [](const std::string& text) { return driver::with_joined_accesses(text); };
  const std::string store = "\tcall\t__tsan_write4\n", more = "\tcall\t__treadle_write4_more\n";
  EXPECT_EQ(joined("\t.loc 1 12 5\n" + store + store), "\t.loc 1 12 5\n" + store + more);
  EXPECT_EQ(joined("\t.loc 1 12 5 view 2\n" + store + "\t.loc 1 12 5 is_stmt 0\n" + store),
            "\t.loc 1 12 5 view 2\n" + store + "\t.loc 1 12 5 is_stmt 0\n" + more);
  for (const std::string between :
       {"\t.loc 1 12 6\n", "\tcall\t__sanitizer_cov_trace_pc\n", "\tcall\t__tsan_read4\n"})
    EXPECT_EQ(joined("\t.loc 1 12 5\n" + store + between + store),
              "\t.loc 1 12 5\n" + store + between + store);
}

TEST(Disassembly, HasTheArithmeticOfStretches) {
  const StretchesOfCode code = stretches_of({
      "0000000000401000 <f>:",
      "  401000:\tcall   402000 <__sanitizer_cov_trace_pc>",
      "  401005:\tmulss  %xmm1,%xmm0",
      "  401009:\tcall   402010 <__tsan_read4>",
      "  40100e:\tvaddps (%rax),%ymm1,%ymm0",
      "  401012:\tdivsd  %xmm1,%xmm0",
      "  401016:\tcall   402020 <__sanitizer_cov_trace_pc>",
      "  40101b:\tcall   402030 <fmaf@plt>",
      "  401020:\tcall   402040 <expf@plt>",
      "  401025:\tcomiss %xmm1,%xmm0",
      "  401028:\txorps  %xmm1,%xmm0",
      "",
      "0000000000401030 <g>:",
      "  401030:\taddss  %xmm1,%xmm0",
  });
  ASSERT_EQ(code.size(), 2u);
  LineCounters first, second;
  for (const Instruction& instruction : code.at(0x401005)) {
    first.single.add(instruction.single);
    first.twice.add(instruction.twice);
  }
  for (const Instruction& instruction : code.at(0x40101b)) {
    second.single.add(instruction.single);
    second.functions += instruction.is_function;
  }
  EXPECT_EQ(code.at(0x401005).size(), 3u);
  EXPECT_EQ(first.single.products, 1u);
  EXPECT_EQ(first.single.additions, 8u);
  EXPECT_EQ(first.twice.divisions, 1u);
  EXPECT_EQ(first.operations(), 10u);
  EXPECT_EQ(second.operations(), 2u);
  EXPECT_EQ(second.functions, 1u);
}

TEST(ProfileReports, AreReadAsTheyWereWritten) {
  ProfileReport report{.launches = 3, .seconds = 0.5, .kernels = {}};
  KernelCounters& kernel = report.kernels.emplace_back();
  kernel.name = "scale<float>";
  kernel.block = {32, 8, 1};
  kernel.read_sectors = uint64_t{1} << 40;
  AccessSite& access = kernel.accesses.emplace_back();
  access.place = {.address = 0, .file = "a.cu", .line = 7, .function = ""};
  access.counters = {AccessKind::atomic, MemorySpace::shared, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  kernel.code.push_back({0x401005, 10, 320});
  kernel.meetings.push_back({access.place, MeetingKind::collective, 0x402000, 5});
  const ProfileReport read = profile_from_json(to_json(report));
  ASSERT_EQ(read.kernels.size(), 1u);
  const KernelCounters& got = read.kernels[0];
  EXPECT_EQ(got.name, kernel.name);
  EXPECT_EQ(got.block, kernel.block);
  EXPECT_EQ(got.read_sectors, kernel.read_sectors);
  ASSERT_EQ(got.accesses.size(), 1u);
  EXPECT_EQ(got.accesses[0].place.line, 7u);
  EXPECT_EQ(got.accesses[0].counters.kind, AccessKind::atomic);
  EXPECT_EQ(got.accesses[0].counters.ideal_wavefronts, 8u);
  EXPECT_EQ(got.accesses[0].counters.rounds, 9u);
  ASSERT_EQ(got.code.size(), 1u);
  EXPECT_EQ(got.code[0].lanes, 320u);
  ASSERT_EQ(got.meetings.size(), 1u);
  EXPECT_EQ(got.meetings[0].function, 0x402000u);
  EXPECT_EQ(got.meetings[0].kind, MeetingKind::collective);
  EXPECT_THROW(profile_from_json("{}"), FormatError);
}

}  // namespace
}  // namespace treadle::simt

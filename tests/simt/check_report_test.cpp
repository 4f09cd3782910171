// What a checked program writes is what its driver reads, and names of functions are told as their source has
// them.
#include <gtest/gtest.h>

#include "treadle/core/error.h"
#include "treadle/simt/check/report.h"
#include "treadle/simt/check/symbolizer.h"
#include "treadle/simt/function_names.h"

namespace treadle::simt {
namespace {

TEST(CheckReports, AreReadAsTheyWereWritten) {
  RunReport run{
      .program = "a.out", .schedule = "random", .seed = 7, .launches = 3, .seconds = 0.25, .reports = {}};
  run.reports.push_back({.kind = "race",
                         .message = "write after \"read\" \xff",
                         .kernel = "scale<float>",
                         .place = {.address = 0x1234, .file = "", .line = 0, .function = ""},
                         .other = {.address = 0, .file = "a.cu", .line = 12, .function = "main"},
                         .block = {1, 2, 3},
                         .thread = {4, 5, 6},
                         .other_block = {7, 8, 9},
                         .other_thread = {10, 11, 12},
                         .allocation = "allocation 2 of 400 bytes",
                         .offset = -4,
                         .bytes = 16,
                         .count = uint64_t{1} << 40,
                         .launch = 2});
  const RunReport read = run_report_from_json(to_json(run));
  EXPECT_EQ(read.program, run.program);
  EXPECT_EQ(read.schedule, run.schedule);
  EXPECT_EQ(read.seed, run.seed);
  EXPECT_EQ(read.launches, run.launches);
  EXPECT_EQ(read.seconds, run.seconds);
  ASSERT_EQ(read.reports.size(), 1u);
  const Report &got = read.reports[0], &wanted = run.reports[0];
  EXPECT_EQ(got.kind, wanted.kind);
  EXPECT_EQ(got.message, "write after \"read\" \xef\xbf\xbd");  // what is no UTF-8 is replaced
  EXPECT_EQ(got.kernel, wanted.kernel);
  EXPECT_EQ(got.place.address, wanted.place.address);
  EXPECT_FALSE(got.place.known());
  EXPECT_EQ(got.other.file, wanted.other.file);
  EXPECT_EQ(got.other.line, wanted.other.line);
  EXPECT_EQ(got.other.function, wanted.other.function);
  EXPECT_EQ(got.block, wanted.block);
  EXPECT_EQ(got.thread, wanted.thread);
  EXPECT_EQ(got.other_block, wanted.other_block);
  EXPECT_EQ(got.other_thread, wanted.other_thread);
  EXPECT_EQ(got.allocation, wanted.allocation);
  EXPECT_EQ(got.offset, wanted.offset);
  EXPECT_EQ(got.bytes, wanted.bytes);
  EXPECT_EQ(got.count, wanted.count);
  EXPECT_EQ(got.launch, wanted.launch);
}

TEST(CheckReports, OtherTextIsRefused) {
  EXPECT_THROW(run_report_from_json(""), FormatError);
  EXPECT_THROW(run_report_from_json("[]"), FormatError);
  EXPECT_THROW(run_report_from_json(R"({"program": 1})"), FormatError);
  const std::string text = to_json({});
  EXPECT_THROW(run_report_from_json(text.substr(0, text.size() / 2)), FormatError);
}

TEST(FunctionNames, HaveNoParameters) {
  EXPECT_EQ(without_parameters("scale(float*, int)"), "scale");
  EXPECT_EQ(without_parameters("void scale<float>(float*, int)"), "scale<float>");
  EXPECT_EQ(without_parameters("void (anonymous namespace)::scale<Pair<int, 2>>(float*)"),
            "(anonymous namespace)::scale<Pair<int, 2>>");
  EXPECT_EQ(without_parameters("scale"), "scale");
  EXPECT_EQ(without_parameters(""), "");
}

/// A function whose address is looked for.
[[gnu::noinline]] uint64_t address_of_caller() {
  return reinterpret_cast<uintptr_t>(__builtin_return_address(0));
}

TEST(Symbolizer, LeavesWhatItCannotFind) {
  Report report;
  report.place.address = address_of_caller();
  std::vector<Report> reports{report};
  symbolize(reports, "/no/such/program; echo 'x'");
  EXPECT_FALSE(reports[0].place.known());
  report.place = {.address = 0, .file = "a.cu", .line = 3, .function = "k"};
  reports = {report};
  symbolize(reports, "/proc/self/exe");
  EXPECT_EQ(reports[0].place.line, 3u);
}

}  // namespace
}  // namespace treadle::simt

#include "treadle/simt/driver/process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "treadle/core/error.h"

namespace treadle::simt::driver {
namespace {

ProcessEnd shell(const std::string& script, Process process = {}) {
  process.words = {"sh", "-c", script};
  return run(process);
}

TEST(ProcessTest, ItsCodeIsTold) {
  EXPECT_EQ(shell("exit 7").code, 7);
  EXPECT_EQ(shell("kill -KILL $$").code, 128 + SIGKILL);
  EXPECT_FALSE(shell("true").out_of_time);
}

TEST(ProcessTest, OutputMessagesAndEnvironmentAreItsOwn) {
  const TemporaryFolder folder;
  setenv("TREADLE_PROCESS_TEST", "before", 1);
  shell("echo $TREADLE_PROCESS_TEST; echo said >&2", {.words = {},
                                                      .output = folder / "out",
                                                      .messages = folder / "err",
                                                      .environment = {{"TREADLE_PROCESS_TEST", "now"}}});
  unsetenv("TREADLE_PROCESS_TEST");
  EXPECT_EQ(read_file(folder / "out"), "now\n");
  EXPECT_EQ(read_file(folder / "err"), "said\n");
}

TEST(ProcessTest, OutputIsHeardAsItComes) {
  const TemporaryFolder folder;
  std::string heard;
  // It ends only when its first word was heard.
  const std::string script =
      fmt::format("echo first; while [ ! -e {0} ]; do sleep 0.01; done; echo last", folder / "heard");
  const ProcessEnd end = shell(script, {.words = {},
                                        .hear =
                                            [&](std::string_view text) {
                                              heard += text;
                                              write_file(folder / "heard", "");
                                            },
                                        .seconds = 60});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(heard, "first\nlast\n");
}

TEST(ProcessTest, OneThatWritesWithoutEndIsEndedInTime) {
  size_t heard = 0;
  const ProcessEnd end = shell("exec yes", {.words = {},
                                            .hear =
                                                [&](std::string_view text) {
                                                  heard += text.size();
                                                  std::this_thread::sleep_for(std::chrono::microseconds(500));
                                                },
                                            .seconds = 0.2});
  EXPECT_TRUE(end.out_of_time);
  EXPECT_GT(heard, 0u);
}

TEST(ProcessTest, OneThatCannotBeHeardIsEnded) {
  const TemporaryFolder folder;
  const auto refuse = [](std::string_view) { throw FileError("the disk is full"); };
  EXPECT_THROW(
      shell("echo $$ >" + folder / "id" + "; echo said; exec sleep 60", {.words = {}, .hear = refuse}),
      FileError);
  EXPECT_NE(kill(std::stoi(read_file(folder / "id")), 0), 0) << "it goes on";
}

TEST(ProcessTest, TimeIsLimited) {
  const ProcessEnd end = shell("exec sleep 20", {.words = {}, .seconds = 0.05});
  EXPECT_TRUE(end.out_of_time);
  EXPECT_EQ(end.code, 128 + SIGKILL);
}

TEST(ProcessTest, ItIsAskedToEnd) {
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(shell("exec sleep 20", {.words = {}, .stop = source.get_token()}).code, 128 + SIGTERM);
}

TEST(ProcessTest, ProgramsAndFilesThatAreNotThere) {
  EXPECT_THROW(run({.words = {"/nowhere/program"}}), FileError);
  EXPECT_THROW(read_file("/nowhere/file"), FileError);
  EXPECT_THROW(write_file("/nowhere/file", ""), FileError);
}

TEST(ProcessTest, ATemporaryFolderGoesWithItsFiles) {
  std::string file;
  {
    const TemporaryFolder folder;
    file = folder / "file";
    write_file(file, "text");
    EXPECT_EQ(read_file(file), "text");
  }
  EXPECT_THROW(read_file(file), FileError);
}

}  // namespace
}  // namespace treadle::simt::driver

/// What a replay does on the host before its steps: in order, and taken back when something fails.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "treadle/compile/replay_host_work.h"

namespace treadle {
namespace {

/// Work that writes "+name" and "-name".
HostWork named(std::string& log, const std::string& name) {
  return {[&log, name] { log += "+" + name; }, [&log, name] { log += "-" + name; }, -1, name};
}

TEST(ReplayHostWork, IsDoneInOrderAndUndoneTheLastFirst) {
  std::string log;
  Program program;
  program.host_work = {named(log, "a"), named(log, "b")};
  ReplayHostWork work(program);
  work.run();
  EXPECT_EQ(log, "+a+b");
  work.undo();
  EXPECT_EQ(log, "+a+b-b-a");
}

TEST(ReplayHostWork, ThatFailsTakesBackWhatWasDone) {
  std::string log;
  Program program;
  HostWork failing = named(log, "c");
  failing.work = [] { throw std::runtime_error("on purpose"); };
  program.host_work = {named(log, "a"), named(log, "b"), failing, named(log, "d")};
  EXPECT_THROW(ReplayHostWork(program).run(), std::runtime_error);
  EXPECT_EQ(log, "+a+b-b-a");
}

TEST(ReplayHostWork, SendsNumbersAsTheyAreThen) {
  double count = 0;
  Program program;
  program.numbers = {{{}, [&](double* numbers) { numbers[0] = numbers[1] = count; }},
                     {{}, [](double* numbers) { numbers[0] = 7; }}};
  program.host_work = {{[&] { ++count; }, {}}, {{}, {}, 0}, {[&] { ++count; }, {}}, {{}, {}, 1}};
  ReplayHostWork work(program);
  work.run();
  EXPECT_EQ(work.numbers(0)[0], 1);  // written between the two
  EXPECT_EQ(work.numbers(0)[1], 1);
  EXPECT_EQ(work.numbers(1)[0], 7);
  work.send_numbers_alone();
  EXPECT_EQ(count, 2);
  EXPECT_EQ(work.numbers(0)[0], 2);
}

}  // namespace
}  // namespace treadle

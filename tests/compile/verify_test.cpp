/// The verifier refuses programs that a mistake of the planner or of a fusion would make.
#include <gtest/gtest.h>

#include <functional>

#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/models/model.h"
#include "treadle/ops/random/random.h"

namespace treadle {
namespace {

/// A program whose steps keep several results in the arena at a time.
Program sound_program() {
  auto model = make_model("lenet5", 1);
  auto predict = compile([&](Tensor x) { return (*model)(x); }, {.measure = false, .fuse = false});
  predict(rand({2, 1, 28, 28}));
  return *predict.programs()[0].program;
}

std::string refusal(const std::function<void(Program&)>& spoil) {
  Program program = sound_program();
  spoil(program);
  try {
    verify_program(program);
  } catch (const Error& error) {
    return error.what();
  }
  return "not refused";
}

void expect_refused(const std::string& part, const std::function<void(Program&)>& spoil) {
  auto text = refusal(spoil);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

/// The value that the first step makes.
GraphValue& first_result(Program& program) { return program.values[size_t(program.steps[0].outputs[0])]; }

TEST(Verify, TakesASoundProgram) {
  EXPECT_EQ(refusal([](Program&) {}), "not refused");
}

TEST(Verify, BuffersThatOverlapWhileBothAreNeeded) {
  expect_refused("overlap", [](Program& program) {
    for (ProgramBuffer& buffer : program.buffers) buffer.offset = 0;
  });
}

TEST(Verify, BufferBeyondTheArena) {
  expect_refused("beyond its arena", [](Program& program) { program.statistics.arena_bytes = 64; });
  expect_refused("beyond its arena", [](Program& program) { program.statistics.arena_bytes -= 1; });
}

TEST(Verify, ValueBeyondItsBuffer) {
  expect_refused("beyond its buffer", [](Program& program) { first_result(program).offset += 1; });
}

TEST(Verify, ReadBeforeItIsWritten) {
  expect_refused("before it is written",
                 [](Program& program) { program.steps.erase(program.steps.begin()); });
}

TEST(Verify, ResultThatTheOpDoesNotMake) {
  expect_refused("the op makes", [](Program& program) { first_result(program).spec.dtype = DType::i32; });
}

TEST(Verify, ReturnedValueThatNoStepMakes) {
  expect_refused("no step makes", [](Program& program) { program.steps.pop_back(); });
}

}  // namespace
}  // namespace treadle

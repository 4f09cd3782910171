/// Memory of results: written again when nobody holds it, new otherwise.
#include <gtest/gtest.h>

#include <set>

#include "treadle/compile/replay_results.h"

namespace treadle {
namespace {

/// Two results in one output buffer of 16 bytes: the whole, and its second half.
Program program_with_two_views() {
  Program program;
  ProgramBuffer buffer;
  buffer.kind = ProgramBuffer::Kind::output;
  buffer.bytes = 16;
  program.buffers = {buffer};
  program.output_buffers = 1;
  program.values = {{0, 0, TensorSpec::of({4}, DType::f32)}, {0, 2, TensorSpec::of({2}, DType::f32)}};
  program.outputs.resize(2);
  program.outputs[0].value = 0, program.outputs[1].value = 1;
  return program;
}

struct Results : testing::Test {
  Program program = program_with_two_views();
  ReplayResults replay_results{program};
  Tensor results[2];

  /// A replay that makes nothing: the storage that was given.
  const Storage* replay() {
    replay_results.prepare();
    replay_results.give({}, results);
    return replay_results.storage(0).get();
  }
};

TEST_F(Results, AreViewsOfOneBuffer) {
  const Storage* storage = replay();
  EXPECT_EQ(results[0].handle()->storage.get(), storage);
  EXPECT_EQ(results[1].handle()->storage.get(), storage);
  EXPECT_EQ(results[1].handle()->offset, 2);
  EXPECT_EQ(results[1].shape(), Shape({2}));
}

TEST_F(Results, ThatNobodyHoldsAreWrittenAgain) {
  const Storage* storage = replay();
  const TensorData* handle = results[0].handle().get();
  results[0] = results[1] = {};
  EXPECT_EQ(replay(), storage);
  EXPECT_EQ(results[0].handle().get(), handle);
}

TEST_F(Results, ThatSomebodyHoldsStay) {
  std::set<const Storage*> seen{replay()};
  const Tensor held = results[1];
  results[0] = results[1] = {};
  EXPECT_TRUE(seen.insert(replay()).second);
  EXPECT_EQ(held.handle()->storage->use_count(), 1);
  const Tensor view = results[0].alias({1}, {1}, 0);  // of the buffer, by a handle of its own
  results[0] = results[1] = {};
  EXPECT_TRUE(seen.insert(replay()).second);
}

TEST_F(Results, WhoseHandleWasChangedAreMadeAnew) {
  const Storage* storage = replay();
  const TensorData* handle = results[1].handle().get();
  results[1].handle()->offset = 0;
  results[0] = results[1] = {};
  EXPECT_NE(replay(), storage);
  EXPECT_NE(results[1].handle().get(), handle);
  EXPECT_EQ(results[1].handle()->offset, 2);
}

}  // namespace
}  // namespace treadle

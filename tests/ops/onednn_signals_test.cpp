// oneDNN may use the stack pointer for its buffers, so handlers of signals must have a stack of their own.
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "tests/ops/noise.h"
#include "treadle/graph/registry.h"
#include "treadle/graph/settings.h"
#include "treadle/ops/matrix/matmul.h"

namespace treadle {
namespace {

bool handlers_have_a_stack() {
  stack_t stack{};
  return sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE) == 0;
}

TEST(OnednnSignals, AThreadThatCallsItHasAStackForHandlers) {
  if (const std::string absence = absence_of(Engine::onednn); !absence.empty()) GTEST_SKIP() << absence;
  bool after = false;
  std::thread([&] {
    settings().variants = {{"matmul", "onednn"}};
    matmul(noise({8, 8}), noise({8, 8}));
    settings().variants.clear();
    after = handlers_have_a_stack();
  }).join();
  EXPECT_TRUE(after);
}

}  // namespace
}  // namespace treadle

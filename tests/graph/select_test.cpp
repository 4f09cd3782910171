/// Which variant serves a call: the preferred one of the device, among those that the settings allow.
#include "treadle/graph/select.h"
#include "treadle/graph/op.h"

#include <gtest/gtest.h>

#include "tests/compile/restored_settings.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

void run_nothing(const Call&) {}

/// Variants by falling preference, as the registry leaves them.
Op op_with_variants() {
  Op op;
  op.name = "made_up";
  op.variants = {{.name = "gpu", .device = DeviceKind::cuda, .run = run_nothing, .preference = 9},
                 {.name = "library", .device = DeviceKind::cpu, .run = run_nothing, .engine = Engine::onednn},
                 {.name = "atomic", .device = DeviceKind::cpu, .run = run_nothing, .deterministic = false},
                 {.name = "loop", .device = DeviceKind::cpu, .run = run_nothing}};
  return op;
}

class Select : public ::testing::Test {
 protected:
  std::string chosen() const { return select_variant(op_, call_, DeviceKind::cpu).name; }
  void expect_refused(const char* part) const {
    try {
      chosen();
      ADD_FAILURE() << "not refused";
    } catch (const ValueError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  Op op_ = op_with_variants();
  Attributes none_;
  Call call_{{}, {}, none_};

 private:
  RestoredSettings restored_;
};

TEST_F(Select, TheDevicesPreferredVariant) { EXPECT_EQ(chosen(), "library"); }

TEST_F(Select, OwnKernelsOnly) {
  settings().own_engine_only = true;
  EXPECT_EQ(chosen(), "atomic");
}

TEST_F(Select, DeterministicOnly) {
  settings().deterministic = true;
  EXPECT_EQ(chosen(), "library");
  settings().own_engine_only = true;
  EXPECT_EQ(chosen(), "loop");
}

TEST_F(Select, TheOneThatIsNamed) {
  settings().variants["made_up"] = "loop";
  EXPECT_EQ(chosen(), "loop");
  settings().variants["made_up"] = "gpu";
  expect_refused("'gpu'");
  settings().variants["made_up"] = "library";
  settings().own_engine_only = true;
  expect_refused("ruled out");
}

}  // namespace
}  // namespace treadle

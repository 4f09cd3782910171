/// The hash and the schedules against goldens.json.
#include "tests/goldens/golden_files.h"
#include "treadle/optim/schedule.h"

namespace treadle::goldens {
namespace {

TEST(Hash, EqualsTheRecordedNumbers) {
  for (auto& entry : contents("goldens")["hash"])
    EXPECT_EQ(mix(entry["seed"], entry["index"]), entry["mix"].get<uint32_t>());
}

TEST(Schedules, Cosine) {
  const Json& golden = contents("goldens")["cosine_schedule"];
  Schedule schedule = Schedule::cosine(golden["base"], golden["T_max"]);
  for (size_t t = 0; t < golden["learning_rates"].size(); ++t)
    EXPECT_NEAR(schedule.at(int64_t(t)), golden["learning_rates"][t].get<double>(), 1e-15);
}

}  // namespace
}  // namespace treadle::goldens

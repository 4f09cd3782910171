/// The hash against goldens.json.
#include "tests/goldens/golden_files.h"

namespace treadle::goldens {
namespace {

TEST(Hash, EqualsTheRecordedNumbers) {
  for (auto& entry : contents("goldens")["hash"])
    EXPECT_EQ(mix(entry["seed"], entry["index"]), entry["mix"].get<uint32_t>());
}

}  // namespace
}  // namespace treadle::goldens

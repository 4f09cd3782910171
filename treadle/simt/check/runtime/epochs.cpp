#include "treadle/simt/check/runtime/epochs.h"

#include <atomic>

#include "treadle/simt/check/runtime/findings.h"
#include "treadle/simt/check/runtime/shadow.h"

namespace treadle::checker {
namespace {

/// One table over all epochs there can be, of which the system keeps what was touched.
EpochOwner* owners;
std::atomic<uint32_t> last_epoch{0};
std::atomic<uint32_t> first_that_matters{1};
std::atomic<uint64_t> grid_arrivals{0};

}  // namespace

void prepare_epochs() {
  owners = static_cast<EpochOwner*>(reserve_addresses(sizeof(EpochOwner) << 32, "the epochs of blocks"));
}

void begin_launch_epochs() {
  first_that_matters = ++last_epoch;
  grid_arrivals = 0;
}

uint32_t launch_epoch() { return first_that_matters; }

uint32_t next_epoch(uint64_t block, uint32_t first_epoch) {
  const uint32_t epoch = ++last_epoch;
  owners[epoch] = {first_epoch == 0 ? epoch : first_epoch, static_cast<uint32_t>(block)};
  return epoch;
}

EpochOwner owner_of(uint32_t epoch) { return owners[epoch]; }

/// The first block that comes moves the line.
void pass_grid_epoch() {
  if (grid_arrivals++ % current_launch().blocks == 0) first_that_matters = ++last_epoch;
}

}  // namespace treadle::checker

/// What the kernels of a lesson's program ask of a GPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/json.h"
#include "treadle/simt/driver/process.h"
#include "treadle/simt/profile/cards.h"

namespace treadle::cli {

/// Of all launches of a kernel together.
struct KernelCounts {
  std::string kernel;
  uint64_t launches = 0;
  uint64_t requests = 0;                          ///< loads, stores and atomics of global memory, by warps
  uint64_t sectors = 0, ideal_sectors = 0;        ///< of 32 bytes of global memory
  uint64_t wavefronts = 0, ideal_wavefronts = 0;  ///< passes over the banks of shared memory
  uint64_t operations = 0;                        ///< with floating point, those of tensor cores, too
  double lanes = 0;                               ///< of 32, how many took part on average
  double least_seconds = 0;                       ///< of a launch on the card, see bound_on()
  std::string bound_by;                           ///< the part of the card that needs them
};

/// Builds the source for counting and runs it as `process` says, whose program it becomes; what it prints is
/// dropped. In the order of first launches.
std::vector<KernelCounts> counts_of(const std::filesystem::path& source, simt::driver::Process process,
                                    const simt::Card& card);

/// A row for each kernel; fewest possible numbers of sectors and wavefronts in parentheses where they are
/// others.
std::string table_of(const std::vector<KernelCounts>& counts);
Json json_of(const KernelCounts& counts);

}  // namespace treadle::cli

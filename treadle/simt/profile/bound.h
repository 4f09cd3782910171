/// How long a kernel must at least take on a GPU, by what it asks of each part.
#pragma once

#include <string>
#include <vector>

#include "treadle/core/export.h"
#include "treadle/simt/profile/cards.h"
#include "treadle/simt/profile/kernel_profile.h"
#include "treadle/simt/profile/occupancy.h"

namespace treadle::simt {

/// The time that one part of the GPU needs, if it does nothing else and never waits.
struct TREADLE_API BoundOfPart {
  std::string part;  ///< "memory", "L2 cache", "shared memory and L1", "f32 units", …
  double seconds = 0;
};

struct TREADLE_API Bound {
  Occupancy occupancy;
  std::vector<BoundOfPart> parts;  ///< the slowest first; those that are asked for nothing are left out
  double intensity = 0;            ///< operations for each byte of memory
  double balance = 1;  ///< blocks of the busiest SM against the average: 1 where all are equally busy

  double seconds() const { return parts.empty() ? 0 : parts[0].seconds; }
};

/// Of one launch, the average of all. Each part is taken at its full rate: what is missing to it are the
/// waits, which more warps hide. Memory moves each sector that a launch touches once; L2 each that a block
/// reads for the first time, and all that are written; L1 and shared memory 128 bytes for an SM in a clock.
/// Products and sums are taken to be fused where there are both. A division is eight instructions.
TREADLE_API Bound bound_on(const Card& card, const KernelProfile& kernel, unsigned registers);

}  // namespace treadle::simt

/// What all launches have counted, by kernel.
#pragma once

#include <cstdint>
#include <string>

#include "treadle/simt/profile/report.h"

namespace treadle::profiler {

/// The launch whose blocks run.
struct Launch {
  std::string kernel;
  simt::Coordinates grid{1, 1, 1}, block{1, 1, 1};
  size_t dynamic_shared_bytes = 0;
  const void* arguments = nullptr;
  size_t argument_bytes = 0;
};

void begin_launch(Launch launch);
const Launch& current_launch();
/// Takes what the blocks have counted.
void end_launch();

simt::ProfileReport report_so_far();

}  // namespace treadle::profiler

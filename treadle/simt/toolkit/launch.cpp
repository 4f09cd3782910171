#include "treadle/simt/launch_syntax.h"

#include "treadle/simt/block_executor.h"
#include "treadle/simt/toolkit/dynamic_shared.h"
#include "treadle/simt/toolkit/launch_error.h"

namespace treadle::TREADLE_TARGET {
namespace {

void* dynamic_shared_area() { return treadle_dynamic_shared; }

}  // namespace

void run_program_grid(const KernelLaunch& launch, CUstream_st*) {
  own_dynamic_shared = dynamic_shared_area;
  try {
    run_grid(launch, nullptr);
  } catch (...) {
    toolkit::note_launch_error(std::current_exception());
  }
}

}  // namespace treadle::TREADLE_TARGET

#include "treadle/simt/built_ins.h"

namespace treadle::TREADLE_TARGET {

TREADLE_BUILT_IN __thread BuiltIn threadIdx, blockIdx, blockDim, gridDim;
TREADLE_BUILT_IN __thread void* dynamic_shared_memory;
TREADLE_BUILT_IN __thread BlockExecutor *current_executor, *running_executor;
TREADLE_BUILT_IN __thread unsigned quiet_threads, uninterrupted;

}  // namespace treadle::TREADLE_TARGET

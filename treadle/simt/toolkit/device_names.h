/// The device's names that belong to CUDA, out of the executor's headers, for programs.
#pragma once

#include "treadle/simt/device.h"

namespace treadle::TREADLE_TARGET {
inline namespace cuda_names {

using TREADLE_TARGET::blockDim;
using TREADLE_TARGET::blockIdx;
using TREADLE_TARGET::gridDim;
using TREADLE_TARGET::threadIdx;
using TREADLE_TARGET::warpSize;

using TREADLE_TARGET::atomicAdd;
using TREADLE_TARGET::atomicAdd_block;
using TREADLE_TARGET::atomicAdd_system;
using TREADLE_TARGET::atomicAnd;
using TREADLE_TARGET::atomicAnd_block;
using TREADLE_TARGET::atomicAnd_system;
using TREADLE_TARGET::atomicCAS;
using TREADLE_TARGET::atomicCAS_block;
using TREADLE_TARGET::atomicCAS_system;
using TREADLE_TARGET::atomicDec;
using TREADLE_TARGET::atomicDec_block;
using TREADLE_TARGET::atomicDec_system;
using TREADLE_TARGET::atomicExch;
using TREADLE_TARGET::atomicExch_block;
using TREADLE_TARGET::atomicExch_system;
using TREADLE_TARGET::atomicInc;
using TREADLE_TARGET::atomicInc_block;
using TREADLE_TARGET::atomicInc_system;
using TREADLE_TARGET::atomicMax;
using TREADLE_TARGET::atomicMax_block;
using TREADLE_TARGET::atomicMax_system;
using TREADLE_TARGET::atomicMin;
using TREADLE_TARGET::atomicMin_block;
using TREADLE_TARGET::atomicMin_system;
using TREADLE_TARGET::atomicOr;
using TREADLE_TARGET::atomicOr_block;
using TREADLE_TARGET::atomicOr_system;
using TREADLE_TARGET::atomicSub;
using TREADLE_TARGET::atomicSub_block;
using TREADLE_TARGET::atomicSub_system;
using TREADLE_TARGET::atomicXor;
using TREADLE_TARGET::atomicXor_block;
using TREADLE_TARGET::atomicXor_system;

using TREADLE_TARGET::__threadfence;
using TREADLE_TARGET::__threadfence_block;
using TREADLE_TARGET::__threadfence_system;

using TREADLE_TARGET::__nanosleep;
using TREADLE_TARGET::__syncthreads;
using TREADLE_TARGET::__syncthreads_and;
using TREADLE_TARGET::__syncthreads_count;
using TREADLE_TARGET::__syncthreads_or;

using TREADLE_TARGET::__activemask;
using TREADLE_TARGET::__all_sync;
using TREADLE_TARGET::__any_sync;
using TREADLE_TARGET::__ballot_sync;
using TREADLE_TARGET::__match_all_sync;
using TREADLE_TARGET::__match_any_sync;
using TREADLE_TARGET::__reduce_add_sync;
using TREADLE_TARGET::__reduce_and_sync;
using TREADLE_TARGET::__reduce_max_sync;
using TREADLE_TARGET::__reduce_min_sync;
using TREADLE_TARGET::__reduce_or_sync;
using TREADLE_TARGET::__reduce_xor_sync;
using TREADLE_TARGET::__shfl_down_sync;
using TREADLE_TARGET::__shfl_sync;
using TREADLE_TARGET::__shfl_up_sync;
using TREADLE_TARGET::__shfl_xor_sync;
using TREADLE_TARGET::__syncwarp;

using TREADLE_TARGET::__ldca;
using TREADLE_TARGET::__ldcg;
using TREADLE_TARGET::__ldcs;
using TREADLE_TARGET::__ldg;
using TREADLE_TARGET::__stcg;
using TREADLE_TARGET::__stcs;
using TREADLE_TARGET::__stwt;

using TREADLE_TARGET::__trap;

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET

/// The one header that a `.cu` file or a header of `kernels/` includes for device code.
///
/// Under nvcc it is a few names over CUDA in namespace `treadle::cuda`; under the host compiler it makes CUDA
/// C++ run on fibers, in namespace `treadle::simt`. Everything is plain CUDA C++ except:
///
///     launch<kernel>(stream, grid, block, shared_bytes, arguments…)               for kernel<<<…>>>(…)
///     launch<kernel, independent>(…)                  the kernel has no barrier and no warp collective
///     launch_cooperative<kernel>(…)                   all blocks at once; grid_sync() is in
///     cooperative_groups.h dynamic_shared<T>()                             for extern __shared__ T name[]
///     copy_async<Bytes>(shared, global), copy_async_commit(), copy_async_wait<Pending>()        for cp.async
///     copy_to_constant(symbol, source, bytes, stream) for cudaMemcpyToSymbolAsync
///     UNROLL(n)                                       before a loop; n is an integer literal
///     #if TREADLE_ARCH_AT_LEAST(800)                  around code that needs compute capability 8.0
///
/// Half types, wmma and cooperative groups cost compile time and have headers of their own: `half.h`,
/// `wmma.h`, `cooperative_groups.h`.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <utility>

#include "treadle/simt/device_error.h"
#include "treadle/simt/function_qualifiers.h"
#include "treadle/simt/target.h"

#if TREADLE_TARGET_IS_CUDA
#include "treadle/simt/cuda_device.h"
#else
#include "treadle/simt/atomics.h"
#include "treadle/simt/barrier.h"
#include "treadle/simt/built_ins.h"
#include "treadle/simt/intrinsics.h"
#include "treadle/simt/launch.h"
#include "treadle/simt/memory_access.h"
#include "treadle/simt/warp.h"
#endif

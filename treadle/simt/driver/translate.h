/// From preprocessed CUDA C++ to C++ for the host compiler and the executor.
///
/// What is not C++ is replaced; nothing else is touched, and every line stays where it is, so that messages,
/// debug information and reports name the program's own lines:
///
///     K<<<grid, block, shared, stream>>>(args)   a call of launch_syntax() (simt/launch_syntax.h)
///     __shared__                                 thread_local; `extern` ones are one area, made at linking
///     __global__ __device__ __host__ __constant__ __managed__ __grid_constant__ __launch_bounds__(…) nothing
///     __noinline__ __forceinline__               the attribute, and `inline`
///     #pragma unroll                             nothing
///     (void*)K as the first argument of cudaLaunchKernel and cudaLaunchCooperativeKernel   K
#pragma once

#include <string>
#include <string_view>

namespace treadle::simt::driver {

/// Translates what `g++ -E -DTREADLE_SIMT_PROGRAM` gives. `target` is the executor's namespace, simt or
/// checked. Throws SourceError, which begins with FILE:LINE:, for what is not supported: inline PTX and
/// launches in device code, clusters; and for a launch that has no end.
std::string translate(std::string_view text, const std::string& target);

}  // namespace treadle::simt::driver

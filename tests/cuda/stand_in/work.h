/// Streams of the stand-in for code that must not see CUDA's headers.
#pragma once

#include <functional>

/// Marks what the stand-in of the runtime exports: CUDA's functions, and those below.
#define TREADLE_STAND_IN __attribute__((visibility("default")))

struct CUstream_st;

namespace treadle::stand_in {

/// Puts `work` behind the stream's work, or into the graph that is captured from it. Null, or what CUDA says.
TREADLE_STAND_IN const char* put(CUstream_st* stream, std::function<void()> work);

TREADLE_STAND_IN bool is_capturing(const CUstream_st* stream);

/// A kernel has begun to run.
TREADLE_STAND_IN void count_kernel();

}  // namespace treadle::stand_in

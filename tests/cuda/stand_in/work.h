/// Streams of the stand-in for code that must not see CUDA's headers.
#pragma once

#include <functional>

struct CUstream_st;

namespace treadle::stand_in {

/// Puts `work` behind the stream's work, or into the graph that is captured from it. Null, or what CUDA says.
const char* put(CUstream_st* stream, std::function<void()> work);

bool is_capturing(const CUstream_st* stream);

/// A kernel has begun to run.
void count_kernel();

}  // namespace treadle::stand_in

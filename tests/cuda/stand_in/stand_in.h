/// A CUDA runtime without a GPU, for tests of everything that Treadle's host code asks of CUDA. It is
/// stricter than a GPU: work is done as late as CUDA allows, device memory cannot be touched but by work on a
/// stream, new memory holds NaNs, and a capture refuses what CUDA's documentation does not promise.
///
/// - Two devices. Work of a stream runs when the stream is waited for, and not before: a missing wait shows
/// as
///   an old value, a wait on another stream as well.
/// - Host addresses given for device memory, and device addresses on the host, end in an error or a fault.
/// - While a thread captures (thread-local mode) it may neither allocate nor free; the capture is then
/// invalid.
/// - Kernels run on the SIMT executor; what they throw is the device's error from then on, as in CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>

#include "tests/cuda/stand_in/work.h"

namespace treadle::stand_in {

inline constexpr int kDevices = 2;

/// What was asked for since the process began.
struct Counts {
  int64_t allocations = 0;  ///< cudaMalloc
  int64_t kernels = 0;      ///< done, those of graphs included
  int64_t captures = 0;     ///< begun
  int64_t graph_launches = 0;
  int64_t synchronizations = 0;
};
TREADLE_STAND_IN Counts counts();

/// Puts `work` behind the stream's work, or into the graph that is captured from it.
TREADLE_STAND_IN cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

/// Whether `bytes` from `memory` on lie in one live block of the stream's device.
TREADLE_STAND_IN bool is_device_memory(cudaStream_t stream, const void* memory, size_t bytes);

/// Whether this thread may allocate now; if not, its capture is invalid from here on, as in CUDA.
TREADLE_STAND_IN bool may_allocate();

/// The device that a stream is of.
TREADLE_STAND_IN int device_of(cudaStream_t stream);

/// Makes every later cudaStreamEndCapture fail, or none.
TREADLE_STAND_IN void refuse_captures(bool refuse);

/// A failing kernel leaves its device unusable; this makes it usable again and returns what was thrown.
TREADLE_STAND_IN std::string take_device_error();

}  // namespace treadle::stand_in

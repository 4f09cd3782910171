/// What the functions of the host interface share: who called, the last error, the error of a failed kernel.
#pragma once

#include <exception>
#include <utility>

#include "treadle/simt/target.h"
#include "treadle/simt/toolkit/api_types.h"

namespace treadle::TREADLE_TARGET::toolkit {

/// A call of the host interface: its name, and the address in the program to which it returns.
struct Call {
  const char* function;
  const void* caller;
};
/// The call of the function that this stands in, which must not be inlined.
#define TREADLE_CUDA_CALL(name) \
  const ::treadle::TREADLE_TARGET::toolkit::Call name { __func__, __builtin_return_address(0) }

/// Keeps an error for cudaGetLastError() of this thread; returns it.
cudaError_t note(cudaError_t error);
void forget_error();

/// Tells the checker of a mistake and returns `error`.
cudaError_t refuse(const Call& call, cudaError_t error, const char* message);

/// The error of a kernel that failed, which every call returns from then on; cudaSuccess before.
cudaError_t device_failure();
void set_device_failure(cudaError_t error);

/// Runs a call's work unless the device has failed; exceptions count as out of memory. Keeps the error.
template <class F>
cudaError_t perform(F work) {
  if (const cudaError_t failure = device_failure(); failure != cudaSuccess) return note(failure);
  try {
    return note(work());
  } catch (const std::exception&) {
    return note(cudaErrorMemoryAllocation);
  }
}

}  // namespace treadle::TREADLE_TARGET::toolkit

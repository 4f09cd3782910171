#include <atomic>
#include <cstdio>

#include "treadle/simt/executor.h"
#include "treadle/simt/hooks.h"
#include "treadle/simt/toolkit/error_api.h"
#include "treadle/simt/toolkit/launch_error.h"
#include "treadle/simt/toolkit/runtime_state.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
std::atomic<cudaError_t> failure = cudaSuccess;

/// CUDA's code for what ended a kernel.
cudaError_t code_of(const char* message) {
  const auto says = [message](const char* word) { return __builtin_strstr(message, word) != nullptr; };
  if (says("assert")) return cudaErrorAssert;
  if (says("deadlock") || says("time limit")) return cudaErrorLaunchTimeout;
  if (says("misaligned")) return cudaErrorMisalignedAddress;
  if (says("address") || says("memory access")) return cudaErrorIllegalAddress;
  return cudaErrorLaunchFailure;
}

}  // namespace

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

void forget_error() { last_error = cudaSuccess; }

cudaError_t refuse(const Call& call, cudaError_t error, const char* message) {
  hooks::api_mistake(call.function, message, call.caller);
  return error;
}

cudaError_t device_failure() { return failure.load(std::memory_order_relaxed); }

void set_device_failure(cudaError_t error) { failure = error; }

void note_launch_error(std::exception_ptr thrown) {
  cudaError_t error = cudaErrorLaunchFailure;
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& exception) {
    std::fflush(stdout);
    fmt::print(stderr, "treadle simt: {}\n", exception.what());
    error = code_of(exception.what());
  } catch (...) {
    fmt::print(stderr, "treadle simt: a kernel threw something that is no std::exception\n");
  }
  set_device_failure(error);
  note(error);
}

}  // namespace toolkit

inline namespace cuda_names {

cudaError_t cudaGetLastError() {
  const cudaError_t failure = toolkit::device_failure();
  return failure != cudaSuccess ? failure : std::exchange(toolkit::last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t failure = toolkit::device_failure();
  return failure != cudaSuccess ? failure : toolkit::last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define TREADLE_CUDA_ERROR(number, name, text) \
  case number:                                 \
    return #name;
    TREADLE_CUDA_ERRORS(TREADLE_CUDA_ERROR)
#undef TREADLE_CUDA_ERROR
    default:
      return "unrecognized error code";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define TREADLE_CUDA_ERROR(number, name, text) \
  case number:                                 \
    return text;
    TREADLE_CUDA_ERRORS(TREADLE_CUDA_ERROR)
#undef TREADLE_CUDA_ERROR
    default:
      return "unrecognized error code";
  }
}

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET

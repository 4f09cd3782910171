#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "treadle/simt/block_executor.h"
#include "treadle/simt/toolkit/dynamic_shared.h"
#include "treadle/simt/toolkit/launch_api.h"
#include "treadle/simt/toolkit/launch_error.h"
#include "treadle/simt/toolkit/runtime_state.h"
#include "treadle/simt/toolkit/stream_state.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {
namespace {

constexpr uint64_t kMaxThreads = 1024, kMaxBlockZ = 64, kMaxGridX = 2147483647, kMaxGridYZ = 65535;
constexpr size_t kSharedWithoutAsking = 48 * 1024, kMaxShared = 227 * 1024,
                 kSharedOfMultiprocessor = 228 * 1024, kSharedReserved = 1024;
constexpr unsigned kThreadsOfMultiprocessor = 2048;
constexpr int kMultiprocessors = 132, kBlocksOfMultiprocessor = 32;

/// What cudaFuncSetAttribute has set.
class KernelSettings {
 public:
  size_t max_dynamic_shared(const void* kernel) {
    const std::lock_guard lock(mutex_);
    const auto entry = max_dynamic_shared_.find(kernel);
    return entry == max_dynamic_shared_.end() ? kSharedWithoutAsking : entry->second;
  }
  void set_max_dynamic_shared(const void* kernel, size_t bytes) {
    const std::lock_guard lock(mutex_);
    max_dynamic_shared_[kernel] = bytes;
  }

 private:
  std::mutex mutex_;
  std::map<const void*, size_t> max_dynamic_shared_;
};

KernelSettings& settings() {
  static auto* settings = new KernelSettings;
  return *settings;
}

/// Blocks on a multiprocessor, by threads, blocks and shared memory; registers are unknown.
int blocks_that_fit(unsigned block_threads, size_t shared_bytes) {
  if (block_threads > kMaxThreads || shared_bytes > kMaxShared) return 0;
  const auto by_threads = static_cast<int>(kThreadsOfMultiprocessor / ((block_threads + 31) / 32 * 32));
  const auto by_shared = static_cast<int>(kSharedOfMultiprocessor / (shared_bytes + kSharedReserved));
  return std::min({by_threads, by_shared, kBlocksOfMultiprocessor});
}

bool fits_at_once(const KernelLaunch& launch) {
  const uint64_t blocks = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
  return blocks <= uint64_t(blocks_that_fit(threads, launch.shared_bytes)) * kMultiprocessors;
}

cudaError_t check_launch(const Call& call, const KernelLaunch& launch, const void* kernel) {
  const auto [gx, gy, gz] = launch.grid;
  const auto [bx, by, bz] = launch.block;
  if (gx < 1 || gy < 1 || gz < 1 || bx < 1 || by < 1 || bz < 1)
    return refuse(call, cudaErrorInvalidConfiguration, "a side of the grid or of the block is 0");
  if (gx > kMaxGridX || gy > kMaxGridYZ || gz > kMaxGridYZ)
    return refuse(call, cudaErrorInvalidConfiguration,
                  "the grid is too large: at most 2147483647 x 65535 x 65535");
  if (uint64_t{bx} * by * bz > kMaxThreads || bz > kMaxBlockZ)
    return refuse(call, cudaErrorInvalidConfiguration,
                  "the block has more than 1024 threads, or more than 64 in z");
  if (launch.shared_bytes > kMaxShared)
    return refuse(call, cudaErrorInvalidValue, "more dynamic shared memory than the 227 KiB that exist");
  if (launch.kind == LaunchKind::cooperative && !fits_at_once(launch))
    return refuse(call, cudaErrorCooperativeLaunchTooLarge,
                  "the device cannot run all blocks of the grid at once");
  if (kernel != nullptr && launch.shared_bytes > settings().max_dynamic_shared(kernel))
    return refuse(
        call, cudaErrorInvalidValue,
        "more dynamic shared memory than the kernel may have: beyond 48 KiB ask by cudaFuncSetAttribute");
  return cudaSuccess;
}

void* dynamic_shared_area() { return treadle_dynamic_shared; }

/// Runs it now; a kernel's failure is that of the device.
cudaError_t run(const KernelLaunch& launch) {
  own_dynamic_shared = dynamic_shared_area;
  try {
    run_grid(launch, nullptr);
    return cudaSuccess;
  } catch (...) {
    note_launch_error(std::current_exception());
    return device_failure();
  }
}

/// The launch with its own copy of the arguments, aligned as they were.
Work recorded(const KernelLaunch& launch) {
  const size_t units = (launch.argument_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  std::shared_ptr<std::max_align_t[]> arguments(new std::max_align_t[units]);
  std::memcpy(arguments.get(), launch.arguments, launch.argument_bytes);
  return [=] {
    KernelLaunch again = launch;
    again.arguments = arguments.get();
    return run(again);
  };
}

}  // namespace

cudaError_t submit_launch(const KernelLaunch& launch, cudaStream_t handle, const void* kernel) {
  const Call call{"kernel launch", __builtin_return_address(0)};
  return perform([&]() -> cudaError_t {
    if (const cudaError_t error = check_launch(call, launch, kernel); error != cudaSuccess) return error;
    StreamState* stream = find_stream(handle);
    if (stream == nullptr) return refuse(call, cudaErrorInvalidResourceHandle, "there is no such stream");
    if (stream->capture == nullptr) return run(launch);
    stream->capture->graph->nodes.push_back(recorded(launch));
    return cudaSuccess;
  });
}

cudaError_t get_attributes(cudaFuncAttributes* attributes, const void* kernel) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (attributes == nullptr) return refuse(call, cudaErrorInvalidValue, "no place for the result");
    *attributes = {};
    attributes->maxThreadsPerBlock = kMaxThreads;
    attributes->numRegs = 32;  // what lets a multiprocessor be full
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(settings().max_dynamic_shared(kernel));
    return cudaSuccess;
  });
}

cudaError_t set_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
      return refuse(call, cudaErrorInvalidValue, "the attribute cannot be set");
    if (value < 0 || static_cast<size_t>(value) > kMaxShared)
      return refuse(call, cudaErrorInvalidValue, "more shared memory than the 227 KiB that exist");
    settings().set_max_dynamic_shared(kernel, static_cast<size_t>(value));
    return cudaSuccess;
  });
}

cudaError_t active_blocks(int* blocks, int block_threads, size_t shared_bytes) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    if (blocks == nullptr || block_threads <= 0)
      return refuse(call, cudaErrorInvalidValue, "a block without threads");
    *blocks = blocks_that_fit(static_cast<unsigned>(block_threads), shared_bytes);
    return cudaSuccess;
  });
}

cudaError_t potential_block(int* grid, int* block_threads, size_t shared_bytes, int limit) {
  const int threads = limit > 0 ? std::min<int>(limit, kMaxThreads) : kMaxThreads;
  int blocks = 0;
  const cudaError_t error = active_blocks(&blocks, threads, shared_bytes);
  if (error != cudaSuccess) return error;
  *block_threads = threads;
  *grid = blocks * kMultiprocessors;
  return cudaSuccess;
}

}  // namespace toolkit

void run_program_grid(const KernelLaunch& launch, CUstream_st* stream, const void* kernel) {
  toolkit::submit_launch(launch, stream, kernel);
}

}  // namespace treadle::TREADLE_TARGET

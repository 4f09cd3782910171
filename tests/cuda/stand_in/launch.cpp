// Launches of the stand-in's kernels, which the SIMT executor runs when their turn comes.
#include <cstring>
#include <vector>

#include "tests/cuda/stand_in/device_names.h"
#include "tests/cuda/stand_in/work.h"

namespace treadle::stand_in {

void enqueue_kernel(CUstream_st* stream, const simt::KernelLaunch& launch) {
  constexpr size_t kMostShared = 227 * 1024;
  if (launch.shared_bytes > kMostShared || launch.grid.y > 65535 || launch.grid.z > 65535)
    throw_device_error("kernel launch", "the configuration is impossible");
  std::vector<std::max_align_t> arguments(launch.argument_bytes / sizeof(std::max_align_t) + 1);
  std::memcpy(arguments.data(), launch.arguments, launch.argument_bytes);
  const char* refusal = put(stream, [launch, arguments = std::move(arguments)] {
    simt::KernelLaunch again = launch;
    again.arguments = arguments.data();
    count_kernel();
    simt::run_grid(again, nullptr);
  });
  if (refusal) throw_device_error("kernel launch", refusal);
}

void enqueue_copy_to_constant(CUstream_st* stream, void* target, const void* source, size_t bytes) {
  if (is_capturing(stream))
    throw_device_error("cuda", "a graph is being captured, and the work copies from the host");
  const auto* begin = static_cast<const char*>(source);
  const char* refusal = put(stream, [target, copy = std::vector<char>(begin, begin + bytes)] {
    std::memcpy(target, copy.data(), copy.size());
  });
  if (refusal) throw_device_error("copy_to_constant", refusal);
}

}  // namespace treadle::stand_in

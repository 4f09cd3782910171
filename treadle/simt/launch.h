/// launch<kernel>(stream, grid, block, shared_bytes, arguments…) on the executor.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "treadle/simt/independent_block.h"
#include "treadle/simt/memory_access.h"

namespace treadle::TREADLE_TARGET {

/// How the threads of a block run: on fibers, so that they may wait for one another, or one after another in
/// a plain loop; under other schedules than forward, and where they are checked, always on fibers.
enum class LaunchKind : uint8_t { general, independent, cooperative };

/// For launch<kernel, independent>: the kernel calls no barrier and no warp collective. DeviceError when it
/// does.
inline constexpr LaunchKind independent = LaunchKind::independent;

/// Blocks of a grid, or threads of a block.
inline uint64_t count_blocks(dim3 grid) { return uint64_t{grid.x} * grid.y * grid.z; }

/// A launch with the kernel's type erased.
struct KernelLaunch {
  LaunchKind kind;
  dim3 grid, block;
  size_t shared_bytes;
  const char* signature;  ///< text that contains the kernel's name
  const void* arguments;
  size_t argument_bytes;
  /// Runs threads of the block until none is left to start.
  void (*run)(const void* arguments);
  /// Independent launches only: runs one whole block in a plain loop. Null where they are always run as
  /// others are.
  void (*run_block)(const void* arguments) = nullptr;
};

/// Runs all blocks and returns when they are done; while a graph is captured, only records the launch. Throws
/// DeviceError for an impossible configuration, for threads that wait for one another forever, and whatever
/// the kernel itself throws.
void run_grid(const KernelLaunch& launch, stream_t stream);

/// Ends the thread that runs and starts the next on the same fiber; false when all have been started.
bool start_next_thread();

template <class Kernel>
struct KernelLauncher;

template <class... P>
struct KernelLauncher<void (*)(P...)> {
  static_assert((std::is_trivially_copyable_v<P> && ...), "arguments go to the device as bytes");
  using Arguments = std::tuple<P...>;
  static_assert(alignof(Arguments) <= alignof(std::max_align_t), "a graph keeps the bytes in plain memory");

  template <auto kernel>
  static void run_threads(const void* arguments) {
    do std::apply(kernel, *static_cast<const Arguments*>(arguments));
    while (start_next_thread());
  }

  template <auto kernel>
  static void run_block(const void* arguments) {
    IndependentBlock<kernel, P...>::run(*static_cast<const Arguments*>(arguments));
  }

  /// What is checked always runs as threads that a checker can tell apart.
  template <auto kernel, LaunchKind kind>
  static constexpr auto block_loop() -> void (*)(const void*) {
#if !defined(TREADLE_SIMT_CHECK)
    if constexpr (kind == LaunchKind::independent) return run_block<kernel>;
#endif
    return nullptr;
  }

  template <auto kernel, LaunchKind kind>
  static void launch(const char* signature, stream_t stream, dim3 grid, dim3 block, size_t shared_bytes,
                     P... arguments) {
    const Arguments pack(arguments...);
    run_grid({kind, grid, block, shared_bytes, signature, &pack, sizeof pack, run_threads<kernel>,
              block_loop<kernel, kind>()},
             stream);
  }
};

/// Launches `kernel` with arguments converted to its own parameter types.
template <auto kernel, LaunchKind kind = LaunchKind::general, class... A>
void launch(stream_t stream, dim3 grid, dim3 block, size_t shared_bytes, A&&... arguments) {
  KernelLauncher<decltype(kernel)>::template launch<kernel, kind>(
      __PRETTY_FUNCTION__, stream, grid, block, shared_bytes, std::forward<A>(arguments)...);
}

/// Launches `kernel` with all blocks running at once, so that it may call grid_sync().
template <auto kernel, class... A>
void launch_cooperative(stream_t stream, dim3 grid, dim3 block, size_t shared_bytes, A&&... arguments) {
  launch<kernel, LaunchKind::cooperative>(stream, grid, block, shared_bytes, std::forward<A>(arguments)...);
}

}  // namespace treadle::TREADLE_TARGET

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "treadle/simt/block_executor.h"
#include "treadle/simt/graph.h"
#include "treadle/simt/hooks.h"
#include "treadle/simt/launch.h"
#include "treadle/simt/stream.h"
#include "treadle/simt/worker_pool.h"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr uint64_t kMaxThreads = 1024, kMaxBlockZ = 64, kMaxGridX = 2147483647, kMaxGridYZ = 65535;
constexpr size_t kMaxSharedBytes = 227 * 1024;
/// Each block of a cooperative grid is an OS thread.
constexpr uint64_t kMaxCooperativeBlocks = 2048;
/// Below this many threads a grid runs on the launching thread: waking the others would take longer.
constexpr uint64_t kThreadsWorthSharing = 2048;

/// The limits of compute capability 9.0, so that a launch that works here works there.
void check_configuration(const KernelLaunch& launch) {
  const auto [gx, gy, gz] = launch.grid;
  const auto [bx, by, bz] = launch.block;
  const bool grid_fits =
      gx >= 1 && gy >= 1 && gz >= 1 && gx <= kMaxGridX && gy <= kMaxGridYZ && gz <= kMaxGridYZ;
  const bool block_fits =
      bx >= 1 && by >= 1 && bz >= 1 && uint64_t{bx} * by * bz <= kMaxThreads && bz <= kMaxBlockZ;
  require<DeviceError>(grid_fits && block_fits,
                       "{}: invalid configuration: grid ({}, {}, {}), block ({}, {}, {})",
                       kernel_name(launch.signature), gx, gy, gz, bx, by, bz);
  require<DeviceError>(launch.shared_bytes <= kMaxSharedBytes,
                       "{}: {} bytes of dynamic shared memory, at most {} exist",
                       kernel_name(launch.signature), launch.shared_bytes, kMaxSharedBytes);
}

uint64_t count_blocks(dim3 grid) { return uint64_t{grid.x} * grid.y * grid.z; }

BlockExecutor& this_threads_executor() {
  static thread_local BlockExecutor executor;
  return executor;
}

/// The failure of the block that comes first in the order, of those that were run.
class FirstFailure {
 public:
  bool happened() const { return happened_; }

  void note(uint64_t position, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!happened_ || position < position_) {
      position_ = position;
      failure_ = std::move(failure);
    }
    happened_ = true;
  }

  void rethrow() {
    if (happened_) std::rethrow_exception(failure_);
  }

 private:
  std::atomic<bool> happened_ = false;
  std::mutex mutex_;
  uint64_t position_ = 0;
  std::exception_ptr failure_;
};

/// Calls `work`, and notes its failure instead of throwing it.
template <class F>
void note_failure(FirstFailure& failure, uint64_t position, F work) {
  try {
    work();
  } catch (...) {
    failure.note(position, std::current_exception());
  }
}

WorkerPool& pool() {
  static WorkerPool pool;
  return pool;
}

/// Hands out positions of the block order, a few at a time.
class BlockQueue {
 public:
  BlockQueue(uint64_t blocks, uint64_t workers)
      : blocks_(blocks), batch_(std::clamp<uint64_t>(blocks / (8 * workers), 1, kMaxBatch)) {}

  /// Calls work(position) for positions that nobody else gets, until none is left or `failure` happened.
  template <class F>
  void run(const FirstFailure& failure, F work) {
    for (uint64_t begin; (begin = next_.fetch_add(batch_)) < blocks_;)
      for (uint64_t k = begin; k < std::min(begin + batch_, blocks_); ++k) {
        if (failure.happened()) return;
        work(k);
      }
  }

 private:
  static constexpr uint64_t kMaxBatch = 16;
  uint64_t blocks_, batch_;
  std::atomic<uint64_t> next_ = 0;
};

/// The workers share the blocks.
void run_shared(const KernelLaunch& launch, Schedule schedule) {
  const uint64_t blocks = count_blocks(launch.grid), threads = blocks * count_blocks(launch.block);
  const uint64_t team = threads < kThreadsWorthSharing ? 1 : std::min<uint64_t>(workers(), blocks);
  const BlockOrder order(schedule, blocks);
  BlockQueue queue(blocks, team);
  FirstFailure failure;
  pool().run(static_cast<unsigned>(team - 1), [&] {
    BlockExecutor& executor = this_threads_executor();
    note_failure(failure, 0, [&] { executor.begin_grid(launch, schedule, nullptr); });
    queue.run(failure, [&](uint64_t k) { note_failure(failure, k, [&] { executor.run_block(order[k]); }); });
  });
  failure.rethrow();
}

/// Every block gets an OS thread of its own: its `__shared__` variables are that thread's.
void run_cooperative(const KernelLaunch& launch, Schedule schedule) {
  const uint64_t blocks = count_blocks(launch.grid);
  require<DeviceError>(blocks <= kMaxCooperativeBlocks,
                       "{}: a cooperative grid of {} blocks, at most {} run at once",
                       kernel_name(launch.signature), blocks, kMaxCooperativeBlocks);
  const BlockOrder order(schedule, blocks);
  GridBarrier barrier(static_cast<unsigned>(blocks));
  FirstFailure failure;
  const auto floating_point = FloatingPointState::current();
  const auto run_one = [&](uint64_t k) {
    floating_point.apply();
    note_failure(failure, k, [&] {
      this_threads_executor().begin_grid(launch, schedule, &barrier);
      this_threads_executor().run_block(order[k]);
    });
    barrier.end_block();
  };
  std::vector<std::thread> threads;
  threads.reserve(blocks);
  note_failure(failure, 0, [&] {
    for (uint64_t k = 0; k < blocks; ++k) threads.emplace_back(run_one, k);
  });
  for (uint64_t k = threads.size(); k < blocks; ++k) barrier.end_block();  // the system gave no more threads
  for (std::thread& thread : threads) thread.join();
  failure.rethrow();
}

/// The launch as a node: the arguments live in the node.
void record_launch(simt::RecordedGraph& graph, const KernelLaunch& launch) {
  const auto* arguments = static_cast<const std::byte*>(launch.arguments);
  simt::GraphNode node{.kind = simt::GraphNodeKind::kernel,
                       .kernel = kernel_name(launch.signature),
                       .grid = {launch.grid.x, launch.grid.y, launch.grid.z},
                       .block = {launch.block.x, launch.block.y, launch.block.z},
                       .shared_bytes = launch.shared_bytes,
                       .arguments = {arguments, arguments + launch.argument_bytes}};
  graph.add(std::move(node), [launch](const simt::GraphNode& node) {
    KernelLaunch again = launch;
    again.arguments = node.arguments.data();
    run_grid(again, nullptr);
  });
}

}  // namespace

void __trap() { this_threads_executor().throw_trap(); }

void run_grid(const KernelLaunch& launch, stream_t stream) {
  check_configuration(launch);
  require<DeviceError>(!this_threads_executor().running(), "{}: launched from inside a kernel",
                       kernel_name(launch.signature));
  if (simt::RecordedGraph* graph = simt::graph_captured_from(simt::Stream::of(stream)))
    return record_launch(*graph, launch);
  simt::Stream::of(stream).note_work();
  const Schedule order = schedule();
  hooks::grid_begin(launch, order);
  FirstFailure failure;
  note_failure(failure, 0, [&] {
    if (launch.kind == LaunchKind::cooperative)
      run_cooperative(launch, order);
    else
      run_shared(launch, order);
  });
  hooks::grid_end();
  failure.rethrow();
}

}  // namespace treadle::TREADLE_TARGET

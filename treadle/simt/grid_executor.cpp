#include <algorithm>
#include <cstddef>

#include "treadle/simt/graph.h"
#include "treadle/simt/grid_run.h"
#include "treadle/simt/hooks.h"
#include "treadle/simt/launch.h"
#include "treadle/simt/stream.h"
#include "treadle/simt/worker_pool.h"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr uint64_t kMaxThreads = 1024, kMaxBlockZ = 64, kMaxGridX = 2147483647, kMaxGridYZ = 65535;
constexpr size_t kMaxSharedBytes = 227 * 1024;
/// Each block of a cooperative grid that waits is an OS thread.
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
  require<DeviceError>(
      launch.kind != LaunchKind::cooperative || count_blocks(launch.grid) <= kMaxCooperativeBlocks,
      "{}: a cooperative grid of {} blocks, at most {} run at once", kernel_name(launch.signature),
      count_blocks(launch.grid), kMaxCooperativeBlocks);
}

WorkerPool& pool() {
  static WorkerPool pool;
  return pool;
}

/// The workers share the blocks.
void run_shared(GridRun& grid, unsigned team) {
  pool().run(team - 1, [&] { grid.work(); });
}

unsigned team_of(const KernelLaunch& launch) {
  const uint64_t blocks = count_blocks(launch.grid), threads = blocks * count_blocks(launch.block);
  if (launch.kind != LaunchKind::cooperative && threads < kThreadsWorthSharing) return 1;
  return static_cast<unsigned>(std::min<uint64_t>(workers(), blocks));
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

void run_grid(const KernelLaunch& launch, stream_t stream) {
  check_configuration(launch);
  require<DeviceError>(running_executor == nullptr, "{}: launched from inside a kernel",
                       kernel_name(launch.signature));
  if (simt::RecordedGraph* graph = simt::graph_captured_from(simt::Stream::of(stream)))
    return record_launch(*graph, launch);
  simt::Stream::of(stream).note_work();
  const Schedule order = schedule();
  const unsigned team = team_of(launch);
  GridRun grid(launch, order, team);
  hooks::grid_begin(launch, order);
  run_shared(grid, team);
  if (grid.failed()) hooks::grid_failed();
  hooks::grid_end();
  grid.rethrow();
}

}  // namespace treadle::TREADLE_TARGET

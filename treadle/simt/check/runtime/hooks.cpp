// The executor's events, and the start and end of a checked program.
#include "treadle/simt/hooks.h"

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>

#include "treadle/core/error.h"
#include "treadle/simt/block_executor.h"
#include "treadle/simt/check/runtime/block.h"
#include "treadle/simt/check/runtime/device_memory.h"
#include "treadle/simt/check/runtime/epochs.h"
#include "treadle/simt/check/runtime/findings.h"
#include "treadle/simt/check/runtime/shared_variables.h"
#include "treadle/simt/collective_hook.h"

namespace treadle::checker {
namespace {

/// Where a program's reports go; empty: they are taken by whoever asks Findings.
std::string report_file() {
  const char* name = std::getenv("TREADLE_SIMT_REPORT");
  return name == nullptr ? "" : name;
}

void write_reports() {
  static std::mutex mutex;  // the watch below may write, too
  const std::string name = report_file();
  if (name.empty()) return;
  const std::lock_guard lock(mutex);
  std::ofstream(name, std::ios::trunc) << simt::to_json(Findings::all().so_far()) << "\n";
}

void end_program() {
  if (report_file().empty()) return;
  if (!Findings::all().failed()) report_leaks();  // after a failure nothing can be freed
  write_reports();
}

/// A program that will be killed leaves what was found until then: its driver says in TREADLE_SIMT_REPORT_AT
/// after how many milliseconds that is written.
void watch_time() {
  const char* text = std::getenv("TREADLE_SIMT_REPORT_AT");
  const std::chrono::milliseconds time(text == nullptr ? 0 : std::strtol(text, nullptr, 10));
  if (report_file().empty() || time.count() <= 0) return;
  std::thread([time] {
    std::this_thread::sleep_for(time);
    write_reports();
  }).detach();
}

/// Before the program's own static objects, which may ask for device memory.
__attribute__((constructor(101))) void start_program() {
  SharedVariables::of_program();
  prepare_epochs();
  prepare_blocks();
  watch_device_memory();
  std::atexit(end_program);
  watch_time();
}

Block& block_of_this_thread() {
  static thread_local std::unique_ptr<Block> block = std::make_unique<Block>();
  return *block;
}

std::string name_of(const checked::Schedule& schedule) {
  switch (schedule.order) {
    case checked::ScheduleOrder::forward:
      return "forward";
    case checked::ScheduleOrder::reverse:
      return "reverse";
    case checked::ScheduleOrder::random:
      return "random";
  }
  return "";
}

uintptr_t address_of(checked::Site site) { return std::bit_cast<uintptr_t>(site); }

}  // namespace
}  // namespace treadle::checker

namespace treadle::checked::hooks {

using checker::running_block;

void grid_begin(const KernelLaunch& launch, const Schedule& schedule) {
  checker::begin_launch_epochs();
  const auto [gx, gy, gz] = launch.grid;
  const auto [bx, by, bz] = launch.block;
  checker::Launch described{.kernel = kernel_name(launch.signature),
                            .grid = {gx, gy, gz},
                            .block = {bx, by, bz},
                            .blocks = uint64_t{gx} * gy * gz,
                            .arguments = launch.arguments,
                            .argument_bytes = launch.argument_bytes};
  checker::blocks_run_at_once = workers() > 1 && described.blocks > 1;
  checker::Findings::all().begin_launch(std::move(described), checker::name_of(schedule), schedule.seed);
}

void grid_end() {
  checker::settle_device_early_reads();
  if (checker::Findings::all().has_news()) checker::write_reports();
}

void block_begin(uint64_t block, unsigned threads, void* dynamic_shared, size_t bytes) {
  checker::block_of_this_thread().begin(block, threads, dynamic_shared, bytes);
}

void block_end() {
  if (running_block != nullptr) running_block->end();
}

void thread_switch(unsigned thread) {
  running_block->settle();
  running_block->switch_to(thread);
}

void thread_end(unsigned) { running_block->settle(); }

void block_barrier(Site site, unsigned exited) {
  if (exited > 0) {
    const std::string message =
        fmt::format("{} thread(s) of the block have returned without reaching the barrier", exited);
    mistake({"divergent-barrier", message.c_str(), site, running_block->thread()});
  }
  running_block->pass_barrier();
}

void grid_barrier() { running_block->pass_grid_barrier(); }

void warp_collective(unsigned warp, unsigned mask, unsigned present, bool is_sync, Site site) {
  const unsigned missing = mask & running_block->lanes_of(warp) & ~present;
  if (missing != 0) {
    const std::string message =
        fmt::format("lanes {:#010x} are named by mask {:#010x} and have returned", missing, mask);
    mistake({"divergent-collective", message.c_str(), site,
             warp * 32 + static_cast<unsigned>(std::countr_zero(present))});
  }
  if (is_sync) running_block->meet_lanes(warp, present);
}

void combined(WarpCombine*, Site) {}

void mistake(const Mistake& mistake) {
  if (running_block != nullptr) running_block->report_mistake(mistake);
}

void grid_failed() { checker::Findings::all().note_failure(); }

OwnWork::OwnWork() : block_(std::exchange(running_block, nullptr)) {}
OwnWork::~OwnWork() { running_block = static_cast<checker::Block*>(block_); }

void fence(Scope scope, Site) {
  if (running_block == nullptr) return;
  running_block->fence(scope);
  running_block->announce_fence();
}

void copy_begun(void* shared, size_t bytes, const void* global, size_t read, Site site) {
  if (running_block == nullptr) return;
  running_block->begin_copy(reinterpret_cast<uintptr_t>(shared), static_cast<unsigned>(bytes),
                            reinterpret_cast<uintptr_t>(global), static_cast<unsigned>(read),
                            checker::address_of(site));
}

void copy_arrived(void* shared, size_t bytes) {
  if (running_block == nullptr) return;
  running_block->end_copy(reinterpret_cast<uintptr_t>(shared), static_cast<unsigned>(bytes));
}

AtomicAccess::AtomicAccess(const void* pointer, size_t bytes, Scope scope, Site site) {
  checker::Block* block = running_block;
  if (block == nullptr) return;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto kind = scope == Scope::block    ? checker::AccessKind::atomic_block
                    : scope == Scope::device ? checker::AccessKind::atomic_device
                                             : checker::AccessKind::atomic_system;
  block->running().asks_at = checker::place_in_program(checker::address_of(site));
  block->exchange_signal(address, kind, true, true, true);
  block->access_atomically(address, static_cast<unsigned>(bytes), kind, checker::address_of(site));
  block->set_in_atomic(true);
}

AtomicAccess::~AtomicAccess() {
  if (running_block != nullptr) running_block->set_in_atomic(false);
}

}  // namespace treadle::checked::hooks

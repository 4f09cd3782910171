// The executor's events, and the start and end of a profiled program.
#include "treadle/simt/hooks.h"

#include <bit>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "treadle/simt/block_executor.h"
#include "treadle/simt/check/runtime/shared_variables.h"
#include "treadle/simt/collective_hook.h"
#include "treadle/simt/profile/runtime/block.h"
#include "treadle/simt/profile/runtime/totals.h"

namespace treadle::profiler {
namespace {

/// While the file is missing or empty, the program has not come to its end.
void write_report() {
  const char* name = std::getenv("TREADLE_SIMT_REPORT");
  if (name == nullptr || *name == '\0') return;
  std::ofstream(name, std::ios::trunc) << simt::to_json(report_so_far()) << "\n";
}

/// Before the program's own static objects.
__attribute__((constructor(101))) void start_program() {
  program_base = checker::program_begin();
  checker::SharedVariables::of_program();
  std::atexit(write_report);
}

uint64_t number_of(checked::Site site) { return std::bit_cast<uintptr_t>(site) - program_base; }

}  // namespace
}  // namespace treadle::profiler

namespace treadle::checked::hooks {

using profiler::block_of_this_thread;
using profiler::running;

void grid_begin(const KernelLaunch& launch, const Schedule&) {
  const auto [gx, gy, gz] = launch.grid;
  const auto [bx, by, bz] = launch.block;
  profiler::begin_launch({.kernel = kernel_name(launch.signature),
                          .grid = {gx, gy, gz},
                          .block = {bx, by, bz},
                          .dynamic_shared_bytes = launch.shared_bytes,
                          .arguments = launch.arguments,
                          .argument_bytes = launch.argument_bytes});
}

void grid_end() { profiler::end_launch(); }

void block_begin(uint64_t, unsigned threads, void*, size_t) { block_of_this_thread().begin(threads); }
void block_end() { block_of_this_thread().end(); }
void thread_switch(unsigned thread) { block_of_this_thread().switch_to(thread); }
void thread_end(unsigned thread) { block_of_this_thread().end_thread(thread); }

void block_barrier(Site site, unsigned) {
  profiler::Block& block = block_of_this_thread();
  block.meet();
  block.counts.meetings[{profiler::number_of(site), simt::MeetingKind::barrier, 0}] += block.live_warps();
}

void grid_barrier() {}

void combined(WarpCombine* combine, Site site) {
  const uint64_t function = reinterpret_cast<uintptr_t>(combine) - profiler::program_base;
  ++block_of_this_thread()
        .counts.meetings[{profiler::number_of(site), simt::MeetingKind::collective, function}];
}
void warp_collective(unsigned, unsigned, unsigned, bool, Site) {}

void mistake(const Mistake&) {}
void grid_failed() {}
void fence(Scope, Site) {}

void copy_begun(void* shared, size_t bytes, const void* global, size_t read, Site site) {
  const auto place = static_cast<uint32_t>(profiler::number_of(site));
  const auto note = [&](profiler::EventKind kind, const void* address, size_t size) {
    running.lane->append(place, profiler::Event::pack(kind, static_cast<unsigned>(size),
                                                      reinterpret_cast<uintptr_t>(address)));
  };
  if (running.lane == nullptr) return;
  if (read > 0) note(profiler::EventKind::load, global, read);
  note(profiler::EventKind::store, shared, bytes);
}
void copy_arrived(void*, size_t) {}

void api_mistake(const char*, const char*, const void*) {}
void host_memory_registered(const void*, size_t) {}
void host_memory_unregistered(const void*, size_t) {}

OwnWork::OwnWork() : block_(std::exchange(running.lane, nullptr)) {}
OwnWork::~OwnWork() { running.lane = static_cast<profiler::LaneTrace*>(block_); }

AtomicAccess::AtomicAccess(const void* address, size_t bytes, Scope, Site site) {
  if (running.lane == nullptr) return;
  running.in_atomic = true;
  if (profiler::is_memory(reinterpret_cast<uintptr_t>(address)))
    running.lane->append(static_cast<uint32_t>(profiler::number_of(site)),
                         profiler::Event::pack(profiler::EventKind::atomic, static_cast<unsigned>(bytes),
                                               reinterpret_cast<uintptr_t>(address)));
}
AtomicAccess::~AtomicAccess() { running.in_atomic = false; }

}  // namespace treadle::checked::hooks

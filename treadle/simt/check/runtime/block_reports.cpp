// What a block's checks say, and what waits until it is certain.
#include <bit>
#include <cstring>
#include <mutex>

#include "treadle/core/error.h"
#include "treadle/simt/check/runtime/block.h"
#include "treadle/simt/check/runtime/epochs.h"
#include "treadle/simt/check/runtime/shared_variables.h"
#include "treadle/simt/function_names.h"
#include "treadle/simt/uninterrupted.h"

namespace treadle::checker {

simt::Coordinates Block::coordinates_of_thread(unsigned thread) {
  const auto& [x, y, z] = current_launch().block;
  static_cast<void>(z);
  return {thread % x, thread / x % y, thread / x / y};
}

simt::Coordinates Block::coordinates_of_block(uint64_t number) {
  const auto& [x, y, z] = current_launch().grid;
  static_cast<void>(z);
  return {static_cast<unsigned>(number % x), static_cast<unsigned>(number / x % y),
          static_cast<unsigned>(number / x / y)};
}

namespace {

simt::Place place_of(checked::Site site) {
  simt::Place place;
  place.file = site.file_name();
  place.line = site.line();
  place.function = simt::without_parameters(site.function_name());
  return place;
}

}  // namespace

simt::Place place_of(uint32_t pc) {
  if (pc != 0 && !is_code(program_begin() + pc))
    return place_of(std::bit_cast<checked::Site>(program_begin() + pc));
  simt::Place place;
  place.address = pc == 0 ? 0 : pc - 1;  // the call, not what follows it
  return place;
}

namespace {

/// For Findings: of a line.
uint64_t key_of(const char* file, unsigned line) {
  return reinterpret_cast<uintptr_t>(file) ^ uint64_t { line } << 48;
}
uint64_t key_of(checked::Site site) { return key_of(site.file_name(), site.line()); }

/// Names the variable or block of memory at an address, and how far from its begin it lies.
void describe_memory(simt::Report& report, uintptr_t address, const SharedShadow& fixed,
                     const SharedShadow& dynamic) {
  if (program_variables.holds(address)) {
    report.allocation = "a __device__ variable";
  } else if (in_region(address)) {
    const Allocation near = allocation_near(address);
    if (near.number == 0) return;
    report.allocation =
        fmt::format("allocation {} of {} bytes{}", near.number, near.bytes, near.live ? "" : ", freed");
    report.offset = static_cast<int64_t>(address - near.begin);
  } else if (address - dynamic.begin < dynamic.bytes) {
    report.allocation = "dynamic shared memory";
    report.offset = static_cast<int64_t>(address - dynamic.begin);
  } else if (address - fixed.begin < fixed.bytes) {
    const SharedVariable* variable = SharedVariables::of_program().before(address - fixed.begin);
    if (variable == nullptr) return;
    report.allocation = fmt::format("__shared__ {} of {} bytes", variable->name, variable->bytes);
    report.offset = static_cast<int64_t>(address - fixed.begin - variable->offset);
  }
}

const char* word_for(AccessKind kind, bool write) {
  switch (kind) {
    case AccessKind::plain:
      return write ? "write" : "read";
    case AccessKind::in_flight:
      return "background copy";
    case AccessKind::is_volatile:
      return write ? "volatile write" : "volatile read";
    case AccessKind::atomic_block:
      return "atomic access of block scope";
    case AccessKind::atomic_device:
      return "atomic access";
    case AccessKind::atomic_system:
      return "atomic access of system scope";
  }
  return "access";
}

}  // namespace

simt::Report Block::report_here(const char* kind, simt::Place place) const {
  simt::Report report;
  report.kind = kind;
  report.kernel = current_launch().kernel;
  report.place = std::move(place);
  report.block = coordinates_of_block(number_);
  report.thread = coordinates_of_thread(thread_);
  return report;
}

void Block::report_race(const Record& before, bool wrote_before, const Record& now, bool writes_now,
                        uintptr_t address, unsigned bytes) {
  const checked::Uninterrupted uninterrupted;
  note_race(address, bytes);
  if (!Findings::all().is_new("race", now.pc, before.pc, number_)) return;
  const EpochOwner owner = owner_of(before.epoch);
  simt::Report report = report_here("race", place_of(now.pc));
  report.other = place_of(before.pc);
  report.other_block = coordinates_of_block(owner.block);
  report.other_thread = coordinates_of_thread(before.thread);
  report.bytes = bytes;
  const bool same_block = owner.first_epoch == first_epoch_;
  const char* between = !same_block          ? "two blocks"
                        : !same_warp(before) ? "two warps of a block"
                                             : "two threads of a warp";
  const char* missing = before.kind == AccessKind::in_flight ? "it was not waited for"
                        : !same_block        ? "nothing orders them: no fence and flag, no grid-wide barrier"
                        : !same_warp(before) ? "no barrier lies between them"
                                             : "no __syncwarp() lies between them";
  report.message = fmt::format("{} after {} by {}; {}", word_for(now.kind, writes_now),
                               word_for(before.kind, wrote_before), between, missing);
  describe_memory(report, address, static_, dynamic_);
  // Writes of what is there already disturb nobody: known when the write is done.
  const bool may_be_silent = wrote_before && writes_now && now.kind == AccessKind::plain &&
                             bytes <= sizeof(PendingRace::before) && before.kind != AccessKind::in_flight;
  if (!may_be_silent) return Findings::all().add(std::move(report), now.pc, before.pc);
  settle();
  pending_ = PendingRace{address, bytes, {}, std::move(report), now.pc, before.pc};
  std::memcpy(pending_->before, reinterpret_cast<const void*>(address), bytes);
}

void Block::settle_pending() {
  std::optional<PendingRace> pending = std::exchange(pending_, std::nullopt);
  if (std::memcmp(pending->before, reinterpret_cast<const void*>(pending->address), pending->bytes) != 0)
    Findings::all().add(std::move(pending->report), pending->place, pending->other);
  else
    Findings::all().forget("race", pending->place, pending->other);
}

void Block::report_simple(const char* kind, std::string message, uintptr_t address, unsigned bytes,
                          uintptr_t pc) {
  const uint32_t place = place_in_program(pc);
  if (!Findings::all().is_new(kind, place, 0, number_)) return;
  simt::Report report = report_here(kind, place_of(place));
  report.message = std::move(message);
  report.bytes = bytes;
  describe_memory(report, address, static_, dynamic_);
  if (in_region(address)) {
    const Allocation near = allocation_near(address);
    if (near.number != 0) report.other = place_of(near.where);
  }
  Findings::all().add(std::move(report), place, 0);
}

namespace {

/// Those of device memory, which blocks share, until the end of the launch.
struct DeviceEarlyReads {
  std::mutex mutex;
  EarlyReads reads;
};

DeviceEarlyReads& device_early_reads() {
  static auto* reads = new DeviceEarlyReads;
  return *reads;
}

}  // namespace

void settle_device_early_reads() {
  const std::lock_guard lock(device_early_reads().mutex);
  device_early_reads().reads.settle();
}

void Block::note_early_read(uintptr_t address, unsigned bytes, uintptr_t pc) {
  const checked::Uninterrupted uninterrupted;
  const uint32_t place = place_in_program(pc);
  if (!Findings::all().is_new("uninitialised", place, 0, number_)) return;
  simt::Report report = report_here("uninitialised", place_of(place));
  report.message = fmt::format("read of {} bytes of {} memory that were never written", bytes,
                               in_region(address) ? "device" : "shared");
  report.bytes = bytes;
  describe_memory(report, address, static_, dynamic_);
  const uintptr_t word = address / kWordBytes * kWordBytes;
  if (!in_region(address)) return early_reads_.add(word, std::move(report), place);
  report.other = place_of(allocation_near(address).where);
  const std::lock_guard lock(device_early_reads().mutex);
  device_early_reads().reads.add(word, std::move(report), place);
}

/// Words of an access that a race was found at: reads of them are no mistake of their own.
void Block::note_race(uintptr_t address, unsigned bytes) {
  const uintptr_t first = address / kWordBytes * kWordBytes;
  const bool in_device = in_region(address);
  std::unique_lock<std::mutex> lock;
  if (in_device) lock = std::unique_lock(device_early_reads().mutex);
  EarlyReads& reads = in_device ? device_early_reads().reads : early_reads_;
  for (uintptr_t word = first; word < address + bytes; word += kWordBytes) reads.note_race(word);
}

void Block::report_bounds(AccessKind how, bool write, uintptr_t address, unsigned bytes, uintptr_t pc,
                          bool freed) {
  const char* kind = freed ? "use-after-free" : "out-of-bounds";
  report_simple(kind,
                fmt::format("{} of {} bytes {}", word_for(how, write), bytes,
                            freed ? "in freed memory" : "outside of what was allocated"),
                address, bytes, pc);
}

void Block::report_at(const char* kind, const char* file, unsigned line, std::string message,
                      const char* allocation) {
  const checked::Uninterrupted uninterrupted;
  const uint64_t place = key_of(file, line);
  if (!Findings::all().is_new(kind, place, 1, number_)) return;
  simt::Report report = report_here(kind, {.address = 0, .file = file, .line = line, .function = ""});
  report.message = std::move(message);
  report.allocation = allocation;
  Findings::all().add(std::move(report), place, 1);
}

void Block::report_mistake(const checked::hooks::Mistake& mistake) {
  simt::Place where;
  uint64_t place = key_of(mistake.site);
  if (mistake.instruction != nullptr) {
    place = place_in_program(reinterpret_cast<uintptr_t>(mistake.instruction)) + 1;
    where = place_of(static_cast<uint32_t>(place));
  } else if (mistake.file != nullptr) {
    place = key_of(mistake.file, mistake.line);
    where.file = mistake.file;
    where.line = mistake.line;
  } else if (mistake.site.line() == 0 && mistake.thread < count_ && threads_[mistake.thread].asks_at != 0) {
    place = threads_[mistake.thread].asks_at;
    where = place_of(static_cast<uint32_t>(place));
  } else {
    const checked::Site site = mistake.site.line() != 0 ? mistake.site : mistake.last_wait;
    place = key_of(site);
    where = place_of(site);
  }
  const uint64_t other = mistake.has_other ? key_of(mistake.other_site) : 0;
  if (!Findings::all().is_new(mistake.kind, place, other, number_)) return;
  simt::Report report = report_here(mistake.kind, std::move(where));
  report.message = mistake.message;
  report.thread = coordinates_of_thread(mistake.thread);
  if (mistake.has_other) {
    report.other = place_of(mistake.other_site);
    report.other_block = report.block;
    report.other_thread = coordinates_of_thread(mistake.other_thread);
  }
  Findings::all().add(std::move(report), place, other);
}

}  // namespace treadle::checker

#include "treadle/simt/check/runtime/block.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>

#include "treadle/core/error.h"
#include "treadle/simt/check/runtime/pending.h"
#include "treadle/simt/check/runtime/shared_variables.h"
#include "treadle/simt/check/symbolizer.h"
#include "treadle/simt/uninterrupted.h"

namespace treadle::checker {

__thread Block* running_block;
uintptr_t program_base;
SharedShadow program_variables;

namespace {

/// Of each epoch its block: the block's first epoch and number. One table over all epochs there can be, of
/// which the system keeps what was touched.
struct EpochOwner {
  uint32_t first_epoch;
  uint32_t block;
};
EpochOwner* owners;
std::atomic<uint32_t> last_epoch{0};
std::atomic<uint32_t> launch_epoch{1};  ///< the first that counts
std::atomic<uint64_t> grid_arrivals{0};

template <class T>
T* reserve(size_t count) {
  void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require<DeviceError>(memory != MAP_FAILED, "simt check: no addresses for {} bytes", count * sizeof(T));
  return static_cast<T*>(memory);
}

/// Words behind the end that an access may begin to look at.
constexpr size_t kSlack = 8;

void make_shadow(SharedShadow& shadow, size_t bytes) {
  const size_t words = bytes / kWordBytes + kSlack;
  shadow.state = reserve<uint8_t>(words);
  shadow.cells = reserve<Cell>(words);
}

void free_shadow(SharedShadow& shadow, size_t bytes) {
  const size_t words = bytes / kWordBytes + kSlack;
  if (shadow.state != nullptr) munmap(shadow.state, words);
  if (shadow.cells != nullptr) munmap(shadow.cells, words * sizeof(Cell));
}

/// Marks the words of [offset, offset + bytes) as accessible, as far as they are.
void allow(SharedShadow& shadow, size_t offset, size_t bytes) {
  for (size_t byte = offset; byte < offset + bytes; ++byte)
    shadow.state[byte / kWordBytes] |= static_cast<uint8_t>(0x10u << byte % kWordBytes);
}

constexpr size_t kLargestDynamic = 227 * 1024, kBehindDynamic = 4096;
constexpr size_t kDynamicShadow = kLargestDynamic + kBehindDynamic;

}  // namespace

void prepare_blocks() {
  program_base = program_begin();
  owners = reserve<EpochOwner>(size_t{1} << 32);
  program_variables.begin = variables_begin() / kWordBytes * kWordBytes;
  program_variables.bytes = variables_end() - program_variables.begin;
  make_shadow(program_variables, program_variables.bytes);
  std::memset(program_variables.state, 0xFF, program_variables.bytes / kWordBytes + 1);
}

void begin_epochs() {
  launch_epoch = ++last_epoch;
  grid_arrivals = 0;
}

uint32_t next_epoch(uint64_t block, uint32_t first_epoch) {
  const uint32_t epoch = ++last_epoch;
  owners[epoch] = {first_epoch == 0 ? epoch : first_epoch, static_cast<uint32_t>(block)};
  return epoch;
}

/// Each block comes here once for each barrier; the first one moves the line behind which nothing matters.
void grid_barrier_passed() {
  if (grid_arrivals++ % current_launch().blocks == 0) launch_epoch = ++last_epoch;
}

Block::Block() {
  const SharedVariables& program = SharedVariables::of_program();
  static_.begin = program.begin_here();
  static_.bytes = program.bytes();
  make_shadow(static_, static_.bytes);
  for (const SharedVariable& variable : program.variables()) allow(static_, variable.offset, variable.bytes);
  make_shadow(dynamic_, kDynamicShadow);
  built_ins_offset_ = program.built_ins_begin();
  built_ins_bytes_ = program.built_ins_bytes();
}

Block::~Block() {
  free_shadow(static_, static_.bytes);
  free_shadow(dynamic_, kDynamicShadow);
}

void Block::begin(uint64_t number, unsigned threads, void* dynamic_shared, size_t bytes) {
  number_ = number;
  count_ = threads;
  first_epoch_ = 0;
  epoch_ = first_epoch_ = next_epoch(number, 0);
  safe_epoch_ = launch_epoch;
  arguments_begin_ = reinterpret_cast<uintptr_t>(current_launch().arguments);
  arguments_bytes_ = current_launch().argument_bytes;
  threads_.assign(threads, ThreadState());
  warps_.assign((threads + 31) / 32, WarpState());
  for (WarpState& warp : warps_) warp.clock.fill(1);
  switch_to(0);
  learnt_ = published_ = nullptr;
  fenced_ = learnt_by_threads_ = false;
  signals_.clear();

  if (static_.used_end > static_.used_begin)
    for (size_t word = static_.used_begin; word < static_.used_end; ++word) static_.state[word] &= 0xF0;
  static_.used_begin = SIZE_MAX;
  static_.used_end = 0;

  // Words behind the end are nobody's: an access past it is found there. In programs of others the memory is
  // a thread-local area of the largest size.
  dynamic_.begin = reinterpret_cast<uintptr_t>(dynamic_shared);
  const bool own_area = dynamic_.begin - static_.begin < static_.bytes;
  dynamic_.bytes = dynamic_.begin == 0 ? 0 : own_area ? kLargestDynamic : bytes + kBehindDynamic;
  const size_t clear = std::max(dynamic_.used_end, bytes / kWordBytes + 1);
  std::memset(dynamic_.state, 0, std::min(clear, kDynamicShadow / kWordBytes));
  dynamic_.used_end = 0;
  allow(dynamic_, 0, bytes);
  running_block = this;
}

void Block::end() {
  settle();
  early_reads_.settle();
  running_block = nullptr;
}

void Block::pass_barrier() {
  settle();
  early_reads_.settle();
  if (learnt_by_threads_)
    for (ThreadState& thread : threads_) {
      learnt_ = Knowledge::merge(learnt_, thread.learnt);
      thread.learnt = nullptr;
    }
  learnt_by_threads_ = false;
  // Whoever publishes after the barrier publishes what all threads had fenced before it.
  if (fenced_)
    for (const ThreadState& thread : threads_) published_ = Knowledge::merge(published_, thread.for_device);
  fenced_ = false;
  epoch_ = next_epoch(number_, first_epoch_);
}

void Block::pass_grid_barrier() {
  grid_barrier_passed();
  safe_epoch_ = launch_epoch;
  epoch_ = next_epoch(number_, first_epoch_);
}

void Block::meet_lanes(unsigned warp_number, unsigned lanes) {
  settle();
  WarpState& warp = warps_[warp_number];
  std::array<uint32_t, 32> joined{};
  SharedKnowledge learnt, for_block, for_device;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1u) == 0) continue;
    for (unsigned other = 0; other < 32; ++other)
      joined[other] = std::max(joined[other], warp.seen[lane][other]);
    joined[lane] = std::max(joined[lane], warp.clock[lane]);
    const ThreadState& thread = threads_[warp_number * 32 + lane];
    if (learnt_by_threads_) learnt = Knowledge::merge(learnt, thread.learnt);
    for_block = Knowledge::merge(for_block, thread.for_block);
    for_device = Knowledge::merge(for_device, thread.for_device);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1u) == 0) continue;
    warp.seen[lane] = joined;
    ++warp.clock[lane];
    ThreadState& thread = threads_[warp_number * 32 + lane];
    if (learnt != nullptr) thread.learnt = learnt;
    if (for_block != nullptr) thread.for_block = for_block;
    if (for_device != nullptr) thread.for_device = for_device;
  }
  warp.has_met = true;
  clock_ = warps_[warp_].clock[thread_ % 32];
}

void Block::fence(Scope scope) {
  const checked::Uninterrupted uninterrupted;
  ThreadState& self = running();
  ++self.fences;
  BlockKnowledge own{first_epoch_, epoch_, {}};
  const WarpState& warp = warps_[warp_];
  const unsigned me = thread_ % 32;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto thread = static_cast<uint16_t>(warp_ * 32 + lane);
    if (lane == me)
      own.threads.push_back({thread, self.fences, 0});
    else if (warp.has_met && warp.seen[me][lane] > 0)
      own.threads.push_back({thread, 0, warp.seen[me][lane]});
  }
  const SharedKnowledge now =
      Knowledge::merge(std::make_shared<Knowledge>(std::move(own)), Knowledge::merge(self.learnt, learnt_));
  self.for_block = Knowledge::merge(self.for_block, now);
  if (scope == Scope::block) return;
  self.for_device = Knowledge::merge(self.for_device, now);
  fenced_ = true;
}

namespace {

/// Signals of device memory, by address. Few kernels have many.
struct DeviceSignals {
  std::mutex mutex;
  std::unordered_map<uintptr_t, Signal> signals;
  uint32_t launch = 0;
};

DeviceSignals& device_signals() {
  static auto* signals = new DeviceSignals;
  return *signals;
}

}  // namespace

void Block::exchange_signal(uintptr_t address, AccessKind kind, bool reads, bool writes, bool adds) {
  const checked::Uninterrupted uninterrupted;
  ThreadState& self = running();
  DeviceSignals& device = device_signals();
  const bool in_device = in_region(address) || in_variables(address);
  std::unique_lock<std::mutex> lock;
  auto* signals = &signals_;
  if (in_device) {
    lock = std::unique_lock(device.mutex);
    if (device.launch != launch_epoch) {
      device.signals.clear();
      device.launch = launch_epoch;
    }
    signals = &device.signals;
  }
  const bool publishes = writes && (self.for_block != nullptr || published_ != nullptr);
  if (!publishes && signals->empty()) return;
  const auto found = signals->find(address);
  if (!publishes && found == signals->end()) return;
  Signal& signal = found != signals->end() ? found->second : (*signals)[address];
  if (reads) {
    SharedKnowledge told = signal.to_device;
    if (signal.block == first_epoch_) told = Knowledge::merge(told, signal.to_block);
    if (told != nullptr) {
      self.learnt = Knowledge::merge(self.learnt, told);
      learnt_by_threads_ = true;
    }
  }
  if (!writes) return;
  // A store that adds nothing ends what went before; an exchange passes it on.
  if (!adds) signal = Signal();
  SharedKnowledge for_device =
      kind == AccessKind::atomic_block ? nullptr : Knowledge::merge(published_, self.for_device);
  SharedKnowledge for_block = Knowledge::merge(for_device, self.for_block);
  signal.to_device = Knowledge::merge(signal.to_device, for_device);
  if (signal.block != first_epoch_) signal.to_block = nullptr;
  signal.block = first_epoch_;
  signal.to_block = Knowledge::merge(signal.to_block, for_block);
}

// ---- order

uint32_t Block::block_of(uint32_t epoch) const { return owners[epoch].first_epoch; }

bool Block::ordered_in_warp(const Record& before) const {
  return warps_[thread_ / 32].seen[thread_ % 32][before.thread % 32] >= before.clock;
}

/// Whether an access happened before what the running thread does now.
bool Block::ordered(const Record& before) const {
  if (before.epoch < safe_epoch_) return true;
  const uint32_t block = block_of(before.epoch);
  if (block == first_epoch_) {
    if (before.epoch < epoch_ || before.thread == thread_) return true;
    if (same_warp(before) && ordered_in_warp(before)) return true;
  }
  const ThreadState& self = threads_[thread_];
  return (learnt_ != nullptr && learnt_->covers(block, before)) ||
         (self.learnt != nullptr && self.learnt->covers(block, before));
}

/// Whether two accesses that nothing orders are a race.
bool Block::conflict(const Record& before, const Record& now, bool both_write) const {
  if (before.kind == AccessKind::in_flight) return true;
  const bool same_block = block_of(before.epoch) == first_epoch_;
  if (before.kind == AccessKind::plain || now.kind == AccessKind::plain) return true;
  if (before.kind == AccessKind::is_volatile && now.kind == AccessKind::is_volatile)
    return same_block && same_warp(before) && (both_write || before.thread != now.thread);
  return !same_block && (before.kind == AccessKind::atomic_block || now.kind == AccessKind::atomic_block);
}

// ---- background copies

SharedShadow* Block::shadow_of(uintptr_t address) {
  if (address - dynamic_.begin < dynamic_.bytes) return &dynamic_;
  if (address - static_.begin < static_.bytes) return &static_;
  return nullptr;
}

void Block::begin_copy(uintptr_t shared, uintptr_t device, unsigned bytes, uintptr_t pc) {
  access<false>(device, bytes, AccessKind::plain, pc);
  access<true>(shared, bytes, AccessKind::plain, pc);
  const SharedShadow* shadow = shadow_of(shared);
  if (shadow == nullptr) return;
  for (unsigned i = 0; i < bytes; i += kWordBytes)
    shadow->cells[(shared - shadow->begin + i) / kWordBytes].write.kind = AccessKind::in_flight;
  ThreadState& self = running();
  if (self.copies.empty()) self.copies.emplace_back();
  self.copies.back().emplace_back(shared, bytes);
}

void Block::commit_copies() { running().copies.emplace_back(); }

/// Only what the thread has copied itself has arrived; the others know of it behind a barrier.
void Block::wait_for_copies(unsigned pending) {
  auto& groups = running().copies;
  if (groups.size() <= pending + 1 && pending > 0) return;
  const size_t arrive = pending == 0 ? groups.size() : groups.size() - 1 - pending;
  for (size_t i = 0; i < arrive; ++i)
    for (const auto& [address, bytes] : groups[i]) {
      const SharedShadow* shadow = shadow_of(address);
      for (unsigned byte = 0; byte < bytes; byte += kWordBytes) {
        Record& write = shadow->cells[(address - shadow->begin + byte) / kWordBytes].write;
        if (write.kind == AccessKind::in_flight && write.thread == thread_)
          write = record(AccessKind::plain, write.pc, write.mask);
      }
    }
  groups.erase(groups.begin(), groups.begin() + static_cast<ptrdiff_t>(arrive));
}

// ---- words of reports

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

uint64_t key_of(checked::Site site) {
  return reinterpret_cast<uintptr_t>(site.file_name()) ^ uint64_t { site.line() } << 48;
}

/// Names the variable or block of memory at an address, and how far from its begin it lies.
void describe_memory(simt::Report& report, uintptr_t address, const SharedShadow& fixed,
                     const SharedShadow& dynamic) {
  if (in_variables(address)) {
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

simt::Report Block::report_here(const char* kind, uintptr_t pc) const {
  simt::Report report;
  report.kind = kind;
  report.place = checker::place_of(place_in_program(pc));
  report.block = coordinates_of_block(number_);
  report.thread = coordinates_of_thread(thread_);
  return report;
}

void Block::report_race(const Record& before, bool wrote_before, const Record& now, bool writes_now,
                        uintptr_t address, unsigned bytes) {
  const checked::Uninterrupted uninterrupted;
  note_race(address, bytes);
  if (!Findings::all().is_new("race", now.pc, before.pc)) return;
  const EpochOwner owner = owners[before.epoch];
  simt::Report report;
  report.kind = "race";
  report.place = place_of(now.pc);
  report.other = place_of(before.pc);
  report.block = coordinates_of_block(number_);
  report.thread = coordinates_of_thread(thread_);
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
                             bytes <= sizeof(Pending::before) && before.kind != AccessKind::in_flight;
  if (!may_be_silent) return Findings::all().add(std::move(report), now.pc, before.pc);
  settle();
  pending_ = std::make_unique<Pending>();
  pending_->address = address;
  pending_->bytes = bytes;
  std::memcpy(pending_->before, reinterpret_cast<const void*>(address), bytes);
  pending_->report = std::move(report);
  pending_->place = now.pc;
  pending_->other = before.pc;
}

void Block::settle_pending() {
  const std::unique_ptr<Pending> pending = std::move(pending_);
  if (std::memcmp(pending->before, reinterpret_cast<const void*>(pending->address), pending->bytes) != 0)
    Findings::all().add(std::move(pending->report), pending->place, pending->other);
  else
    Findings::all().forget("race", pending->place, pending->other);
}

void Block::report_simple(const char* kind, std::string message, uintptr_t address, unsigned bytes,
                          uintptr_t pc) {
  const uint32_t place = place_in_program(pc);
  if (!Findings::all().is_new(kind, place, 0)) return;
  simt::Report report = report_here(kind, pc);
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

void EarlyReads::add(uintptr_t word, simt::Report report, uint32_t place) {
  reads_.push_back({word, std::move(report), place});
}

void EarlyReads::settle() {
  for (Read& read : reads_)
    if (raced_.count(read.word) != 0)
      Findings::all().forget("uninitialised", read.place, 0);
    else
      Findings::all().add(std::move(read.report), read.place, 0);
  reads_.clear();
  raced_.clear();
}

void end_epochs() {
  const std::lock_guard lock(device_early_reads().mutex);
  device_early_reads().reads.settle();
}

void Block::note_early_read(uintptr_t address, unsigned bytes, uintptr_t pc) {
  const checked::Uninterrupted uninterrupted;
  const uint32_t place = place_in_program(pc);
  if (!Findings::all().is_new("uninitialised", place, 0)) return;
  simt::Report report = report_here("uninitialised", pc);
  report.message = fmt::format("read of {} bytes of {} memory that were never written", bytes,
                               in_region(address) ? "device" : "shared");
  report.bytes = bytes;
  report.kernel = current_launch().kernel;
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

void Block::report_bounds(bool write, uintptr_t address, unsigned bytes, uintptr_t pc, bool freed) {
  const char* kind = freed ? "use-after-free" : "out-of-bounds";
  report_simple(kind,
                fmt::format("{} of {} bytes {}", write ? "write" : "read", bytes,
                            freed ? "in freed memory" : "outside of what was allocated"),
                address, bytes, pc);
}

void Block::report_at(const char* kind, const char* file, unsigned line, std::string message,
                      const char* allocation) {
  const checked::Uninterrupted uninterrupted;
  const uint64_t place = reinterpret_cast<uintptr_t>(file) ^ uint64_t { line } << 48;
  if (!Findings::all().is_new(kind, place, 1)) return;
  simt::Report report = report_here(kind, 0);
  report.place = {};
  report.place.file = file;
  report.place.line = line;
  report.message = std::move(message);
  report.allocation = allocation;
  Findings::all().add(std::move(report), place, 1);
}

void Block::report_mistake(const checked::hooks::Mistake& mistake) {
  simt::Report report;
  uint64_t place = key_of(mistake.site);
  if (mistake.instruction != nullptr) {
    place = place_in_program(reinterpret_cast<uintptr_t>(mistake.instruction)) + 1;
    report.place = place_of(static_cast<uint32_t>(place));
  } else if (mistake.file != nullptr) {
    place = reinterpret_cast<uintptr_t>(mistake.file) ^ uint64_t { mistake.line } << 48;
    report.place.file = mistake.file;
    report.place.line = mistake.line;
  } else if (mistake.site.line() == 0 && mistake.thread < count_ && threads_[mistake.thread].polls_at != 0) {
    place = threads_[mistake.thread].polls_at;
    report.place = place_of(static_cast<uint32_t>(place));
  } else {
    report.place = place_of(mistake.site);
  }
  const uint64_t other = mistake.has_other ? key_of(mistake.other_site) : 0;
  if (!Findings::all().is_new(mistake.kind, place, other)) return;
  report.kind = mistake.kind;
  report.message = mistake.message;
  report.block = coordinates_of_block(number_);
  report.thread = coordinates_of_thread(mistake.thread);
  if (mistake.has_other) {
    report.other = place_of(mistake.other_site);
    report.other_block = report.block;
    report.other_thread = coordinates_of_thread(mistake.other_thread);
  }
  Findings::all().add(std::move(report), place, other);
}

}  // namespace treadle::checker

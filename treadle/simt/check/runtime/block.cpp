#include "treadle/simt/check/runtime/block.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "treadle/simt/check/runtime/epochs.h"
#include "treadle/simt/check/runtime/shared_variables.h"
#include "treadle/simt/uninterrupted.h"

namespace treadle::checker {

__thread Block* running_block;
uintptr_t program_base;
Shadow program_variables;

namespace {

constexpr size_t kLargestDynamic = 227 * 1024, kBehindDynamic = 4096;
constexpr size_t kDynamicShadow = kLargestDynamic + kBehindDynamic;

}  // namespace

void prepare_blocks() {
  program_base = program_begin();
  program_variables.begin = variables_begin() / kWordBytes * kWordBytes;
  program_variables.bytes = variables_end() - program_variables.begin;
  program_variables.reserve(program_variables.bytes);
  std::memset(program_variables.state, 0xFF, program_variables.bytes / kWordBytes + 1);
}

Block::Block() {
  const SharedVariables& program = SharedVariables::of_program();
  static_.begin = program.begin_here();
  static_.bytes = program.bytes();
  static_.reserve(static_.bytes);
  for (const SharedVariable& variable : program.variables()) static_.allow(variable.offset, variable.bytes);
  dynamic_.reserve(kDynamicShadow);
  built_ins_offset_ = program.built_ins_begin();
  built_ins_bytes_ = program.built_ins_bytes();
}

Block::~Block() {
  static_.release(static_.bytes);
  dynamic_.release(kDynamicShadow);
}

void Block::begin(uint64_t number, unsigned threads, void* dynamic_shared, size_t bytes) {
  number_ = number;
  count_ = threads;
  epoch_ = first_epoch_ = next_epoch(number, 0);
  safe_epoch_ = launch_epoch();
  arguments_begin_ = reinterpret_cast<uintptr_t>(current_launch().arguments);
  arguments_bytes_ = current_launch().argument_bytes;
  threads_.assign(threads, ThreadState());
  warps_.assign((threads + 31) / 32, WarpState());
  for (WarpState& warp : warps_) warp.clock.fill(1);
  switch_to(0);
  learnt_ = published_ = nullptr;
  fenced_ = learnt_by_threads_ = false;
  signals_.clear();
  earlier_atomics_.clear();
  sources_.clear();

  for (size_t word = static_.used_begin; word < static_.used_end; ++word) static_.state[word] &= 0xF0;
  static_.used_begin = SIZE_MAX;
  static_.used_end = 0;

  // Words behind the end are nobody's: an access past it is found there. In programs of others the memory is
  // a thread-local area of the largest size.
  dynamic_.begin = reinterpret_cast<uintptr_t>(dynamic_shared);
  const bool own_area = static_.holds(dynamic_.begin);
  dynamic_.bytes = dynamic_.begin == 0 ? 0 : own_area ? kLargestDynamic : bytes + kBehindDynamic;
  const size_t clear = std::max(dynamic_.used_end, bytes / kWordBytes + 1);
  std::memset(dynamic_.state, 0, std::min(clear, kDynamicShadow / kWordBytes));
  dynamic_.used_end = 0;
  dynamic_.allow(0, bytes);
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
  pass_grid_epoch();
  safe_epoch_ = launch_epoch();
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
    else if (warp.seen[me][lane] > 0)
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
  const bool in_device = in_region(address) || program_variables.holds(address);
  std::unique_lock<std::mutex> lock;
  auto* signals = &signals_;
  if (in_device) {
    lock = std::unique_lock(device.mutex);
    if (device.launch != launch_epoch()) {
      device.signals.clear();
      device.launch = launch_epoch();
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

bool Block::ordered_in_warp(const Record& before) const {
  return warps_[warp_].seen[thread_ % 32][before.thread % 32] >= before.clock;
}

/// Whether an access happened before what the running thread does now.
bool Block::ordered(const Record& before) const {
  if (before.epoch < safe_epoch_) return true;
  const uint32_t block = owner_of(before.epoch).first_epoch;
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
  const bool same_block = owner_of(before.epoch).first_epoch == first_epoch_;
  if (before.kind == AccessKind::plain || now.kind == AccessKind::plain) return true;
  if (before.kind == AccessKind::is_volatile && now.kind == AccessKind::is_volatile)
    return same_block && same_warp(before) && (both_write || before.thread != now.thread);
  return !same_block && (before.kind == AccessKind::atomic_block || now.kind == AccessKind::atomic_block);
}

// ---- background copies

SharedShadow* Block::shadow_of(uintptr_t address) {
  if (dynamic_.holds(address)) return &dynamic_;
  if (static_.holds(address)) return &static_;
  return nullptr;
}

void Block::begin_copy(uintptr_t shared, unsigned bytes, uintptr_t from, unsigned read, uintptr_t pc) {
  if (read > 0) access<false>(from, read, AccessKind::plain, pc);
  access<true>(shared, bytes, AccessKind::plain, pc);
  if (read > 0)
    sources_.push_back({from, shared, read, record(AccessKind::in_flight, place_in_program(pc), 0x0F)});
  const SharedShadow* shadow = shadow_of(shared);
  if (shadow == nullptr) return;
  for (unsigned i = 0; i < bytes; i += kWordBytes)
    shadow->cells[shadow->word(shared + i)].write.kind = AccessKind::in_flight;
}

/// What the running thread has copied itself has arrived; the others know of it behind a barrier.
void Block::end_copy(uintptr_t shared, unsigned bytes) {
  const auto source =
      std::find_if(sources_.begin(), sources_.end(), [&](const CopySource& s) { return s.shared == shared; });
  if (source != sources_.end()) sources_.erase(source);
  const SharedShadow* shadow = shadow_of(shared);
  if (shadow == nullptr) return;
  for (unsigned byte = 0; byte < bytes; byte += kWordBytes) {
    Record& write = shadow->cells[shadow->word(shared + byte)].write;
    if (write.kind == AccessKind::in_flight && write.thread == thread_)
      write = record(AccessKind::plain, write.pc, write.mask);
  }
}

}  // namespace treadle::checker

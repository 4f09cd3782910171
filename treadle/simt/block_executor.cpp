#include "treadle/simt/block_executor.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "treadle/simt/hooks.h"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr size_t kSharedAlignment = 128;
/// Stack tops are spread over a page; else they would all fall into the same few sets of the first-level
/// cache.
constexpr size_t kStackColour = 320, kStackColours = 4096;

/// A Site is a pointer to constant data.
inline bool identical(Site a, Site b) {
  static_assert(sizeof(Site) == sizeof(uintptr_t));
  return std::bit_cast<uintptr_t>(a) == std::bit_cast<uintptr_t>(b);
}

/// One place may have several copies of that data.
bool same_place(Site a, Site b) {
  return a.line() == b.line() && a.column() == b.column() && std::string_view(a.file_name()) == b.file_name();
}

std::string place(Site site) { return fmt::format("{}:{}", site.file_name(), site.line()); }

/// "0-15, 20" out of sorted numbers.
std::string ranges(const std::vector<unsigned>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    text += text.empty() ? "" : ", ";
    text += i == j ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[j]);
    i = j + 1;
  }
  return text;
}

}  // namespace

void BlockExecutor::FreeMemory::operator()(void* memory) const { std::free(memory); }

std::atomic<void* (*)()> own_dynamic_shared = nullptr;

BlockExecutor::BlockExecutor() { simt::prepare_thread(main_); }

BlockExecutor::~BlockExecutor() { give_back_stacks(); }

void BlockExecutor::give_back_stacks() {
  for (const auto& fiber : fibers_) {
    simt::end_fiber(fiber->context);
    simt::give_back_fiber_stack(fiber->stack);
  }
  fibers_.clear();
  free_fibers_.clear();
}

// ---- one block

void BlockExecutor::begin_grid(const KernelLaunch& launch, Schedule schedule, GridBarrier* grid_barrier) {
  launch_ = &launch;
  schedule_ = schedule;
  grid_barrier_ = grid_barrier;
  threads_ = launch.block.x * launch.block.y * launch.block.z;
  blockDim = {launch.block.x, launch.block.y, launch.block.z};
  gridDim = {launch.grid.x, launch.grid.y, launch.grid.z};
  if (void* (*const own)() = own_dynamic_shared; own != nullptr) {
    dynamic_shared_memory = own();
    return;
  }
  if (launch.shared_bytes > shared_capacity_) {
    shared_capacity_ = (launch.shared_bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
    shared_memory_.reset(std::aligned_alloc(kSharedAlignment, shared_capacity_));
    require<DeviceError>(shared_memory_ != nullptr, "simt: no memory for {} bytes of shared memory",
                         shared_capacity_);
  }
  dynamic_shared_memory = shared_memory_.get();
}

void BlockExecutor::run_block(uint64_t block) {
  begin_block(block);
  running_ = true;
  if (launch_->kind == LaunchKind::independent)
    run_plain_block();
  else
    run_fibers();
  running_ = false;
  hooks::block_end();
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void BlockExecutor::begin_block(uint64_t block) {
  set_block_built_ins(block);
  order_threads(block);
  started_ = arrived_ = 0;
  next_coordinates_ = {};
  alive_ = threads_;
  ready_.clear();
  held_.clear();
  at_barrier_.clear();
  warps_.resize((threads_ + 31) / 32);
  for (Warp& warp : warps_) warp.ended = 0;
  if (threads_ % 32 != 0) warps_.back().ended = kFullWarp << threads_ % 32;
  hooks::block_begin(block, threads_, dynamic_shared_memory, launch_->shared_bytes);
}

void BlockExecutor::set_block_built_ins(uint64_t block) {
  const dim3& grid = launch_->grid;
  const uint64_t row = block / grid.x;
  blockIdx = {static_cast<unsigned>(block - row * grid.x), static_cast<unsigned>(row % grid.y),
              static_cast<unsigned>(row / grid.y)};
}

void BlockExecutor::run_plain_block() {
  try {
    launch_->run(launch_->arguments);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

/// Runs the first fiber, and comes back when all threads have returned or one has failed.
void BlockExecutor::run_fibers() {
  Fiber* first = free_fiber();
  start_thread(first);
  current_executor = this;
  current_ = first;
  simt::switch_fiber(main_, first->context, 0);
  current_executor = nullptr;
  if (failure_ == nullptr) return;
  // The other fibers are abandoned where they stand: device code owns nothing that would need unwinding.
  give_back_stacks();
  warps_.clear();
}

// ---- the order of threads

void BlockExecutor::order_threads(uint64_t block) {
  if (schedule_.order != ScheduleOrder::random) return;
  random_ = ScheduleRandom(schedule_.seed ^ (block + 1) * 0xd1342543de82ef95u);
  order_.resize(threads_);
  for (unsigned i = 0; i < threads_; ++i) order_[i] = i;
  random_.shuffle(order_);
}

unsigned BlockExecutor::reordered_thread(unsigned position) const {
  return schedule_.order == ScheduleOrder::reverse ? threads_ - 1 - position : order_[position];
}

BuiltIn BlockExecutor::coordinates_of(unsigned thread) const {
  const dim3& block = launch_->block;
  if (thread < block.x) return {thread, 0, 0};
  return {thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
}

inline void BlockExecutor::advance_coordinates() {
  if (++next_coordinates_.x < blockDim.x) return;
  next_coordinates_.x = 0;
  if (++next_coordinates_.y < blockDim.y) return;
  next_coordinates_.y = 0;
  ++next_coordinates_.z;
}

// ---- fibers

Fiber* BlockExecutor::free_fiber() {
  if (free_fibers_.empty()) return add_fiber();
  Fiber* fiber = free_fibers_.back();
  free_fibers_.pop_back();
  return fiber;
}

Fiber* BlockExecutor::add_fiber() {
  const size_t colour = fibers_.size() * kStackColour % kStackColours;
  Fiber* fiber = fibers_.emplace_back(std::make_unique<Fiber>()).get();
  fiber->stack = simt::take_fiber_stack();
  simt::prepare_fiber(fiber->context, fiber->stack, colour, fiber_entry);
  return fiber;
}

void BlockExecutor::fiber_entry() {
  simt::finish_first_switch();
  current_executor->run_fiber();
}

/// A fiber's whole life: it runs threads until none is left to start, then lies in the free list until it is
/// given another.
void BlockExecutor::run_fiber() {
  for (;;) {
    run_threads_of_fiber();
    leave_fiber();
  }
}

void BlockExecutor::run_threads_of_fiber() {
  try {
    launch_->run(launch_->arguments);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void BlockExecutor::leave_fiber() {
  Fiber* self = current_;
  free_fibers_.push_back(self);
  Fiber* next = failure_ == nullptr ? next_ready() : nullptr;
  if (next != nullptr) {
    switch_to(next);
    return;
  }
  if (failure_ == nullptr && alive_ > 0) failure_ = std::make_exception_ptr(deadlock());
  switch_to_main();
}

inline void BlockExecutor::make_current(Fiber* fiber) {
  current_ = fiber;
  threadIdx = fiber->coordinates;
  hooks::thread_switch(fiber->thread);
}

/// The next thread of the order begins on `fiber`.
inline void BlockExecutor::start_thread(Fiber* fiber) {
  const unsigned position = started_++;
  if (schedule_.order == ScheduleOrder::forward) [[likely]] {
    fiber->thread = position;
    fiber->coordinates = next_coordinates_;
    advance_coordinates();
  } else {
    fiber->thread = reordered_thread(position);
    fiber->coordinates = coordinates_of(fiber->thread);
  }
  make_current(fiber);
}

inline uint64_t BlockExecutor::switch_to(Fiber* fiber) {
  Fiber* self = current_;
  make_current(fiber);
  return simt::switch_fiber(self->context, fiber->context, fiber->result);
}

void BlockExecutor::switch_to_main() { simt::switch_fiber(current_->context, main_, 0); }

/// The current thread waits: another one starts on a fresh fiber, or goes on. Returns the result that the
/// thread waited for.
inline uint64_t BlockExecutor::park() {
  if (started_ < threads_) [[unlikely]]
    return park_on_fresh_fiber();
  Fiber* next = ready_.pop();
  if (next == nullptr) [[unlikely]]
    return park_for_held_warp();
  return next == current_ ? next->result : switch_to(next);
}

[[gnu::noinline]] uint64_t BlockExecutor::park_for_held_warp() {
  Fiber* next = next_ready();
  if (next == nullptr) return throw_deadlock();
  return next == current_ ? next->result : switch_to(next);
}

/// The next thread to go on, of a warp that was held back if there is no other.
Fiber* BlockExecutor::next_ready() {
  if (ready_.empty()) release_held_warp();
  return ready_.pop();
}

[[gnu::noinline]] uint64_t BlockExecutor::park_on_fresh_fiber() {
  Fiber* self = current_;
  Fiber* fresh = free_fiber();
  start_thread(fresh);
  return simt::switch_fiber(self->context, fresh->context, 0);
}

/// What the thread waits for may be the work of a warp that is held back.
void BlockExecutor::let_others_run() {
  release_held_warp();
  if (ready_.empty() && started_ == threads_) return;
  ready_.push(current_);
  park();
}

/// A lane that has returned is no longer waited for.
inline void BlockExecutor::end_lane(unsigned thread) {
  Warp& warp = warps_[thread / 32];
  warp.ended |= 1u << thread % 32;
  if (warp.open != 0) [[unlikely]]
    complete_without(warp, thread / 32);
}

inline bool BlockExecutor::start_next_thread() {
  const unsigned thread = current_->thread;
  hooks::thread_end(thread);
  --alive_;
  end_lane(thread);
  if (arrived_ == alive_ && alive_ > 0) [[unlikely]]
    open_barrier();
  if (started_ == threads_) return false;
  start_thread(current_);
  return true;
}

// ---- the block barrier

// sync_block and park are written so that every call in them is a tail call: then they need no stack frame,
// and a fiber that waits has as few cache lines of stack as possible.

inline void BlockExecutor::sync_block(Site site) {
  if (arrived_ == 0 || barrier_kind_ != BlockBarrier::plain || !identical(site, at_barrier_.first()->site))
      [[unlikely]] {
    meet_block(BlockBarrier::plain, 0, site);
    return;
  }
  current_->site = site;
  wait_at_barrier();
}

[[gnu::noinline]] unsigned BlockExecutor::meet_block(BlockBarrier kind, unsigned value, Site site) {
  current_->site = site;
  if (arrived_ == 0) {
    barrier_kind_ = kind;
    barrier_value_ = kind == BlockBarrier::all;
  } else if (kind != barrier_kind_ || !same_place(site, at_barrier_.first()->site)) {
    diverge(site);
  }
  fold_barrier_value(value);
  return static_cast<unsigned>(wait_at_barrier());
}

inline uint64_t BlockExecutor::wait_at_barrier() {
  at_barrier_.push(current_);
  if (++arrived_ == alive_) [[unlikely]]
    return open_barrier_and_park();
  return park();
}

[[gnu::noinline]] uint64_t BlockExecutor::open_barrier_and_park() {
  open_barrier();
  return park();
}

[[gnu::cold]] void BlockExecutor::diverge(Site site) const {
  const Fiber* other = at_barrier_.first();
  const std::string message =
      fmt::format("divergent barrier: thread {} waits at {}, thread {} at {}", thread_name(other->thread),
                  place(other->site), thread_name(current_->thread), place(site));
  hooks::mistake(
      {"divergent-barrier", message.c_str(), site, current_->thread, true, other->site, other->thread});
  throw error(message);
}

void BlockExecutor::fold_barrier_value(unsigned value) {
  if (barrier_kind_ == BlockBarrier::count) barrier_value_ += value;
  if (barrier_kind_ == BlockBarrier::all) barrier_value_ &= value;
  if (barrier_kind_ == BlockBarrier::any) barrier_value_ |= value;
}

/// All threads that have not returned are here: they go on.
void BlockExecutor::open_barrier() {
  hooks::block_barrier(at_barrier_.first()->site, threads_ - alive_);
  if (barrier_kind_ == BlockBarrier::grid) wait_for_grid();
  arrived_ = 0;
  if (barrier_kind_ != BlockBarrier::plain)
    for (Fiber* fiber = at_barrier_.first(); fiber != nullptr; fiber = fiber->next)
      fiber->result = barrier_value_;
  if (schedule_.order == ScheduleOrder::random)
    release_in_random_order();
  else
    ready_.append(at_barrier_);
}

/// Every other time, about, the warps go on one by one, each as far as it gets without the others: so a warp
/// runs ahead of its block up to the next barrier, as it may on a GPU.
void BlockExecutor::release_in_random_order() {
  shuffle_waiters();
  const bool one_by_one = random_.below(2) == 0;
  (one_by_one ? held_ : ready_).append(at_barrier_);
}

/// The first warp that is held back goes on.
void BlockExecutor::release_held_warp() {
  if (held_.empty()) return;
  const unsigned warp = held_.first()->thread / 32;
  FiberQueue others;
  while (Fiber* fiber = held_.pop()) (fiber->thread / 32 == warp ? ready_ : others).push(fiber);
  held_.append(others);
}

void BlockExecutor::shuffle_waiters() {
  shuffled_.clear();
  while (Fiber* fiber = at_barrier_.pop()) shuffled_.push_back(fiber);
  random_.shuffle(shuffled_);
  for (Fiber* fiber : shuffled_) at_barrier_.push(fiber);
}

void BlockExecutor::wait_for_grid() {
  const std::string here = place(at_barrier_.first()->site);
  if (grid_barrier_ == nullptr) throw error("grid_sync() at " + here + " needs launch_cooperative");
  if (!grid_barrier_->arrive_and_wait())
    throw error("deadlock: waits in grid_sync() at " + here + ", but another block has ended");
}

// ---- warp collectives

inline uint64_t BlockExecutor::meet_warp(unsigned mask, WarpCombine* combine, uint64_t value,
                                         unsigned operand, Site site) {
  Fiber* self = current_;
  const unsigned number = self->thread / 32, lane = self->thread % 32;
  self->site = site;
  if ((mask >> lane & 1u) == 0) [[unlikely]]
    refuse_mask(mask, site);
  Warp& warp = warps_[number];
  Meeting& meeting = meeting_of(warp, mask, combine);
  report_different_places(meeting, site);
  meeting.exchange.present |= 1u << lane;
  meeting.exchange.value[lane] = value;
  meeting.exchange.operand[lane] = operand;
  meeting.fiber[lane] = self;
  if (((meeting.exchange.present | warp.ended) & mask) == mask)
    return complete(number, meeting), self->result;
  return park();
}

[[gnu::cold]] void BlockExecutor::refuse_mask(unsigned mask, Site site) const {
  const std::string message =
      fmt::format("bad mask: {:#010x} does not name lane {} of thread {}, which calls at {}", mask,
                  current_->thread % 32, thread_name(current_->thread), place(site));
  hooks::mistake({"divergent-collective", message.c_str(), site, current_->thread});
  throw error(message);
}

inline BlockExecutor::Meeting& BlockExecutor::meeting_of(Warp& warp, unsigned mask, WarpCombine* combine) {
  Meeting* free = nullptr;
  for (Meeting& meeting : warp.meetings) {
    if (meeting.exchange.present == 0)
      free = &meeting;
    else if (meeting.mask == mask && meeting.combine == combine)
      return meeting;
  }
  if (free == nullptr) free = &warp.meetings.emplace_back();
  free->mask = mask;
  free->combine = combine;
  ++warp.open;
  return *free;
}

/// Lanes may meet from different branches; a checker may want to know.
inline void BlockExecutor::report_different_places(const Meeting& meeting, Site site) const {
  if (meeting.exchange.present == 0) return;
  const Fiber* other = meeting.fiber[std::countr_zero(meeting.exchange.present)];
  if (!identical(other->site, site) && !same_place(other->site, site))
    hooks::mistake({"divergent-collective", "lanes of a warp meet from different places", site,
                    current_->thread, true, other->site, other->thread});
}

/// All lanes are here: the others become ready; the current thread, when it is one of them, goes on at once.
void BlockExecutor::complete(unsigned warp_number, Meeting& meeting) {
  WarpExchange& exchange = meeting.exchange;
  meeting.combine(exchange);
  hooks::warp_collective(warp_number, meeting.mask, exchange.present, meeting.combine == combine_nothing,
                         meeting.fiber[std::countr_zero(exchange.present)]->site);
  for (unsigned lanes = exchange.present; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    Fiber* fiber = meeting.fiber[lane];
    fiber->result = exchange.result[lane];
    if (fiber != current_) ready_.push(fiber);
  }
  exchange.present = 0;
  --warps_[warp_number].open;
}

/// Completes the meetings that waited only for lanes that have returned.
void BlockExecutor::complete_without(Warp& warp, unsigned warp_number) {
  for (Meeting& meeting : warp.meetings)
    if (meeting.exchange.present != 0 &&
        ((meeting.exchange.present | warp.ended) & meeting.mask) == meeting.mask)
      complete(warp_number, meeting);
}

// ---- failures

SimtError BlockExecutor::error(const std::string& problem) const {
  return SimtError(fmt::format("{}, block ({}, {}, {}): {}", kernel_name(launch_->signature), +blockIdx.x,
                               +blockIdx.y, +blockIdx.z, problem));
}

[[gnu::cold]] uint64_t BlockExecutor::throw_deadlock() const { throw deadlock(); }

SimtError BlockExecutor::deadlock() const {
  return error("deadlock: all threads wait: " + waiting_threads());
}

std::string BlockExecutor::thread_name(unsigned thread) const {
  const uint3 c = coordinates_of(thread);
  return fmt::format("({}, {}, {})", c.x, c.y, c.z);
}

/// "threads 0-15 at file:line; thread 3 at …" by place; numbers are linear within the block.
std::string BlockExecutor::waiting_threads() const {
  std::map<std::string, std::vector<unsigned>> by_place;
  for (const Fiber* fiber = at_barrier_.first(); fiber != nullptr; fiber = fiber->next)
    by_place["block barrier " + place(fiber->site)].push_back(fiber->thread);
  for (const Warp& warp : warps_)
    for (const Meeting& meeting : warp.meetings)
      for (unsigned lanes = meeting.exchange.present; lanes != 0; lanes &= lanes - 1) {
        const Fiber* fiber = meeting.fiber[std::countr_zero(lanes)];
        by_place[fmt::format("warp collective {} with mask {:#010x}", place(fiber->site), meeting.mask)]
            .push_back(fiber->thread);
      }
  std::string text;
  for (auto& [where, threads] : by_place) {
    std::sort(threads.begin(), threads.end());
    text += fmt::format("{}{} thread(s) at {} (thread {})", text.empty() ? "" : "; ", threads.size(), where,
                        ranges(threads));
  }
  return text + fmt::format("; {} thread(s) have returned", threads_ - alive_);
}

/// The signature says "… [with auto kernel = treadle::simt::{anonymous}::name<16>; …]".
std::string kernel_name(const char* signature) {
  constexpr std::string_view kStart = "kernel = ";
  std::string_view name = signature;
  const size_t start = name.find(kStart);
  if (start == std::string_view::npos) return signature;
  name.remove_prefix(start + kStart.size());
  name = name.substr(0, name.find(';'));
  for (const std::string_view scope : {"treadle::", "simt::", "checked::", "{anonymous}::"})
    if (name.starts_with(scope)) name.remove_prefix(scope.size());
  return std::string(name);
}

void BlockExecutor::throw_trap() const {
  throw error(fmt::format("__trap() by thread ({}, {}, {})", +threadIdx.x, +threadIdx.y, +threadIdx.z));
}

// ---- calls from kernels

namespace {

[[noreturn]] void refuse_collective(const char* what, Site site) {
  throw SimtError(
      fmt::format("{} at {}: the kernel was launched as independent, which promises that it has none", what,
                  place(site)));
}

}  // namespace

void sync_block(Site site) {
  if (current_executor == nullptr) [[unlikely]]
    refuse_collective("block barrier", site);
  current_executor->sync_block(site);
}

unsigned meet_block(BlockBarrier kind, unsigned value, Site site) {
  if (current_executor == nullptr) refuse_collective("block barrier", site);
  return current_executor->meet_block(kind, value, site);
}

uint64_t meet_warp(unsigned mask, WarpCombine* combine, uint64_t value, unsigned operand, Site site) {
  if (current_executor == nullptr) refuse_collective("warp collective", site);
  return current_executor->meet_warp(mask, combine, value, operand, site);
}

void let_others_run() {
  if (current_executor != nullptr) current_executor->let_others_run();
}

bool start_next_thread() { return current_executor->start_next_thread(); }

}  // namespace treadle::TREADLE_TARGET

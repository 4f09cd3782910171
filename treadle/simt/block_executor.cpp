#include "treadle/simt/block_executor.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "treadle/simt/assertion.h"
#include "treadle/simt/collective_hook.h"
#include "treadle/simt/give_way.h"
#include "treadle/simt/hooks.h"

namespace treadle::TREADLE_TARGET {
namespace {

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

BlockExecutor::BlockExecutor() {
  simt::prepare_thread(main_);
  install_fault_handlers();
  simt::on_failed_assertion([](const char* file, unsigned line, const std::string& text) {
    if (running_executor != nullptr) running_executor->end_by_assertion(file, line, text);
  });
}

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

void BlockExecutor::begin_grid(const KernelLaunch& launch, Schedule schedule, BlockHost& host) {
  launch_ = &launch;
  schedule_ = schedule;
  host_ = &host;
  by_chance_ = schedule.order == ScheduleOrder::random;
  plain_ = launch.run_block != nullptr && schedule.order == ScheduleOrder::forward;
  threads_ = launch.block.x * launch.block.y * launch.block.z;
  blockDim = {launch.block.x, launch.block.y, launch.block.z};
  gridDim = {launch.grid.x, launch.grid.y, launch.grid.z};
  const void* const function = reinterpret_cast<const void*>(plain_ ? launch.run_block : launch.run);
  if (function != text_of_ && !text_.contains(reinterpret_cast<uintptr_t>(function)))
    text_ = text_around(function);
  text_of_ = function;
  dynamic_shared_memory = shared_memory_.prepare(launch.shared_bytes);
  fills_shared_ = schedule.order != ScheduleOrder::forward;
#if defined(TREADLE_SIMT_CHECK)
  fills_shared_ = true;
#endif
}

void BlockExecutor::run_block(uint64_t block) {
  begin_block(block);
  running_executor = this;
  spin_watch_.start();  // a tick outside of a block ends it
  run_fibers(free_fiber());
  running_executor = current_executor = nullptr;
  if (abandoned_) {
    // Fibers are left where they stand: device code owns nothing that would need unwinding.
    give_back_stacks();
    warps_.clear();
  }
  if (launch_->shared_bytes > 0) check_shared_guard();
  hooks::block_end();
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void BlockExecutor::begin_block(uint64_t block) {
  set_block_built_ins(block);
  order_threads(block);
  started_ = arrived_ = in_meetings_ = quiet_threads = uninterrupted = 0;
  abandoned_ = false;
  ++blocks_begun_;
  next_coordinates_ = {};
  alive_ = threads_;
  ready_.clear();
  if (by_chance_) ready_by_chance_.clear();
  at_barrier_.clear();
  gathered_.clear();
  warps_.resize((threads_ + 31) / 32);
  for (Warp& warp : warps_) warp.ended = 0;
  if (threads_ % 32 != 0) warps_.back().ended = kFullWarp << threads_ % 32;
  if (fills_shared_ && launch_->shared_bytes > 0) shared_memory_.fill();
  copies_.clear();
  copies_early_ = by_chance_ && random_.below(4) == 0;
  hooks::block_begin(block, threads_, dynamic_shared_memory, launch_->shared_bytes);
}

void BlockExecutor::set_block_built_ins(uint64_t block) {
  const dim3& grid = launch_->grid;
  const uint64_t row = block / grid.x;
  block_ = {static_cast<unsigned>(block - row * grid.x), static_cast<unsigned>(row % grid.y),
            static_cast<unsigned>(row / grid.y)};
  blockIdx = {block_.x, block_.y, block_.z};
}

/// Runs the first fiber, and comes back when all threads have returned or one has failed.
void BlockExecutor::run_fibers(Fiber* first) {
  current_ = first;
  first->thread = 0;
  if (!plain_) {
    start_thread(first);
    current_executor = this;
  }
  simt::switch_fiber(main_, first->context, 0);
}

// ---- the order of threads

void BlockExecutor::order_threads(uint64_t block) {
  if (schedule_.order != ScheduleOrder::random) return;
  random_ = ScheduleRandom(schedule_.seed ^ (block + 1) * 0xd1342543de82ef95u);
  order_.resize(threads_);
  for (unsigned i = 0; i < threads_; ++i) order_[i] = i;
  random_.shuffle(order_);
  if (random_.below(2) == 0) return;
  // Warp by warp: then a warp can run ahead of others that have not even begun.
  std::vector<unsigned> warps((threads_ + 31) / 32);
  for (unsigned i = 0; i < warps.size(); ++i) warps[i] = i;
  random_.shuffle(warps);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](unsigned a, unsigned b) { return warps[a / 32] < warps[b / 32]; });
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
  running_executor->run_fiber();
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
    leave();
    if (plain_)
      run_plain_blocks();
    else
      launch_->run(launch_->arguments);
    enter();
  } catch (...) {
    enter();
    failure_ = std::current_exception();
    abandoned_ = true;
  }
}

/// A switch of stacks takes as long as many a block: one for all of them. What a block of another kind needs
/// is left alone.
void BlockExecutor::run_plain_blocks() {
  launch_->run_block(launch_->arguments);
  for (uint64_t block; enter(), host_->next_block(block);) {
    set_block_built_ins(block);
    quiet_threads = 0;
    ++blocks_begun_;
    leave();
    launch_->run_block(launch_->arguments);
  }
}

void BlockExecutor::leave_fiber() {
  Fiber* self = current_;
  if (abandoned_ || plain_) {
    free_fibers_.push_back(self);
    return switch_to_main();
  }
  Fiber* next = next_ready();
  if (next == nullptr && started_ < threads_) return start_thread(self);
  if (next == nullptr && release_gathered()) next = next_ready();
  free_fibers_.push_back(self);
  if (next != nullptr) {
    switch_to(next);
  } else {
    if (alive_ > 0) fail_by_deadlock();
    switch_to_main();
  }
}

inline void BlockExecutor::make_current(Fiber* fiber) {
  current_ = fiber;
  threadIdx = fiber->coordinates;
  hooks::thread_switch(fiber->thread);
}

/// The next thread of the order begins on `fiber`.
inline void BlockExecutor::start_thread(Fiber* fiber) {
  changed();
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
  leave();
  return suspend(self, fiber, fiber->result);
}

/// `self` waits until another thread switches to it, which has called leave(). AddressSanitizer must not be
/// interrupted before it knows of the new stack.
inline uint64_t BlockExecutor::suspend(Fiber* self, Fiber* next, uint64_t result) {
#if defined(__SANITIZE_ADDRESS__)
  enter();
  const uint64_t received = simt::switch_fiber(self->context, next->context, result);
  leave();
  return received;
#else
  return simt::switch_fiber(self->context, next->context, result);
#endif
}

void BlockExecutor::switch_to_main() { simt::switch_fiber(current_->context, main_, 0); }

/// The current thread waits: another one starts on a fresh fiber, or goes on. Returns the result that the
/// thread waited for.
inline uint64_t BlockExecutor::park() {
  if (started_ < threads_) [[unlikely]]
    return park_while_starting();
  Fiber* next = ready_.pop();
  if (next == nullptr) [[unlikely]]
    return park_by_chance();
  return next == current_ ? (leave(), next->result) : switch_to(next);
}

/// Under a random schedule, threads that have begun may go on before all have.
[[gnu::noinline]] uint64_t BlockExecutor::park_while_starting() {
  if (by_chance_ && any_ready() && random_.below(2) == 0) return park_by_chance();
  Fiber* self = current_;
  Fiber* fresh = free_fiber();
  start_thread(fresh);
  return suspend(self, fresh, 0);
}

[[gnu::noinline]] uint64_t BlockExecutor::park_by_chance() {
  Fiber* next = next_ready();
  if (next == nullptr && release_gathered()) next = next_ready();
  if (next == nullptr) return fail_by_deadlock();
  return next == current_ ? (leave(), next->result) : switch_to(next);
}

inline void BlockExecutor::make_ready(Fiber* fiber) {
  if (by_chance_)
    ready_by_chance_.push(fiber);
  else
    ready_.push(fiber);
}

bool BlockExecutor::any_ready() const { return !ready_.empty() || !ready_by_chance_.empty(); }

Fiber* BlockExecutor::next_ready() { return by_chance_ ? ready_by_chance_.pop(random_) : ready_.pop(); }

/// A lane that has returned is no longer waited for.
inline void BlockExecutor::end_lane(unsigned thread) {
  Warp& warp = warps_[thread / 32];
  warp.ended |= 1u << thread % 32;
  if (warp.open != 0) [[unlikely]]
    complete_without(warp, thread / 32);
}

inline bool BlockExecutor::start_next_thread() {
  const unsigned thread = current_->thread;
  if (!copies_.empty()) [[unlikely]]
    copies_.finish(thread);
  hooks::thread_end(thread);
  changed();
  --alive_;
  end_lane(thread);
  if (arrived_ == alive_ && alive_ > 0) [[unlikely]]
    open_barrier();
  if (started_ == threads_) return false;
  if (by_chance_ && any_ready() && random_.below(2) == 0) return false;
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
  if (launch_->kind == LaunchKind::independent) refuse_in_independent("block barrier", site);
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

[[gnu::cold]] void BlockExecutor::diverge(Site site) {
  const Fiber* other = at_barrier_.first();
  {
    const std::string message =
        fmt::format("thread {} waits at {}, thread {} at {}", thread_name(other->thread), place(other->site),
                    thread_name(current_->thread), place(site));
    fail({"divergent-barrier", message.c_str(), site, current_->thread, true, other->site, other->thread},
         "divergent barrier: ");
  }
  abandon();
}

void BlockExecutor::fold_barrier_value(unsigned value) {
  if (barrier_kind_ == BlockBarrier::count) barrier_value_ += value;
  if (barrier_kind_ == BlockBarrier::all) barrier_value_ &= value;
  if (barrier_kind_ == BlockBarrier::any) barrier_value_ |= value;
}

/// All threads that have not returned are here: they go on.
void BlockExecutor::open_barrier() {
  changed();
  hooks::block_barrier(at_barrier_.first()->site, threads_ - alive_);
  if (barrier_kind_ == BlockBarrier::grid) wait_for_grid();
  arrived_ = 0;
  if (barrier_kind_ != BlockBarrier::plain)
    for (Fiber* fiber = at_barrier_.first(); fiber != nullptr; fiber = fiber->next)
      fiber->result = barrier_value_;
  if (!by_chance_) return ready_.append(at_barrier_);
  while (Fiber* fiber = at_barrier_.pop()) ready_by_chance_.push(fiber);
  ready_by_chance_.scatter(random_.below(16) == 0);
}

void BlockExecutor::wait_for_grid() {
  const Site here = at_barrier_.first()->site;
  auto meeting = BlockHost::Meeting::abandoned;
  if (launch_->kind != LaunchKind::cooperative)
    set_failure("grid_sync() at " + place(here) + " needs launch_cooperative");
  else
    meeting = host_->wait_for_grid();
  if (meeting == BlockHost::Meeting::met) return hooks::grid_barrier();
  if (meeting == BlockHost::Meeting::impossible) {
    const std::string message = "waits in grid_sync() at " + place(here) + ", but another block has ended";
    fail({"deadlock", message.c_str(), here, at_barrier_.first()->thread}, "deadlock: ");
  }
  abandon();
}

// ---- warp collectives

inline uint64_t BlockExecutor::meet_warp(unsigned mask, WarpCombine* combine, uint64_t value,
                                         unsigned operand, Site site) {
  Fiber* self = current_;
  const unsigned number = self->thread / 32, lane = self->thread % 32;
  self->site = site;
  if ((mask >> lane & 1u) == 0 || launch_->kind == LaunchKind::independent) [[unlikely]]
    refuse_mask(mask, site);
  Warp& warp = warps_[number];
  Meeting& meeting = meeting_of(warp, mask, combine);
  report_different_places(meeting, site);
  meeting.exchange.present |= 1u << lane;
  meeting.exchange.value[lane] = value;
  meeting.exchange.operand[lane] = operand;
  meeting.fiber[lane] = self;
  ++in_meetings_;
  if (((meeting.exchange.present | warp.ended) & mask) != mask) return park();
  complete(number, meeting);
  if (!by_chance_) return leave(), self->result;
  make_ready(self);
  return park();
}

[[gnu::cold]] void BlockExecutor::refuse_mask(unsigned mask, Site site) {
  if (launch_->kind == LaunchKind::independent) refuse_in_independent("warp collective", site);
  {
    const std::string message =
        fmt::format("bad mask: {:#010x} does not name lane {} of thread {}, which calls at {}", mask,
                    current_->thread % 32, thread_name(current_->thread), place(site));
    fail({"divergent-collective", message.c_str(), site, current_->thread});
  }
  abandon();
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

/// What a lane reads of one that does not take part is undefined.
[[gnu::noinline]] void BlockExecutor::report_absent_lanes(Meeting& meeting) const {
  const unsigned lane = static_cast<unsigned>(std::countr_zero(meeting.exchange.absent));
  meeting.exchange.absent = 0;
  const Fiber* reader = meeting.fiber[lane];
  hooks::mistake({"divergent-collective", "a lane asks for the value of a lane that does not take part",
                  reader->site, reader->thread});
}

/// All lanes are here: the others become ready; the current thread, when it is one of them, goes on at once.
void BlockExecutor::complete(unsigned warp_number, Meeting& meeting) {
  changed();
  WarpExchange& exchange = meeting.exchange;
  {
    const hooks::OwnWork own;
    meeting.combine(exchange);
  }
  if (exchange.absent != 0) [[unlikely]]
    report_absent_lanes(meeting);
  hooks::combined(meeting.combine, meeting.fiber[std::countr_zero(exchange.present)]->site);
  hooks::warp_collective(warp_number, meeting.mask, exchange.present, meeting.combine == combine_nothing,
                         meeting.fiber[std::countr_zero(exchange.present)]->site);
  for (unsigned lanes = exchange.present; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    Fiber* fiber = meeting.fiber[lane];
    fiber->result = exchange.result[lane];
    if (fiber != current_) make_ready(fiber);
  }
  in_meetings_ -= static_cast<unsigned>(std::popcount(exchange.present));
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

unsigned BlockExecutor::gather_lanes(Site site) {
  current_->site = site;
  gathered_.push(current_);
  ++in_meetings_;
  return static_cast<unsigned>(park());
}

/// Some of those that wait for lanes of their warp go on together. False when none waits.
bool BlockExecutor::release_gathered() {
  if (gathered_.empty()) return false;
  changed();
  const Fiber* chosen = earliest_gathered();
  FiberQueue together, others;
  uint64_t lanes = 0;
  while (Fiber* fiber = gathered_.pop()) {
    const bool active = fiber->thread / 32 == chosen->thread / 32 && same_place(fiber->site, chosen->site);
    if (active) lanes |= uint64_t{1} << fiber->thread % 32;
    (active ? together : others).push(fiber);
  }
  gathered_.append(others);
  while (Fiber* fiber = together.pop()) {
    fiber->result = lanes;
    --in_meetings_;
    make_ready(fiber);
  }
  return true;
}

/// Of the first one's warp, who waits at the earliest line: lanes in a branch or a loop go on before those
/// that are past it, and may come to where these are.
const Fiber* BlockExecutor::earliest_gathered() const {
  const Fiber* earliest = gathered_.first();
  for (const Fiber* fiber = earliest->next; fiber != nullptr; fiber = fiber->next)
    if (fiber->thread / 32 == earliest->thread / 32 && fiber->site.line() < earliest->site.line() &&
        std::string_view(fiber->site.file_name()) == earliest->site.file_name())
      earliest = fiber;
  return earliest;
}

// ---- threads that look for a change

/// Runnable threads that have looked in vain are counted in quiet_threads; this says that the host knows.
constexpr unsigned kHostKnows = 1u << 16;
/// So many polls of ever other places are taken for a loop over many.
constexpr unsigned kManyPolls = 1024;
/// A thread that is found in a loop which does nothing has looked so often, at least.
constexpr unsigned kPollsOfSpinning = 1u << 16;
/// After so long without a call, in nanoseconds, a thread lets others run, whatever it does.
constexpr uint64_t kAlone = 500'000'000;
/// So many samples are taken soon after one another.
constexpr unsigned kSamplesInARow = 8;

namespace {

enum class Poll : uint8_t { fresh, changed, again };

Poll look_up(PollRecord& polls, const void* address, uint64_t value, unsigned bytes) {
  for (Polled& polled : polls.recent)
    if (polled.address == address && polled.bytes == bytes) {
      if (polled.value == value) return Poll::again;
      polled.value = value;
      return Poll::changed;
    }
  polls.recent[polls.next] = {address, value, bytes};
  polls.next = (polls.next + 1) % std::size(polls.recent);
  return Poll::fresh;
}

template <class T>
uint64_t load(const void* address) {
  return static_cast<uint64_t>(__atomic_load_n(static_cast<const T*>(address), __ATOMIC_RELAXED));
}

/// The first 8 of `bytes` bytes. Those that no atomic can hold are read one by one.
uint64_t value_at(const void* address, unsigned bytes) {
  const bool aligned = reinterpret_cast<uintptr_t>(address) % (bytes < 8 ? bytes : 8) == 0;
  if (bytes == 1) return load<uint8_t>(address);
  if (bytes == 2 && aligned) return load<uint16_t>(address);
  if (bytes == 4 && aligned) return load<uint32_t>(address);
  if (bytes >= 8 && aligned) return load<uint64_t>(address);
  uint64_t value = 0;
  for (unsigned i = 0; i < std::min(bytes, 8u); ++i)
    value |= load<uint8_t>(static_cast<const char*>(address) + i) << 8 * i;
  return value;
}

}  // namespace

PollRecord& BlockExecutor::polls_of(unsigned thread) {
  if (thread >= polls_.size()) polls_.resize(thread + 1);
  PollRecord& polls = polls_[thread];
  if (polls.block == blocks_begun_) return polls;
  polls = {};
  polls.block = blocks_begun_;
  return polls;
}

void BlockExecutor::poll(const void* address, uint64_t value, unsigned bytes, Site site) {
  PollRecord& polls = polls_of(current_->thread);
  const Poll found = look_up(polls, address, value, bytes);
  if (found == Poll::changed) changed();
  polls.complete = found == Poll::again && bytes <= 8;
  if (found != Poll::again && ++polls.elsewhere < kManyPolls) return;
  polls.elsewhere = 0;
  current_->site = site;
  wait_quietly(false);
}

void BlockExecutor::let_others_run(Site site) {
  polls_of(current_->thread).complete = false;
  current_->site = site;
  wait_quietly(true);
}

void BlockExecutor::give_way() {
  if (plain_ || (started_ == threads_ && !any_ready())) return;
  make_ready(current_);
  park();
}

/// Others run. When none of them does but look in vain, other blocks run.
void BlockExecutor::wait_quietly(bool asleep) {
  Fiber* self = current_;
  asleep_ |= asleep;
  if (plain_) return ++quiet_threads, say_quiet();
  if (PollRecord& polls = polls_of(self->thread); polls.quiet_round != quiet_round_) {
    polls.quiet_round = quiet_round_;
    ++quiet_threads;
    if (by_chance_) ready_by_chance_.note_quiet(self->thread);
  }
  if (started_ == threads_) {
    if ((quiet_threads & (kHostKnows - 1)) >= runnable() && !release_gathered()) say_quiet();
    if (!any_ready()) return;
  }
  make_ready(self);
  park();
}

unsigned BlockExecutor::runnable() const { return alive_ - arrived_ - in_meetings_; }

void BlockExecutor::say_quiet() {
  const unsigned polls = (quiet_threads & (kHostKnows - 1)) * (spins_ ? kPollsOfSpinning : 1);
  const bool asleep = asleep_;
  begin_quiet_round();
  quiet_threads = kHostKnows;
  bool go_on = false;
  try {
    go_on = host_->quiet(polls, asleep);
  } catch (...) {
    failure_ = std::current_exception();
  }
  if (!go_on) abandon();
}

void BlockExecutor::begin_quiet_round() {
  ++quiet_round_;
  asleep_ = spins_ = false;
  if (by_chance_) ready_by_chance_.forget_quiet();
}

[[gnu::cold]] void BlockExecutor::end_quiet() {
  if ((quiet_threads & kHostKnows) != 0) host_->lively();
  begin_quiet_round();
  quiet_threads = 0;
}

/// Called in handlers of signals.
bool BlockExecutor::may_switch_at(const Interrupted& where) const {
  return state_ != State::busy && uninterrupted == 0 && text_.contains(where.instruction) &&
         on_fiber(where.stack);  // else it is about to leave that stack
}

/// Called in a handler of a signal, where may_switch_at() on the stack of the thread that it has interrupted.
void BlockExecutor::tick(const Interrupted& where) {
  const uint64_t spent = std::min<uint64_t>(where.nanoseconds - last_tick_, 20'000'000);
  last_tick_ = where.nanoseconds;
  const BlockHost::Verdict verdict = host_->spend(spent);
  if (!may_switch_at(where)) {
    if (verdict != BlockHost::Verdict::go_on) spin_watch_.hurry();
    return;
  }
  if (verdict == BlockHost::Verdict::abandon) abandon();
  if (verdict == BlockHost::Verdict::too_long) end_by_limit();
#if !defined(TREADLE_SIMT_CHECK)  // which sees what threads wait for
  if (state_ == State::lively) {
    state_ = State::computing;
    computing_since_ = where.nanoseconds;
    samples_.forget();
    return;
  }
  if (samples_.seen(where)) return give_way(true);
  if (where.nanoseconds - computing_since_ > kAlone) return give_way(false);
  if (samples_.count() % kSamplesInARow != 0) spin_watch_.hurry();
#endif
}

/// The thread that was interrupted only waits (`spins`), or has called nothing for long.
void BlockExecutor::give_way(bool spins) {
  enter();
  polls_of(current_->thread).complete = false;
  current_->site = Site();
  spins_ |= spins;
  wait_quietly(!spins);
  leave();
  samples_.forget();
  state_ = State::computing;
  computing_since_ = last_tick_;
  spin_watch_.hurry();
}

void BlockExecutor::end_by_limit() {
  enter();
  {
    const std::string message = fmt::format("no block has ended for too long: thread {} runs; {}",
                                            running_thread_name(), waiting_threads());
    hooks::Mistake mistake{"deadlock", message.c_str(), Site(), current_->thread};
    mistake.last_wait = current_->site;
    fail(mistake, "deadlock: ");
  }
  abandon();
}

Outlook BlockExecutor::outlook() const {
  Outlook best = Outlook::unchanged;
  const auto look = [&](const Fiber* fiber) {
    if (fiber->thread >= polls_.size()) return best = std::max(best, Outlook::unknown);
    const PollRecord& polls = polls_[fiber->thread];
    if (polls.block != blocks_begun_ || !polls.complete) return best = std::max(best, Outlook::unknown);
    for (const Polled& polled : polls.recent)
      if (polled.address != nullptr && value_at(polled.address, polled.bytes) != polled.value)
        best = Outlook::changed;
    return best;
  };
  look(current_);
  for (const Fiber* fiber = ready_.first(); fiber != nullptr; fiber = fiber->next) look(fiber);
  ready_by_chance_.for_each(look);
  return best;
}

// ---- copies in the background, shared memory

void BlockExecutor::begin_copy(const BackgroundCopy& copy, Site site) {
  const auto addresses = reinterpret_cast<uintptr_t>(copy.to) | reinterpret_cast<uintptr_t>(copy.from);
  if (addresses % copy.bytes == 0) {
    if (plain_) return make(copy);
    hooks::copy_begun(copy.to, copy.bytes, copy.from, copy.read, site);
    return copies_.begin(current_->thread, copy, copies_early_);
  }
  {
    const std::string message = fmt::format(
        "thread {}: a copy of {} bytes at {} takes addresses that are multiples of {}, and gets {} and {}",
        running_thread_name(), copy.bytes, place(site), copy.bytes, copy.to, copy.from);
    fail({"misaligned", message.c_str(), site, current_->thread});
  }
  abandon();
}

void BlockExecutor::commit_copies() {
  if (!plain_) copies_.commit(current_->thread);
}

void BlockExecutor::wait_for_copies(unsigned pending) { copies_.wait(current_->thread, pending); }

void BlockExecutor::finish_copies() { copies_.finish(current_->thread); }

/// The checker sees each access: it needs no guard.
void BlockExecutor::check_shared_guard() {
#if !defined(TREADLE_SIMT_CHECK)
  const ptrdiff_t distance = shared_memory_.check_guard();
  if (distance < 0) return;
  const std::string message = fmt::format(
      "write {} bytes behind the end of {} bytes of dynamic shared memory", distance, launch_->shared_bytes);
  hooks::mistake({"out-of-bounds", message.c_str(), Site(), 0});
  if (failure_ == nullptr) set_failure(message);
#endif
}

// ---- failures

SimtError BlockExecutor::error(const std::string& problem) const {
  return SimtError(fmt::format("{}, block ({}, {}, {}): {}", kernel_name(launch_->signature), block_.x,
                               block_.y, block_.z, problem));
}

/// A mistake that ends the block; of its kind `kind` says what its message alone does not.
void BlockExecutor::fail(const hooks::Mistake& mistake, const char* kind) {
  hooks::mistake(mistake);
  set_failure(std::string(kind) + mistake.message);
}

void BlockExecutor::set_failure(const std::string& problem) {
  failure_ = std::make_exception_ptr(error(problem));
}

/// Ends the block, without unwinding what its threads were doing.
void BlockExecutor::abandon() {
  enter();
  abandoned_ = true;
  switch_to_main();
  __builtin_unreachable();
}

[[gnu::cold]] uint64_t BlockExecutor::fail_by_deadlock() {
  {
    const std::string message = "all threads wait: " + waiting_threads();
    const Fiber* waiting = a_waiting_thread();
    fail({"deadlock", message.c_str(), waiting->site, waiting->thread}, "deadlock: ");
  }
  abandon();
}

const Fiber* BlockExecutor::a_waiting_thread() const {
  if (!at_barrier_.empty()) return at_barrier_.first();
  for (const Warp& warp : warps_)
    for (const Meeting& meeting : warp.meetings)
      if (meeting.exchange.present != 0) return meeting.fiber[std::countr_zero(meeting.exchange.present)];
  return current_;
}

std::string BlockExecutor::thread_name(unsigned thread) const {
  const uint3 c = coordinates_of(thread);
  return fmt::format("({}, {}, {})", c.x, c.y, c.z);
}

std::string BlockExecutor::waiting_threads() const {
  std::map<std::string, std::vector<unsigned>> by_place;
  const auto add_poller = [&](const Fiber* fiber) {
    if (fiber->site.line() == 0)
      by_place["volatile load or loop"].push_back(fiber->thread);
    else
      by_place["poll " + place(fiber->site)].push_back(fiber->thread);
  };
  const auto add_ready = [&](const Fiber* fiber) {
    if (quiet_threads != 0) return add_poller(fiber);
    by_place[fiber->site.line() == 0 ? "no place that waits" : place(fiber->site) + ", which they may leave"]
        .push_back(fiber->thread);
  };
  if (quiet_threads != 0) add_poller(current_);
  for (const Fiber* fiber = ready_.first(); fiber != nullptr; fiber = fiber->next) add_ready(fiber);
  ready_by_chance_.for_each(add_ready);
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

void BlockExecutor::trap() {
  set_failure("__trap() by thread " + running_thread_name());
  abandon();
}

bool BlockExecutor::on_fiber(uintptr_t stack_pointer) const {
  const auto base = reinterpret_cast<uintptr_t>(current_->stack.base);
  return stack_pointer >= base - current_->stack.guard && stack_pointer < base + current_->stack.size;
}

void BlockExecutor::end_by_fault() {
  {
    const auto base = reinterpret_cast<uintptr_t>(current_->stack.base);
    const auto address = reinterpret_cast<uintptr_t>(fault_.address);
    const bool overflow =
        fault_.address != nullptr && address < base && address >= base - current_->stack.guard;
    const std::string what = overflow ? fmt::format("stack overflow: a thread has {} KB of local memory",
                                                    current_->stack.size / 1024)
                                      : describe(fault_);
    const std::string message = fmt::format("thread {}: {}", running_thread_name(), what);
    hooks::Mistake mistake{"fault", message.c_str(), Site(), current_->thread};
    mistake.instruction = fault_.instruction;
    fail(mistake);
  }
  abandon();
}

void BlockExecutor::end_by_assertion(const char* file, unsigned line, const std::string& text) {
  {
    const std::string message = fmt::format("thread {}: {}", running_thread_name(), text);
    hooks::Mistake mistake{"assert", message.c_str(), Site(), current_->thread};
    mistake.file = file, mistake.line = line;
    fail(mistake);
  }
  abandon();
}

/// A plain loop knows its thread from threadIdx alone.
std::string BlockExecutor::running_thread_name() const {
  return fmt::format("({}, {}, {})", +threadIdx.x, +threadIdx.y, +threadIdx.z);
}

void BlockExecutor::refuse_in_independent(const char* what, Site site) {
  set_failure(fmt::format("{} at {}: the kernel was launched as independent, which promises that it has none",
                          what, place(site)));
  abandon();
}

// ---- calls from kernels

namespace {

/// For calls that are not so many that their time matters.
template <class F>
void ask(F f) {
  BlockExecutor* const executor = running_executor;
  if (executor == nullptr) return;
  executor->enter();
  f(*executor);
  executor->leave();
}

}  // namespace

void sync_block(Site site) {
  BlockExecutor* const executor = current_executor;
  if (executor == nullptr) [[unlikely]]
    running_executor->refuse_in_independent("block barrier", site);
  executor->enter();
  executor->sync_block(site);
}

unsigned meet_block(BlockBarrier kind, unsigned value, Site site) {
  BlockExecutor* const executor = current_executor;
  if (executor == nullptr) running_executor->refuse_in_independent("block barrier", site);
  executor->enter();
  return executor->meet_block(kind, value, site);
}

uint64_t meet_warp(unsigned mask, WarpCombine* combine, uint64_t value, unsigned operand, Site site) {
  BlockExecutor* const executor = current_executor;
  if (executor == nullptr) running_executor->refuse_in_independent("warp collective", site);
  executor->enter();
  return executor->meet_warp(mask, combine, value, operand, site);
}

unsigned gather_lanes(Site site) {
  if (current_executor == nullptr) return 1u << lane_index();
  current_executor->enter();
  return current_executor->gather_lanes(site);
}

void let_others_run(Site site) {
  ask([&](BlockExecutor& executor) { executor.let_others_run(site); });
}

void give_way() {
  ask([](BlockExecutor& executor) { executor.give_way(); });
}

void poll(const void* address, uint64_t value, unsigned bytes, Site site) {
  ask([&](BlockExecutor& executor) { executor.poll(address, value, bytes, site); });
}

void poll(const void* address, unsigned bytes) {
  ask([&](BlockExecutor& executor) { executor.poll(address, value_at(address, bytes), bytes, Site()); });
}

void begin_copy(void* shared, const void* global, unsigned bytes, unsigned read, Site site) {
  ask([&](BlockExecutor& executor) { executor.begin_copy({shared, global, bytes, read}, site); });
}

void commit_copies() {
  ask([](BlockExecutor& executor) { executor.commit_copies(); });
}

void wait_for_copies(unsigned pending) {
  ask([&](BlockExecutor& executor) { executor.wait_for_copies(pending); });
}

void finish_copies() {
  ask([](BlockExecutor& executor) { executor.finish_copies(); });
}

void end_quiet() {
  ask([](BlockExecutor& executor) { executor.end_quiet(); });
}

void __trap() { running_executor->trap(); }

bool start_next_thread() {
  running_executor->enter();
  const bool more = running_executor->start_next_thread();
  if (more) running_executor->leave();
  return more;
}

}  // namespace treadle::TREADLE_TARGET

#include "treadle/simt/grid_run.h"

#include <algorithm>
#include <map>
#include <system_error>

#include "treadle/simt/hooks.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// So many blocks are set aside at once, each of which is an OS thread; as many may be in a cooperative grid.
constexpr unsigned kMaxCarriers = 2048;
/// Handing on to another OS thread takes as long as so many polls.
constexpr uint64_t kPollsOfHandingOn = 4096;
/// So often each worker must have found everything quiet before a grid is given up.
constexpr unsigned kQuietRounds = 16;

BlockExecutor& this_threads_executor() {
  static thread_local BlockExecutor executor;
  return executor;
}

}  // namespace

// ---- who failed first, who takes what

void FirstFailure::note(uint64_t position, std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!happened_ || position < position_) {
    position_ = position;
    failure_ = std::move(failure);
  }
  happened_ = true;
}

void FirstFailure::rethrow() {
  if (happened_) std::rethrow_exception(failure_);
}

BlockQueue::BlockQueue(uint64_t blocks, uint64_t workers)
    : blocks_(blocks), batch_(std::clamp<uint64_t>(blocks / (8 * workers), 1, kMaxBatch)) {}

bool BlockQueue::take(Batch& batch, uint64_t& position) {
  if (batch.begin == batch.end) {
    batch.begin = std::min(next_.fetch_add(batch_), blocks_);
    batch.end = std::min(batch.begin + batch_, blocks_);
    if (batch.begin == batch.end) return false;
  }
  position = batch.begin++;
  return true;
}

// ---- workers and their carriers

GridRun::GridRun(const KernelLaunch& launch, Schedule schedule, unsigned team)
    : launch_(launch),
      schedule_(schedule),
      blocks_(count_blocks(launch.grid)),
      order_(schedule, blocks_),
      queue_(blocks_, team),
      random_(schedule.seed) {}

void GridRun::work() {
  Worker* worker;
  Carrier* self;
  {
    const std::lock_guard lock(mutex_);
    worker = &workers_.emplace_back();
    self = &worker->carriers.emplace_back(*this, *worker);
    self->runs = true;
    ++carriers_;
  }
  run_blocks(*self, queue_.take(worker->batch, self->position));
  leave(*self);
  wait_until_alone(*worker);
}

/// The life of a further carrier, which has been given its first block.
void GridRun::carry(Carrier& carrier) {
  floating_point_.apply();
  {
    std::unique_lock lock(mutex_);
    sleep(carrier, lock);
  }
  run_blocks(carrier, true);
  leave(carrier);
}

void GridRun::run_blocks(Carrier& carrier, bool has_block) {
  if (!has_block || failure_.happened()) return;
  carrier.executor = &this_threads_executor();
  try {
    carrier.executor->begin_grid(launch_, schedule_, carrier);
  } catch (...) {
    return failure_.note(carrier.position, std::current_exception());
  }
  uint64_t block = order_[carrier.position];
  do run_block(carrier, block);
  while (next_block(carrier, block));
}

bool GridRun::next_block(Carrier& carrier, uint64_t& block) {
  ++carrier.worker_.done;
  if (carrier.worker_.quiet) note_change(carrier.worker_);
  if (failure_.happened() || !queue_.take(carrier.worker_.batch, carrier.position)) return false;
  block = order_[carrier.position];
  return true;
}

void GridRun::run_block(Carrier& carrier, uint64_t block) {
  try {
    carrier.executor->run_block(block);
  } catch (...) {
    failure_.note(carrier.position, std::current_exception());
  }
  if (launch_.kind == LaunchKind::cooperative) end_block();
}

/// The carrier has no further block: another one goes on.
void GridRun::leave(Carrier& carrier) {
  const std::lock_guard lock(mutex_);
  Worker& worker = carrier.worker_;
  if (failure_.happened()) release_from_grid();
  carrier.runs = false;
  --worker.live;
  --carriers_;
  count_change(worker);
  Carrier* next = nullptr;
  for (const Outlook outlook : {Outlook::changed, Outlook::unknown, Outlook::unchanged})
    if (next == nullptr) next = find_aside(worker, outlook);
  hand_to(worker, next);
  if (worker.live == 0) worker.alone.notify_all();
}

void GridRun::wait_until_alone(Worker& worker) {
  {
    std::unique_lock lock(mutex_);
    worker.alone.wait(lock, [&] { return worker.live == 0; });
  }
  for (std::thread& thread : worker.threads) thread.join();
}

// ---- which block goes on

/// The next carrier to run in place of one that is quiet or waits for the grid; null when there is none. It
/// is one whose block has found what it waited for; else a new block, or one of which that is not known, in
/// turn; when none of these is left, any.
GridRun::Carrier* GridRun::choose(Worker& worker) {
  if (schedule_.order == ScheduleOrder::random && !worker.aside.empty())
    worker.next_aside = random_.below(worker.aside.size());
  if (Carrier* changed = find_aside(worker, Outlook::changed)) return changed;
  Carrier* unknown = find_aside(worker, Outlook::unknown);
  worker.started_last = !worker.started_last;
  if (unknown != nullptr && !worker.started_last) return unknown;
  if (Carrier* fresh = start_carrier(worker)) return fresh;
  return unknown != nullptr ? unknown : find_aside(worker, Outlook::unchanged);
}

/// The next in turn whose outlook is at least as good.
GridRun::Carrier* GridRun::find_aside(Worker& worker, Outlook outlook) {
  const size_t count = worker.aside.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t k = (worker.next_aside + i) % count;
    Carrier* carrier = worker.aside[k];
    if (!carrier->released && carrier->executor->outlook() < outlook) continue;
    worker.next_aside = k;
    return carrier;
  }
  return nullptr;
}

bool GridRun::more_blocks(const Worker& worker) const {
  return (worker.batch.begin < worker.batch.end || !queue_.empty()) && carriers_ < kMaxCarriers &&
         !no_more_threads_ && !failure_.happened();
}

/// Gives a new block to a new carrier; null when there is none, or no thread for it.
GridRun::Carrier* GridRun::start_carrier(Worker& worker) {
  uint64_t position;
  if (!more_blocks(worker) || !queue_.take(worker.batch, position)) return nullptr;
  Carrier& carrier = worker.carriers.emplace_back(*this, worker);
  carrier.position = position;
  try {
    worker.threads.emplace_back([this, &carrier] { carry(carrier); });
  } catch (const std::system_error&) {
    worker.carriers.pop_back();
    --worker.batch.begin;
    no_more_threads_ = true;
    return nullptr;
  }
  ++worker.live;
  ++carriers_;
  count_change(worker);
  return &carrier;
}

void GridRun::hand_to(Worker& worker, Carrier* next) {
  worker.running = next != nullptr;
  if (next == nullptr) return;
  const auto place = std::find(worker.aside.begin(), worker.aside.end(), next);
  if (place != worker.aside.end()) worker.aside.erase(place);
  next->released = false;
  next->runs = true;
  next->turn.notify_one();
}

void GridRun::sleep(Carrier& carrier, std::unique_lock<std::mutex>& lock) {
  carrier.turn.wait(lock, [&] { return carrier.runs; });
}

// ---- blocks that only wait

bool GridRun::set_aside(Carrier& carrier, unsigned polls, bool asleep) {
  if (failure_.happened()) return false;
  std::unique_lock lock(mutex_);
  Worker& worker = carrier.worker_;
  count_quiet(worker, polls, asleep);
  if (stuck()) give_up(carrier, "nothing changes any more", lock);
  if (over_limit(worker)) give_up(carrier, "no block has ended for too long", lock);
  Carrier* next = choose(worker);
  if (next == nullptr) {
    const bool others = workers_.size() > 1;
    lock.unlock();
    if (others) std::this_thread::yield();
    return true;
  }
  worker.aside.push_back(&carrier);
  carrier.runs = false;
  hand_to(worker, next);
  sleep(carrier, lock);
  return !failure_.happened();
}

/// Where a thread sleeps, time passes, which may be what others wait for.
void GridRun::count_quiet(Worker& worker, unsigned polls, bool asleep) {
  worker.quiet = true;
  ++worker.quiet_rounds;
  vain_polls_ = asleep ? 0 : vain_polls_ + polls + (worker.aside.empty() ? 0 : kPollsOfHandingOn);
}

void GridRun::count_change(Worker& worker) {
  worker.quiet = false;
  for (Worker& each : workers_) each.quiet_rounds = 0;
  vain_polls_ = 0;
}

void GridRun::note_change(Worker& worker) {
  const std::lock_guard lock(mutex_);
  count_change(worker);
}

/// Whether all that can run has looked for a change long enough.
bool GridRun::stuck() const {
  if (vain_polls_ < patience()) return false;
  return std::all_of(workers_.begin(), workers_.end(), [&](const Worker& worker) {
    return !more_blocks(worker) &&
           (!worker.running || (worker.quiet && worker.quiet_rounds >= kQuietRounds * worker.live));
  });
}

void GridRun::give_up(const Carrier& carrier, const char* why, std::unique_lock<std::mutex>& lock) {
  const std::string message = fmt::format("{}: {}", why, describe_waiting(carrier));
  lock.unlock();
  const Fiber& thread = carrier.executor->running_thread();
  hooks::mistake({"deadlock", message.c_str(), thread.site, thread.thread});
  throw carrier.executor->error("deadlock: " + message);
}

/// What the threads of this block wait for, and those of the other blocks of its worker.
std::string GridRun::describe_waiting(const Carrier& carrier) const {
  std::map<std::string, std::vector<const BlockExecutor*>> others;
  for (const Carrier* aside : carrier.worker_.aside)
    others[aside->executor->waiting_threads()].push_back(aside->executor);
  const std::string own = carrier.executor->waiting_threads();
  std::string text = own;
  for (const auto& [waiting, blocks] : others) {
    const dim3 first = blocks.front()->block();
    text += fmt::format("; block ({}, {}, {})", first.x, first.y, first.z);
    if (blocks.size() > 1) text += fmt::format(" and {} more", blocks.size() - 1);
    text += waiting == own ? " likewise" : ": " + waiting;
  }
  uint64_t elsewhere = 0;
  for (const Worker& worker : workers_)
    if (&worker != &carrier.worker_) elsewhere += worker.live;
  if (elsewhere > 0) text += fmt::format("; {} block(s) of other workers wait, too", elsewhere);
  if (!queue_.empty()) text += fmt::format("; not all blocks have begun: {} wait at once", carriers_);
  return text;
}

// ---- blocks that do not end

/// In a handler of a signal: it looks at nothing but what the calling thread has written, or is atomic.
BlockHost::Verdict GridRun::spend(Worker& worker, uint64_t nanoseconds) {
  if (failure_.happened()) return BlockHost::Verdict::abandon;
  if (worker.done != worker.done_before) worker.spent = 0;
  worker.done_before = worker.done;
  worker.spent += nanoseconds;
  return over_limit(worker) ? BlockHost::Verdict::too_long : BlockHost::Verdict::go_on;
}

bool GridRun::over_limit(const Worker& worker) const {
  return limit_ > 0 && static_cast<double>(worker.spent) > limit_ * 1e9;
}

// ---- the barrier between the blocks of a cooperative grid

BlockHost::Meeting GridRun::wait_for_grid(Carrier& carrier) {
  std::unique_lock lock(mutex_);
  if (failure_.happened()) return BlockHost::Meeting::abandoned;
  Worker& worker = carrier.worker_;
  count_change(worker);
  ++waiting_for_grid_;
  const bool all = waiting_for_grid_ == blocks_;
  if (all || waiting_for_grid_ + ended_ == blocks_) {
    impossible_ = !all;
    release_from_grid();
    return all ? BlockHost::Meeting::met : BlockHost::Meeting::impossible;
  }
  worker.for_grid.push_back(&carrier);
  carrier.runs = false;
  Carrier* next = choose(worker);
  require<DeviceError>(next != nullptr || !no_more_threads_,
                       "{}: the system has no threads for {} blocks at once", kernel_name(launch_.signature),
                       blocks_);
  hand_to(worker, next);
  sleep(carrier, lock);
  if (impossible_) return BlockHost::Meeting::impossible;
  return failure_.happened() ? BlockHost::Meeting::abandoned : BlockHost::Meeting::met;
}

/// All that wait for the grid may go on, as soon as it is their turn.
void GridRun::release_from_grid() {
  waiting_for_grid_ = 0;
  for (Worker& worker : workers_) {
    for (Carrier* carrier : worker.for_grid) {
      carrier->released = true;
      worker.aside.push_back(carrier);
    }
    worker.for_grid.clear();
    if (!worker.running && !worker.aside.empty()) hand_to(worker, worker.aside.front());
  }
}

void GridRun::end_block() {
  const std::lock_guard lock(mutex_);
  ++ended_;
  if (waiting_for_grid_ == 0 || waiting_for_grid_ + ended_ < blocks_) return;
  impossible_ = true;
  release_from_grid();
}

}  // namespace treadle::TREADLE_TARGET

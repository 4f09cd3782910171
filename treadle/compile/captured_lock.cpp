#include "treadle/compile/captured_lock.h"

#include <algorithm>
#include <thread>
#include <unordered_map>

namespace treadle {

/// Which lock guards a storage, and who looks at locks. Locks live as long as an instance holds them.
struct LockTable {
  using Written = std::vector<const Storage*>;

  std::mutex mutex;
  std::unordered_map<const Storage*, std::weak_ptr<SharedLock>> locks;
  std::vector<const CapturedLock*> users;
  std::atomic<uint64_t> changes{0};

  std::shared_ptr<SharedLock> lock_of(const Storage* storage) const {
    auto found = locks.find(storage);
    return found == locks.end() ? nullptr : found->second.lock();
  }

  /// Gives all that have none one lock: that of another of them, else a new one. It is returned, to be held.
  std::shared_ptr<SharedLock> bring_locks(const Written& written) {
    std::erase_if(locks, [](const auto& entry) { return entry.second.expired(); });
    std::shared_ptr<SharedLock> lock;
    for (const Storage* storage : written)
      if (!lock) lock = lock_of(storage);
    if (!lock) lock = std::make_shared<SharedLock>();
    for (const Storage* storage : written)
      if (!lock_of(storage)) locks[storage] = lock, ++changes;
    return lock;
  }

  /// Counters of the replays that are in progress, with what they count.
  std::vector<std::pair<std::shared_ptr<std::atomic<uint64_t>>, uint64_t>> replays() const {
    std::vector<std::pair<std::shared_ptr<std::atomic<uint64_t>>, uint64_t>> list;
    for (const CapturedLock* user : users)
      if (const uint64_t count = *user->holds_; count % 2 == 1) list.emplace_back(user->holds_, count);
    return list;
  }
};

namespace {

LockTable& table() {
  static auto& instance = *new LockTable;
  return instance;
}

LockTable::Written written_storages(const Program& program) {
  LockTable::Written written;
  for (const ProgramStep& step : program.steps)
    for (int value : mutated_values(step))
      if (const auto& storage = program.buffer_of(value).storage) written.push_back(storage.get());
  return written;
}

}  // namespace

void SharedLock::lock_shared() {
  std::lock_guard entrance(entrance_);
  mutex_.lock_shared();
}

void SharedLock::lock() {
  std::lock_guard entrance(entrance_);
  mutex_.lock();
}

CapturedLock::CapturedLock(const Program& program) {
  for (const ProgramBuffer& buffer : program.buffers)
    if (buffer.storage && buffer.first >= 0) captured_.push_back(buffer.storage);
  const auto written = written_storages(program);
  std::unique_lock guard(table().mutex);
  const uint64_t before = table().changes;
  if (!written.empty()) locks_ = {table().bring_locks(written)};
  table().users.push_back(this);
  if (table().changes == before) return;
  const auto replays = table().replays();
  guard.unlock();  // they may want it to look for their locks
  for (auto& [counter, count] : replays)
    while (*counter == count) std::this_thread::yield();
}

CapturedLock::~CapturedLock() {
  std::lock_guard guard(table().mutex);
  std::erase(table().users, this);
}

void CapturedLock::refresh() {
  LockTable& known = table();
  if (seen_ == known.changes) return;
  std::lock_guard guard(known.mutex);
  seen_ = known.changes;
  for (const auto& storage : captured_)
    if (auto lock = known.lock_of(storage.get())) locks_.push_back(std::move(lock));
  std::sort(locks_.begin(), locks_.end());
  locks_.erase(std::unique(locks_.begin(), locks_.end()), locks_.end());
}

/// Counted before it looks for locks: who brings one sees the count, or is seen.
CapturedLock::Hold::Hold(CapturedLock& lock) : lock_(lock) {
  ++*lock_.holds_;
  lock_.refresh();
  for (const auto& one : lock_.locks_) one->lock_shared();
}

CapturedLock::Hold::~Hold() {
  for (const auto& one : lock_.locks_) writes_ ? one->unlock() : one->unlock_shared();
  ++*lock_.holds_;
}

void CapturedLock::Hold::write() {
  for (const auto& one : lock_.locks_) one->unlock_shared();
  for (const auto& one : lock_.locks_) one->lock();
  writes_ = true;
}

}  // namespace treadle

#include "treadle/engines/onednn/plugin/thread_state.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace treadle::onednn {

namespace {

constexpr size_t kArenaAlignment = 4096;

const dnnl::engine& shared_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

}  // namespace

void PlanKey::append(const TreadleOnednnTensor* tensor) {
  append(tensor ? tensor->rank : -1);
  if (!tensor) return;
  append(tensor->dtype);
  for (int i = 0; i < tensor->rank; ++i) {
    append(tensor->shape[i]);
    append(tensor->strides[i]);
  }
}

bool PlanKey::operator==(const PlanKey& other) const {
  return count_ == other.count_ && std::equal(words_.begin(), words_.begin() + count_, other.words_.begin());
}

size_t PlanKey::hash() const {
  uint64_t hash = count_;
  for (size_t i = 0; i < count_; ++i) {
    hash = (hash ^ static_cast<uint64_t>(words_[i])) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

ThreadState::ThreadState() : engine_(shared_engine()), stream_(engine_) {}

ThreadState& ThreadState::current() {
  thread_local ThreadState state;
  return state;
}

Plan* ThreadState::find(const PlanKey& key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &found->second->plan;
}

Plan& ThreadState::insert(const PlanKey& key, Plan plan) {
  if (entries_.size() == kMaximumPlans) {
    index_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front({key, std::move(plan)});
  index_[key] = entries_.begin();
  return entries_.front().plan;
}

void ThreadState::reserve(size_t bytes) {
  if (bytes <= arena_bytes_) return;
  const size_t rounded = (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  arena_bytes_ = 0;
  arena_.reset(static_cast<std::byte*>(std::aligned_alloc(kArenaAlignment, rounded)));
  if (!arena_) throw std::bad_alloc();
  arena_bytes_ = rounded;
}

void ThreadState::execute(Plan& plan, std::span<void* const> data) {
  reserve(plan.arena_bytes());
  plan.execute(data, arena_.get(), stream_);
  last_implementation_ = plan.implementation();
}

}  // namespace treadle::onednn

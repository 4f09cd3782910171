// What each calling thread keeps: its prepared plans (least recently used go first), its arena and its
// stream.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <unordered_map>

#include "treadle/engines/onednn/plugin/api.h"
#include "treadle/engines/onednn/plugin/plan.h"

namespace treadle::onednn {

/// The signature of a call: function, options, shapes and strides, but no data.
class PlanKey {
 public:
  void append(int64_t word) { words_.at(count_++) = word; }
  void append(const TreadleOnednnTensor* tensor);

  bool operator==(const PlanKey& other) const;
  size_t hash() const;

 private:
  std::array<int64_t, 80> words_;
  size_t count_ = 0;
};

struct PlanKeyHash {
  size_t operator()(const PlanKey& key) const { return key.hash(); }
};

class ThreadState {
 public:
  /// The calling thread's own.
  static ThreadState& current();

  const dnnl::engine& engine() const { return engine_; }
  /// The plan of `key`, or else the one that `build(Plan&)` makes; valid until the next call.
  template <class Build>
  Plan& plan(const PlanKey& key, Build build) {
    if (Plan* known = find(key)) return *known;
    Plan fresh(engine_);
    build(fresh);
    fresh.finish();
    return insert(key, std::move(fresh));
  }
  void execute(Plan& plan, std::span<void* const> data);
  const std::string& last_implementation() const { return last_implementation_; }

 private:
  struct Entry {
    PlanKey key;
    Plan plan;
  };
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  static constexpr size_t kMaximumPlans = 256;

  ThreadState();
  Plan* find(const PlanKey& key);
  Plan& insert(const PlanKey& key, Plan plan);
  void reserve(size_t bytes);

  dnnl::engine engine_;
  dnnl::stream stream_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<PlanKey, std::list<Entry>::iterator, PlanKeyHash> index_;
  std::unique_ptr<std::byte[], Free> arena_;
  size_t arena_bytes_ = 0;
  std::string last_implementation_;
};

}  // namespace treadle::onednn

/// Objects behind the host interface's handles: an address that is no living object is noticed.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "treadle/simt/target.h"

namespace treadle::TREADLE_TARGET::toolkit {

template <class Handle, class T>
class Handles {
 public:
  Handle add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    T* address = object.get();
    live_.emplace(address, std::move(object));
    return reinterpret_cast<Handle>(address);
  }

  /// Null where there is none.
  std::shared_ptr<T> find(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto entry = live_.find(handle);
    return entry == live_.end() ? nullptr : entry->second;
  }

  bool remove(Handle handle) {
    const std::lock_guard lock(mutex_);
    return live_.erase(handle) == 1;
  }

  template <class F>
  void for_each(F f) {
    const std::lock_guard lock(mutex_);
    for (auto& [address, object] : live_) f(*object);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> live_;
};

}  // namespace treadle::TREADLE_TARGET::toolkit

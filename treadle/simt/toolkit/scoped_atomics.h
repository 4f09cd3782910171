/// cuda::atomic and cuda::atomic_ref: atomics with a scope.
#pragma once

#include <atomic>

#include "treadle/simt/toolkit/nv_atomics.h"

namespace treadle::TREADLE_TARGET::scoped {

enum thread_scope {
  thread_scope_system = 0,
  thread_scope_device = 1,
  thread_scope_block = 2,
  thread_scope_thread = 10
};

constexpr int scope_number(thread_scope scope) {
  return scope == thread_scope_system   ? __NV_THREAD_SCOPE_SYSTEM
         : scope == thread_scope_device ? __NV_THREAD_SCOPE_DEVICE
         : scope == thread_scope_block  ? __NV_THREAD_SCOPE_BLOCK
                                        : __NV_THREAD_SCOPE_THREAD;
}

using std::memory_order;

/// The operations on the number that `Self::address()` gives.
template <class Self, class T, thread_scope scope>
class AtomicOperations {
 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = sizeof(T) <= 8;

  T load(memory_order order = memory_order::seq_cst, Site site = Site::current()) const {
    return toolkit::load_ordered(address(), number(order), kScope, site);
  }
  void store(T value, memory_order order = memory_order::seq_cst, Site site = Site::current()) const {
    toolkit::store_ordered(address(), value, number(order), kScope, site);
  }
  T exchange(T value, memory_order order = memory_order::seq_cst, Site site = Site::current()) const {
    return toolkit::exchange_ordered(address(), value, number(order), kScope, site);
  }
  bool compare_exchange_strong(T& expected, T desired, memory_order order = memory_order::seq_cst,
                               Site site = Site::current()) const {
    return toolkit::compare_exchange_ordered(address(), &expected, desired, number(order), kScope, site);
  }
  bool compare_exchange_strong(T& expected, T desired, memory_order order, memory_order,
                               Site site = Site::current()) const {
    return compare_exchange_strong(expected, desired, order, site);
  }
  bool compare_exchange_weak(T& expected, T desired, memory_order order = memory_order::seq_cst,
                             Site site = Site::current()) const {
    return compare_exchange_strong(expected, desired, order, site);
  }
  bool compare_exchange_weak(T& expected, T desired, memory_order order, memory_order,
                             Site site = Site::current()) const {
    return compare_exchange_strong(expected, desired, order, site);
  }
  /// Waits until the value is another.
  void wait(T old, memory_order order = memory_order::seq_cst, Site site = Site::current()) const {
    while (load(order, site) == old) {
    }
  }
  void notify_one() const {}
  void notify_all() const {}

#define TREADLE_FETCH(name)                                                                                \
  T fetch_##name(T value, memory_order order = memory_order::seq_cst, Site site = Site::current()) const { \
    return __nv_atomic_fetch_##name(address(), value, number(order), kScope, site);                        \
  }
  TREADLE_FETCH(add)
  TREADLE_FETCH(sub)
  TREADLE_FETCH(and)
  TREADLE_FETCH(or)
  TREADLE_FETCH(xor)
  TREADLE_FETCH(min)
  TREADLE_FETCH(max)
#undef TREADLE_FETCH

  operator T() const { return load(); }
  T operator=(T value) const { return store(value), value; }
  T operator++() const { return fetch_add(T(1)) + T(1); }
  T operator++(int) const { return fetch_add(T(1)); }
  T operator--() const { return fetch_sub(T(1)) - T(1); }
  T operator--(int) const { return fetch_sub(T(1)); }
  T operator+=(T value) const { return fetch_add(value) + value; }
  T operator-=(T value) const { return fetch_sub(value) - value; }

 private:
  static constexpr int kScope = scope_number(scope);
  static int number(memory_order order) { return static_cast<int>(order); }
  T* address() const { return static_cast<const Self*>(this)->address_of_value(); }
};

template <class T, thread_scope scope = thread_scope_system>
class atomic : public AtomicOperations<atomic<T, scope>, T, scope> {
 public:
  atomic() = default;
  constexpr atomic(T value) : value_(value) {}
  using AtomicOperations<atomic<T, scope>, T, scope>::operator=;

 private:
  friend class AtomicOperations<atomic<T, scope>, T, scope>;
  T* address_of_value() const { return &value_; }
  mutable T value_;
};

template <class T, thread_scope scope = thread_scope_system>
class atomic_ref : public AtomicOperations<atomic_ref<T, scope>, T, scope> {
 public:
  explicit atomic_ref(T& value) : value_(&value) {}
  using AtomicOperations<atomic_ref<T, scope>, T, scope>::operator=;

 private:
  friend class AtomicOperations<atomic_ref<T, scope>, T, scope>;
  T* address_of_value() const { return value_; }
  T* value_;
};

inline void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system,
                                Site site = Site::current()) {
  __nv_atomic_thread_fence(static_cast<int>(order), scope_number(scope), site);
}

}  // namespace treadle::TREADLE_TARGET::scoped

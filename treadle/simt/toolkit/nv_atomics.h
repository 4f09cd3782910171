/// CUDA's atomic built-in functions with an order and a scope: __nv_atomic_load and its kin.
#pragma once

#include "treadle/simt/atomics.h"

enum {
  __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME = __ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE = __ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL = __ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST = __ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD = 0,
  __NV_THREAD_SCOPE_BLOCK = 1,
  __NV_THREAD_SCOPE_CLUSTER = 2,
  __NV_THREAD_SCOPE_DEVICE = 3,
  __NV_THREAD_SCOPE_SYSTEM = 4
};

namespace treadle::TREADLE_TARGET {
namespace toolkit {

inline hooks::Scope scope_of(int scope) {
  return scope <= __NV_THREAD_SCOPE_BLOCK    ? hooks::Scope::block
         : scope <= __NV_THREAD_SCOPE_DEVICE ? hooks::Scope::device
                                             : hooks::Scope::system;
}

inline bool acquires(int order) { return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE; }
inline bool releases(int order) { return order >= __ATOMIC_RELEASE; }

/// An atomic access of atomics.h, with the fences that its order stands for: access(scope).
template <class F>
auto with_fences(int order, int scope, Site site, F access) {
  if (releases(order)) order_memory(scope_of(scope), site);
  const auto result = access(scope_of(scope));
  if (acquires(order)) order_memory(scope_of(scope), site);
  return result;
}

template <class T>
T load_ordered(const T* address, int order, int scope, Site site) {
  return with_fences(order, scope, site, [&](hooks::Scope seen_by) {
    T value;
    {
      const hooks::AtomicAccess access(address, sizeof(T), seen_by, site);
      __atomic_load(const_cast<T*>(address), &value, __ATOMIC_RELAXED);
    }
    return settle_atomic(address, value, false, site);
  });
}

template <class T>
void store_ordered(T* address, T value, int order, int scope, Site site) {
  with_fences(order, scope, site, [&](hooks::Scope seen_by) {
    {
      const hooks::AtomicAccess access(address, sizeof(T), seen_by, site);
      __atomic_store(address, &value, __ATOMIC_RELAXED);
    }
    return settle_atomic(address, value, true, site);
  });
}

template <class T>
T exchange_ordered(T* address, T value, int order, int scope, Site site) {
  return with_fences(order, scope, site, [&](hooks::Scope seen_by) {
    return exchange_atomically(seen_by, address, value, site);
  });
}

template <class T>
bool compare_exchange_ordered(T* address, T* expected, T desired, int order, int scope, Site site) {
  const T found = with_fences(order, scope, site, [&](hooks::Scope seen_by) {
    return compare_and_swap(seen_by, address, *expected, desired, site);
  });
  const bool exchanged = same_bits(found, *expected);
  *expected = found;
  return exchanged;
}

/// Replaces *address by change(*address) and returns the old value.
template <class T, class Change>
T change_ordered(T* address, int order, int scope, Site site, Change change) {
  return with_fences(order, scope, site,
                     [&](hooks::Scope seen_by) { return change_atomically(seen_by, address, change, site); });
}

}  // namespace toolkit

inline namespace cuda_names {

// clang-format off
template <class T> T __nv_atomic_load_n(T* address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM, Site site = Site::current()) {
  return toolkit::load_ordered(address, order, scope, site);
}
template <class T> void __nv_atomic_load(T* address, T* result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM, Site site = Site::current()) {
  *result = toolkit::load_ordered(address, order, scope, site);
}
template <class T> void __nv_atomic_store_n(T* address, std::type_identity_t<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM, Site site = Site::current()) {
  toolkit::store_ordered(address, value, order, scope, site);
}
template <class T> void __nv_atomic_store(T* address, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM, Site site = Site::current()) {
  toolkit::store_ordered(address, *value, order, scope, site);
}
template <class T> T __nv_atomic_exchange_n(T* address, std::type_identity_t<T> value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM, Site site = Site::current()) {
  return toolkit::exchange_ordered(address, value, order, scope, site);
}
template <class T> void __nv_atomic_exchange(T* address, T* value, T* result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM, Site site = Site::current()) {
  *result = toolkit::exchange_ordered(address, *value, order, scope, site);
}
template <class T> bool __nv_atomic_compare_exchange_n(T* address, T* expected, std::type_identity_t<T> desired, bool, int success, int, int scope = __NV_THREAD_SCOPE_SYSTEM, Site site = Site::current()) {
  return toolkit::compare_exchange_ordered(address, expected, desired, success, scope, site);
}
template <class T> bool __nv_atomic_compare_exchange(T* address, T* expected, T* desired, bool, int success, int, int scope = __NV_THREAD_SCOPE_SYSTEM, Site site = Site::current()) {
  return toolkit::compare_exchange_ordered(address, expected, *desired, success, scope, site);
}
#define TREADLE_NV_FETCH(name, formula)                                                                               \
  template <class T> T __nv_atomic_fetch_##name(T* address, std::type_identity_t<T> value, int order,                 \
                                                int scope = __NV_THREAD_SCOPE_SYSTEM, Site site = Site::current()) {   \
    return toolkit::change_ordered(address, order, scope, site, [value](T old) { return static_cast<T>(formula); });  \
  }
TREADLE_NV_FETCH(add, old + value)
TREADLE_NV_FETCH(sub, old - value)
TREADLE_NV_FETCH(and, old & value)
TREADLE_NV_FETCH(or, old | value)
TREADLE_NV_FETCH(xor, old ^ value)
TREADLE_NV_FETCH(min, value < old ? value : old)
TREADLE_NV_FETCH(max, old < value ? value : old)
#undef TREADLE_NV_FETCH
inline void __nv_atomic_thread_fence(int order, int scope, Site site = Site::current()) {
  if (order != __ATOMIC_RELAXED) order_memory(toolkit::scope_of(scope), site);
}
// clang-format on

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET

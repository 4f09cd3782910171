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

/// One atomic access, with the fences that its order stands for.
template <class F>
auto ordered_access(const void* address, size_t bytes, int order, int scope, Site site, F access) {
  if (releases(order)) order_memory(scope_of(scope), site);
  const auto result = [&] {
    const hooks::AtomicAccess told(address, bytes, scope_of(scope), site);
    return access();
  }();
  if (acquires(order)) order_memory(scope_of(scope), site);
  return result;
}

/// Others run where the same is found again and again.
template <class T>
void tell_poll(const T* address, T found, Site site) {
  if constexpr (sizeof(T) <= 8) poll(address, to_bits(found), sizeof(T), site);
}

/// An exchange for the same value changes nothing.
template <class T>
void tell_change(const T* address, T found, T now, Site site) {
  if (std::memcmp(&found, &now, sizeof(T)) == 0)
    tell_poll(address, found, site);
  else
    note_change();
}

template <class T>
T load_ordered(const T* address, int order, int scope, Site site) {
  const T found = ordered_access(address, sizeof(T), order, scope, site, [&] {
    T value;
    __atomic_load(const_cast<T*>(address), &value, __ATOMIC_SEQ_CST);
    return value;
  });
  tell_poll(address, found, site);
  return found;
}

template <class T>
void store_ordered(T* address, T value, int order, int scope, Site site) {
  ordered_access(address, sizeof(T), order, scope, site, [&] {
    __atomic_store(address, &value, __ATOMIC_SEQ_CST);
    return 0;
  });
  note_change();
}

template <class T>
T exchange_ordered(T* address, T value, int order, int scope, Site site) {
  const T found = ordered_access(address, sizeof(T), order, scope, site, [&] {
    T old;
    __atomic_exchange(address, &value, &old, __ATOMIC_SEQ_CST);
    return old;
  });
  tell_change(address, found, value, site);
  return found;
}

template <class T>
bool compare_exchange_ordered(T* address, T* expected, T desired, int order, int scope, Site site) {
  const bool exchanged = ordered_access(address, sizeof(T), order, scope, site, [&] {
    return __atomic_compare_exchange(address, expected, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  });
  if (exchanged)
    note_change();
  else
    tell_poll(address, *expected, site);
  return exchanged;
}

/// Replaces *address by change(*address) and returns the old value.
template <class T, class Change>
T change_ordered(T* address, int order, int scope, Site site, Change change) {
  T desired;
  const T found = ordered_access(address, sizeof(T), order, scope, site, [&] {
    T old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    do desired = change(old);
    while (!__atomic_compare_exchange(address, &old, &desired, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
  });
  tell_change(address, found, desired, site);
  return found;
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

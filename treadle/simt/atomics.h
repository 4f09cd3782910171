/// Atomics and fences. Atomics are relaxed and order nothing else, as in CUDA; a fence orders memory between
/// blocks.
#pragma once

#include <concepts>
#include <type_traits>

#include "treadle/simt/hooks.h"

namespace treadle::TREADLE_TARGET {

template <class T, class... Types>
concept OneOf = (std::same_as<T, Types> || ...);

/// Types that a header beyond this one makes addable: the half types.
template <class T>
inline constexpr bool kAddsAtomically = OneOf<T, int, unsigned, unsigned long long, float, double>;

template <class T>
concept AtomicallyAddable = kAddsAtomically<T>;
template <class T>
concept AtomicInteger32 = OneOf<T, int, unsigned>;
template <class T>
concept AtomicInteger = OneOf<T, int, unsigned, unsigned long long>;
template <class T>
concept AtomicallyOrdered = OneOf<T, int, unsigned, long long, unsigned long long>;

/// Replaces *address by change(*address) and returns the old value.
template <class T, class Change>
T change_atomically(T* address, Change change, Site site) {
  const hooks::AtomicAccess access(address, sizeof(T), hooks::Scope::device, site);
  T old, desired;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do desired = change(old);
  while (!__atomic_compare_exchange(address, &old, &desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

template <AtomicallyAddable T>
T atomicAdd(T* address, std::type_identity_t<T> value, Site site = Site::current()) {
  if constexpr (std::is_integral_v<T>) {
    const hooks::AtomicAccess access(address, sizeof(T), hooks::Scope::device, site);
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
  } else {
    return change_atomically(
        address, [value](T old) { return T(old + value); }, site);
  }
}

template <AtomicInteger32 T>
T atomicSub(T* address, std::type_identity_t<T> value, Site site = Site::current()) {
  const hooks::AtomicAccess access(address, sizeof(T), hooks::Scope::device, site);
  return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}

template <AtomicallyOrdered T>
T atomicMin(T* address, std::type_identity_t<T> value, Site site = Site::current()) {
  return change_atomically(
      address, [value](T old) { return value < old ? value : old; }, site);
}

template <AtomicallyOrdered T>
T atomicMax(T* address, std::type_identity_t<T> value, Site site = Site::current()) {
  return change_atomically(
      address, [value](T old) { return old < value ? value : old; }, site);
}

template <AtomicInteger T>
T atomicAnd(T* address, std::type_identity_t<T> value, Site site = Site::current()) {
  const hooks::AtomicAccess access(address, sizeof(T), hooks::Scope::device, site);
  return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
}

template <AtomicInteger T>
T atomicOr(T* address, std::type_identity_t<T> value, Site site = Site::current()) {
  const hooks::AtomicAccess access(address, sizeof(T), hooks::Scope::device, site);
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}

template <AtomicInteger T>
T atomicXor(T* address, std::type_identity_t<T> value, Site site = Site::current()) {
  const hooks::AtomicAccess access(address, sizeof(T), hooks::Scope::device, site);
  return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}

/// Counts up to `limit`, then starts at 0 again.
inline unsigned atomicInc(unsigned* address, unsigned limit, Site site = Site::current()) {
  return change_atomically(
      address, [limit](unsigned old) { return old >= limit ? 0u : old + 1; }, site);
}

/// Counts down to 0, then starts at `limit` again.
inline unsigned atomicDec(unsigned* address, unsigned limit, Site site = Site::current()) {
  return change_atomically(
      address, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; }, site);
}

template <class T>
requires OneOf<T, int, unsigned, unsigned long long, float> T atomicExch(T* address,
                                                                         std::type_identity_t<T> value,
                                                                         Site site = Site::current()) {
  const hooks::AtomicAccess access(address, sizeof(T), hooks::Scope::device, site);
  T old;
  __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
  return old;
}

/// A failed exchange lets other threads run, so that a thread may spin on it.
template <class T>
requires OneOf<T, unsigned short, int, unsigned, unsigned long long> T
atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired,
          Site site = Site::current()) {
  const hooks::AtomicAccess access(address, sizeof(T), hooks::Scope::device, site);
  const bool exchanged =
      __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  if (!exchanged) let_others_run();
  return expected;
}

#if defined(__SANITIZE_THREAD__)
/// ThreadSanitizer knows no fences. Changes of one variable are in an order too, and order what is around
/// them.
inline int fences = 0;
#endif

inline void order_memory(hooks::Scope scope, Site site) {
  hooks::fence(scope, site);
#if defined(__SANITIZE_THREAD__)
  __atomic_fetch_add(&fences, 1, __ATOMIC_SEQ_CST);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
inline void __threadfence_block(Site site = Site::current()) { order_memory(hooks::Scope::block, site); }
inline void __threadfence(Site site = Site::current()) { order_memory(hooks::Scope::device, site); }
inline void __threadfence_system(Site site = Site::current()) { order_memory(hooks::Scope::system, site); }

}  // namespace treadle::TREADLE_TARGET

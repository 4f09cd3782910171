/// Atomics and fences. Atomics are relaxed and order nothing else, as in CUDA; a fence orders memory between
/// blocks. An atomic that changes nothing may be a thread that waits: see poll().
#pragma once

#include <concepts>
#include <cstring>
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
/// Any type of 16 bytes: exchanged and compared by its bits.
template <class T>
concept Atomic128 = sizeof(T) == 16 && alignof(T) == 16 && std::is_trivially_copyable_v<T>;

/// Replaces the 16 bytes at `address` by `desired` if they are those at `expected`, else copies them there.
bool compare_exchange_128(void* address, void* expected, const void* desired);

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// After an atomic access that found `old`.
template <class T>
T settle_atomic(const T* address, T old, bool changed, Site site) {
  uint64_t bits = 0;
  std::memcpy(&bits, &old, sizeof(T) < 8 ? sizeof(T) : 8);
  if (changed)
    note_change();
  else
    poll(address, bits, sizeof(T), site);
  return old;
}

/// Replaces *address by change(*address) and returns the old value.
template <class T, class Change>
T change_atomically(hooks::Scope scope, T* address, Change change, Site site) {
  T old, desired;
  {
    const hooks::AtomicAccess access(address, sizeof(T), scope, site);
    if constexpr (sizeof(T) == 16) {
      std::memcpy(&old, address, sizeof old);
      do desired = change(old);
      while (!compare_exchange_128(address, &old, &desired));
    } else {
      __atomic_load(address, &old, __ATOMIC_RELAXED);
      do desired = change(old);
      while (!__atomic_compare_exchange(address, &old, &desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    }
  }
  return settle_atomic(address, old, !same_bits(old, desired), site);
}

/// For what the processor does in one instruction.
template <class T, class Fetch, class Change>
T fetch_and_change(hooks::Scope scope, T* address, Fetch fetch, Change change, Site site) {
  T old;
  {
    const hooks::AtomicAccess access(address, sizeof(T), scope, site);
    old = fetch(address);
  }
  return settle_atomic(address, old, change(old) != old, site);
}

template <class T>
T add_atomically(hooks::Scope scope, T* address, T value, Site site) {
  if constexpr (std::is_integral_v<T>)
    return fetch_and_change(
        scope, address, [value](T* p) { return __atomic_fetch_add(p, value, __ATOMIC_RELAXED); },
        [value](T old) { return value == 0 ? old : ~old; }, site);
  else
    return change_atomically(
        scope, address, [value](T old) { return T(old + value); }, site);
}

template <class T>
T exchange_atomically(hooks::Scope scope, T* address, T value, Site site) {
  if constexpr (sizeof(T) == 16) {
    return change_atomically(
        scope, address, [value](T) { return value; }, site);
  } else {
    T old;
    {
      const hooks::AtomicAccess access(address, sizeof(T), scope, site);
      __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
    }
    return settle_atomic(address, old, !same_bits(old, value), site);
  }
}

template <class T>
T compare_and_swap(hooks::Scope scope, T* address, T expected, T desired, Site site) {
  T old = expected;
  bool exchanged;
  {
    const hooks::AtomicAccess access(address, sizeof(T), scope, site);
    if constexpr (sizeof(T) == 16)
      exchanged = compare_exchange_128(address, &old, &desired);
    else
      exchanged =
          __atomic_compare_exchange(address, &old, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
  return settle_atomic(address, old, exchanged && !same_bits(old, desired), site);
}

// Each function is there for three scopes: who sees the access as one, the block, the device, or the host
// too.
#define TREADLE_ATOMICS_OF_SCOPE(suffix, scope)                                                             \
  template <AtomicallyAddable T>                                                                            \
  T atomicAdd##suffix(T* address, std::type_identity_t<T> value, Site site = Site::current()) {             \
    return add_atomically<T>(hooks::Scope::scope, address, value, site);                                    \
  }                                                                                                         \
  template <AtomicInteger32 T>                                                                              \
  T atomicSub##suffix(T* address, std::type_identity_t<T> value, Site site = Site::current()) {             \
    return add_atomically<T>(hooks::Scope::scope, address,                                                  \
                             static_cast<T>(0u - static_cast<unsigned>(value)), site);                      \
  }                                                                                                         \
  template <AtomicallyOrdered T>                                                                            \
  T atomicMin##suffix(T* address, std::type_identity_t<T> value, Site site = Site::current()) {             \
    return change_atomically(                                                                               \
        hooks::Scope::scope, address, [value](T old) { return value < old ? value : old; }, site);          \
  }                                                                                                         \
  template <AtomicallyOrdered T>                                                                            \
  T atomicMax##suffix(T* address, std::type_identity_t<T> value, Site site = Site::current()) {             \
    return change_atomically(                                                                               \
        hooks::Scope::scope, address, [value](T old) { return old < value ? value : old; }, site);          \
  }                                                                                                         \
  template <AtomicInteger T>                                                                                \
  T atomicAnd##suffix(T* address, std::type_identity_t<T> value, Site site = Site::current()) {             \
    return fetch_and_change(                                                                                \
        hooks::Scope::scope, address,                                                                       \
        [value](T* p) { return __atomic_fetch_and(p, value, __ATOMIC_RELAXED); },                           \
        [value](T old) { return old & value; }, site);                                                      \
  }                                                                                                         \
  template <AtomicInteger T>                                                                                \
  T atomicOr##suffix(T* address, std::type_identity_t<T> value, Site site = Site::current()) {              \
    return fetch_and_change(                                                                                \
        hooks::Scope::scope, address,                                                                       \
        [value](T* p) { return __atomic_fetch_or(p, value, __ATOMIC_RELAXED); },                            \
        [value](T old) { return old | value; }, site);                                                      \
  }                                                                                                         \
  template <AtomicInteger T>                                                                                \
  T atomicXor##suffix(T* address, std::type_identity_t<T> value, Site site = Site::current()) {             \
    return fetch_and_change(                                                                                \
        hooks::Scope::scope, address,                                                                       \
        [value](T* p) { return __atomic_fetch_xor(p, value, __ATOMIC_RELAXED); },                           \
        [value](T old) { return old ^ value; }, site);                                                      \
  }                                                                                                         \
  /** Counts up to `limit`, then starts at 0 again. */                                                      \
  inline unsigned atomicInc##suffix(unsigned* address, unsigned limit, Site site = Site::current()) {       \
    return change_atomically(                                                                               \
        hooks::Scope::scope, address, [limit](unsigned old) { return old >= limit ? 0u : old + 1; }, site); \
  }                                                                                                         \
  /** Counts down to 0, then starts at `limit` again. */                                                    \
  inline unsigned atomicDec##suffix(unsigned* address, unsigned limit, Site site = Site::current()) {       \
    return change_atomically(                                                                               \
        hooks::Scope::scope, address,                                                                       \
        [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; }, site);                 \
  }                                                                                                         \
  template <class T>                                                                                        \
  requires(OneOf<T, int, unsigned, unsigned long long, float> || Atomic128<T>)                              \
      T atomicExch##suffix(T* address, std::type_identity_t<T> value, Site site = Site::current()) {        \
    return exchange_atomically<T>(hooks::Scope::scope, address, value, site);                               \
  }                                                                                                         \
  template <class T>                                                                                        \
  requires(OneOf<T, unsigned short, int, unsigned, unsigned long long> || Atomic128<T>)                     \
      T atomicCAS##suffix(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired,    \
                          Site site = Site::current()) {                                                    \
    return compare_and_swap<T>(hooks::Scope::scope, address, expected, desired, site);                      \
  }

TREADLE_ATOMICS_OF_SCOPE(, device)
TREADLE_ATOMICS_OF_SCOPE(_block, block)
TREADLE_ATOMICS_OF_SCOPE(_system, system)
#undef TREADLE_ATOMICS_OF_SCOPE

#if defined(__SANITIZE_THREAD__) && !defined(TREADLE_SIMT_CHECK)
/// ThreadSanitizer knows no fences. Changes of one variable are in an order too, and order what is around
/// them.
inline int fences = 0;
#endif

inline void order_memory(hooks::Scope scope, Site site) {
  hooks::fence(scope, site);
#if defined(__SANITIZE_THREAD__) && !defined(TREADLE_SIMT_CHECK)
  __atomic_fetch_add(&fences, 1, __ATOMIC_SEQ_CST);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
inline void __threadfence_block(Site site = Site::current()) { order_memory(hooks::Scope::block, site); }
inline void __threadfence(Site site = Site::current()) { order_memory(hooks::Scope::device, site); }
inline void __threadfence_system(Site site = Site::current()) { order_memory(hooks::Scope::system, site); }

}  // namespace treadle::TREADLE_TARGET

/// What the compiler calls for atomic operations of the language under -fsanitize=thread. Included once by
/// who defines, before it,
///
///     void atomic_of_language(const volatile void* address, unsigned bytes, int order, bool reads,
///                             bool writes, bool adds, void* caller);
///
/// which is told of each, and TREADLE_CALLER.
#pragma once

// NOLINTBEGIN: the compiler chose these names.
extern "C" {
#define TREADLE_EXCHANGE(bits, Type, name, builtin)                                  \
  Type __tsan_atomic##bits##_##name(volatile Type* address, Type value, int order) { \
    atomic_of_language(address, bits / 8, order, true, true, true, TREADLE_CALLER);  \
    return builtin(address, value, __ATOMIC_SEQ_CST);                                \
  }
#define TREADLE_ATOMICS(bits, Type)                                                                        \
  Type __tsan_atomic##bits##_load(const volatile Type* address, int order) {                               \
    atomic_of_language(address, bits / 8, order, true, false, false, TREADLE_CALLER);                      \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                     \
  }                                                                                                        \
  void __tsan_atomic##bits##_store(volatile Type* address, Type value, int order) {                        \
    atomic_of_language(address, bits / 8, order, false, true, false, TREADLE_CALLER);                      \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                        \
  TREADLE_EXCHANGE(bits, Type, exchange, __atomic_exchange_n)                                              \
  TREADLE_EXCHANGE(bits, Type, fetch_add, __atomic_fetch_add)                                              \
  TREADLE_EXCHANGE(bits, Type, fetch_sub, __atomic_fetch_sub)                                              \
  TREADLE_EXCHANGE(bits, Type, fetch_and, __atomic_fetch_and)                                              \
  TREADLE_EXCHANGE(bits, Type, fetch_or, __atomic_fetch_or)                                                \
  TREADLE_EXCHANGE(bits, Type, fetch_xor, __atomic_fetch_xor)                                              \
  TREADLE_EXCHANGE(bits, Type, fetch_nand, __atomic_fetch_nand)                                            \
  bool __tsan_atomic##bits##_compare_exchange_strong(volatile Type* address, Type* expected, Type desired, \
                                                     int order, int) {                                     \
    atomic_of_language(address, bits / 8, order, true, true, true, TREADLE_CALLER);                        \
    return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST,                \
                                       __ATOMIC_SEQ_CST);                                                  \
  }                                                                                                        \
  bool __tsan_atomic##bits##_compare_exchange_weak(volatile Type* address, Type* expected, Type desired,   \
                                                   int order, int) {                                       \
    atomic_of_language(address, bits / 8, order, true, true, true, TREADLE_CALLER);                        \
    return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST,                \
                                       __ATOMIC_SEQ_CST);                                                  \
  }                                                                                                        \
  Type __tsan_atomic##bits##_compare_exchange_val(volatile Type* address, Type expected, Type desired,     \
                                                  int order, int) {                                        \
    atomic_of_language(address, bits / 8, order, true, true, true, TREADLE_CALLER);                        \
    __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
    return expected;                                                                                       \
  }
TREADLE_ATOMICS(8, unsigned char)
TREADLE_ATOMICS(16, unsigned short)
TREADLE_ATOMICS(32, unsigned)
TREADLE_ATOMICS(64, unsigned long)
}
// NOLINTEND

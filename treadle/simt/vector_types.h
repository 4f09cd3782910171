/// CUDA's vector types and dim3 for the host compiler, in the global namespace as in CUDA: operators that a
/// program declares there for float4 are then found from every namespace, std's algorithms included.
#pragma once

#if !defined(__VECTOR_TYPES_H__)  // what reads all headers at once has CUDA's own

// T1 … T4 with make_T1 … make_T4. `align2` and `align4` are what a GPU's loads of two and four elements need.
#define TREADLE_VECTORS(name, T, align2, align4)                                                      \
  struct name##1 {                                                                                    \
    T x;                                                                                              \
  };                                                                                                  \
  struct alignas(align2) name##2 {                                                                    \
    T x, y;                                                                                           \
  };                                                                                                  \
  struct name##3 {                                                                                    \
    T x, y, z;                                                                                        \
  };                                                                                                  \
  struct alignas(align4) name##4 {                                                                    \
    T x, y, z, w;                                                                                     \
  };                                                                                                  \
  [[gnu::always_inline]] constexpr inline name##1 make_##name##1(T x) { return {x}; }                 \
  [[gnu::always_inline]] constexpr inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  [[gnu::always_inline]] constexpr inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  [[gnu::always_inline]] constexpr inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

TREADLE_VECTORS(char, signed char, 2, 4)
TREADLE_VECTORS(uchar, unsigned char, 2, 4)
TREADLE_VECTORS(short, short, 4, 8)
TREADLE_VECTORS(ushort, unsigned short, 4, 8)
TREADLE_VECTORS(int, int, 8, 16)
TREADLE_VECTORS(uint, unsigned, 8, 16)
TREADLE_VECTORS(long, long, 16, 16)
TREADLE_VECTORS(ulong, unsigned long, 16, 16)
TREADLE_VECTORS(longlong, long long, 16, 16)
TREADLE_VECTORS(ulonglong, unsigned long long, 16, 16)
TREADLE_VECTORS(float, float, 8, 16)
TREADLE_VECTORS(double, double, 16, 16)
#undef TREADLE_VECTORS

// Four elements of eight bytes with the alignment in the name.
#define TREADLE_ALIGNED_VECTOR(name, T, bytes) \
  struct alignas(bytes) name {                 \
    T x, y, z, w;                              \
  };                                           \
  [[gnu::always_inline]] constexpr inline name make_##name(T x, T y, T z, T w) { return {x, y, z, w}; }
#define TREADLE_ALIGNED_VECTORS(name, T)     \
  TREADLE_ALIGNED_VECTOR(name##4_16a, T, 16) \
  TREADLE_ALIGNED_VECTOR(name##4_32a, T, 32)
TREADLE_ALIGNED_VECTORS(long, long)
TREADLE_ALIGNED_VECTORS(ulong, unsigned long)
TREADLE_ALIGNED_VECTORS(longlong, long long)
TREADLE_ALIGNED_VECTORS(ulonglong, unsigned long long)
TREADLE_ALIGNED_VECTORS(double, double)
#undef TREADLE_ALIGNED_VECTORS
#undef TREADLE_ALIGNED_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

#endif

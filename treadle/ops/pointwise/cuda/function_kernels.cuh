/// Pointwise functions on a device, a ladder of four. There is nothing to compute but a formula, so what
/// counts is how memory is asked: `naive` takes any strides, and finds its place by divisions; `linear` takes
/// operands that lie alike and needs none; `vector4` asks for 16 bytes at once, a quarter of the requests;
/// `grid_stride` starts as many threads as run at a time, each of which goes on from place to place.
/// Luitjens, CUDA Pro Tip: Increase Performance with Vectorized Memory Access, 2013; Harris, CUDA Pro Tip:
/// Write Flexible Kernels with Grid-Stride Loops, 2013.
#pragma once

#include <algorithm>
#include <string>

#include "treadle/ops/device_variant.h"
#include "treadle/ops/pointwise/pointwise_function.h"
#include "treadle/ops/strided_operands.h"

namespace treadle::TREADLE_TARGET::pointwise {

/// Pointers to N operands, passed to kernels by value.
template <class T, int N>
struct Operands {
  const T* pointer[N];
};

template <class F, class T, int N>
__device__ auto evaluate(const F& f, const Operands<T, N>& x, const int64_t (&offset)[N + 1]) {
  using C = Compute<T>;
  if constexpr (N == 1)
    return f(C(x.pointer[0][offset[1]]));
  else
    return f(C(x.pointer[0][offset[1]]), C(x.pointer[1][offset[2]]));
}

/// One thread per output element, any strides. Moves N + 1 elements per element.
template <class F, class T, class Out, int N>
__global__ void pointwise_naive(F f, Strided<N + 1> nest, Operands<T, N> x, Out* y) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t offset[N + 1];
  nest.offsets(i, offset);
  y[offset[0]] = Out(evaluate<F, T, N>(f, x, offset));
}

/// One thread per element of operands that lie alike in memory.
template <class F, class T, class Out, int N>
__global__ void pointwise_linear(F f, int64_t n, Operands<T, N> x, Out* y) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  using C = Compute<T>;
  if constexpr (N == 1)
    y[i] = Out(f(C(x.pointer[0][i])));
  else
    y[i] = Out(f(C(x.pointer[0][i]), C(x.pointer[1][i])));
}

/// Quad `i` of operands that lie alike in memory: one 16-byte access for each operand.
template <class F, int N>
__device__ void evaluate_quad(const F& f, int64_t i, const Operands<float, N>& x, float* y) {
  float4 a = reinterpret_cast<const float4*>(x.pointer[0])[i], result;
  if constexpr (N == 1) {
    result = make_float4(f(a.x), f(a.y), f(a.z), f(a.w));
  } else {
    float4 b = reinterpret_cast<const float4*>(x.pointer[1])[i];
    result = make_float4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w));
  }
  reinterpret_cast<float4*>(y)[i] = result;
}

/// One thread per four elements.
template <class F, int N>
__global__ void pointwise_vector4(F f, int64_t quads, Operands<float, N> x, float* y) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < quads) evaluate_quad<F, N>(f, i, x, y);
}

/// Each thread takes four elements, and the four that lie a grid further, until there are no more.
template <class F, int N>
__global__ void pointwise_grid_stride(F f, int64_t quads, Operands<float, N> x, float* y) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < quads; i += step)
    evaluate_quad<F, N>(f, i, x, y);
}

template <class T, int N>
Operands<T, N> operands_of(const Call& call) {
  Operands<T, N> operands;
  for (int k = 0; k < N; ++k) operands.pointer[k] = call.input(k).as<T>();
  return operands;
}

template <class F>
F function_of(const Call& call) {
  return call.attributes ? call.options<F>() : F{};
}

template <class F, class Run>
void with_type_of(const Call& call, Run run) {
  DType dtype = call.input(0).dtype;
  if constexpr (F::kIntegers)
    with_numeric_device_type(dtype, run);
  else
    with_floating_device_type(dtype, run);
}

/// All operands have the output's shape and strides, and those are dense.
inline bool lie_alike(const Call& call) {
  const TensorView& y = call.output();
  for (const TensorView& x : call.inputs)
    if (!(x.shape == y.shape) || !(x.strides == y.strides)) return false;
  return is_dense(y.shape, y.strides);
}

inline bool takes_vector4(const Call& call) {
  auto aligned = [](const TensorView& view) { return reinterpret_cast<uintptr_t>(view.data) % 16 == 0; };
  bool all_aligned = aligned(call.output());
  for (const TensorView& x : call.inputs) all_aligned = all_aligned && aligned(x);
  return call.input(0).dtype == DType::f32 && call.output().numel() % 4 == 0 && all_aligned &&
         lie_alike(call);
}

template <class F, int N>
void run_naive(const Call& call) {
  auto nest = make_strided<N + 1>(call.output(), call.inputs);
  with_type_of<F>(call, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<pointwise_naive<F, T, T, N>, independent>(stream_of(call), blocks_for(nest.numel), kThreads, 0,
                                                     function_of<F>(call), nest, operands_of<T, N>(call),
                                                     call.output().as<T>());
  });
}

template <class F, int N>
void run_linear(const Call& call) {
  int64_t n = call.output().numel();
  with_type_of<F>(call, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<pointwise_linear<F, T, T, N>, independent>(stream_of(call), blocks_for(n), kThreads, 0,
                                                      function_of<F>(call), n, operands_of<T, N>(call),
                                                      call.output().as<T>());
  });
}

template <class F, int N>
void run_vector4(const Call& call) {
  int64_t quads = call.output().numel() / 4;
  launch<pointwise_vector4<F, N>, independent>(stream_of(call), blocks_for(quads), kThreads, 0,
                                               function_of<F>(call), quads, operands_of<float, N>(call),
                                               call.output().as<float>());
}

constexpr unsigned kBlocksAtATime = 1024;  ///< as many as run at a time, or nearly

template <class F, int N>
void run_grid_stride(const Call& call) {
  int64_t quads = call.output().numel() / 4;
  launch<pointwise_grid_stride<F, N>, independent>(
      stream_of(call), std::min(blocks_for(quads), kBlocksAtATime), kThreads, 0, function_of<F>(call), quads,
      operands_of<float, N>(call), call.output().as<float>());
}

template <class F>
void run_comparison(const Call& call) {
  auto nest = make_strided<3>(call.output(), call.inputs);
  with_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<pointwise_naive<F, T, bool, 2>, independent>(stream_of(call), blocks_for(nest.numel), kThreads, 0,
                                                        function_of<F>(call), nest, operands_of<T, 2>(call),
                                                        call.output().as<bool>());
  });
}

template <class F, int N>
void add_ladder(Registry& registry, const char* op) {
  add_variant(registry, op,
              {.name = "naive",
               .device = kDevice,
               .run = run_naive<F, N>,
               .rung = 1,
               .idea = "a thread for each element, which finds its place by divisions"});
  add_variant(registry, op,
              {.name = "linear",
               .device = kDevice,
               .run = run_linear<F, N>,
               .when = lie_alike,
               .preference = 1,
               .rung = 2,
               .idea = "operands that lie alike need no divisions"});
  add_variant(registry, op,
              {.name = "vector4",
               .device = kDevice,
               .run = run_vector4<F, N>,
               .when = takes_vector4,
               .preference = 2,
               .rung = 3,
               .idea = "16 bytes in each access: a quarter of the requests"});
  add_variant(registry, op,
              {.name = "grid_stride",
               .device = kDevice,
               .run = run_grid_stride<F, N>,
               .when = takes_vector4,
               .preference = -1,
               .rung = 4,
               .idea = "as many threads as run at a time, each in a loop over the grid"});
}

/// Adds the variants of a function, and those of its gradient.
template <class F>
void add_function(Registry& registry) {
  if constexpr (std::is_base_of_v<ComparisonFunction, F>) {
    add_variant(registry, F::kName, {.name = "naive", .device = kDevice, .run = run_comparison<F>});
  } else {
    add_ladder<F, F::kOperands>(registry, F::kName);
    if constexpr (std::is_base_of_v<UnaryFunction, F>)
      add_ladder<GradientOf<F>, 2>(registry, (std::string(F::kName) + "_gradient").c_str());
  }
}

}  // namespace treadle::TREADLE_TARGET::pointwise

/// Kernels of the ops around linear, without matrix tiles: for layers so small that one launch counts.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/matrix/cuda/parameter_gradient.cuh"
#include "treadle/ops/matrix/linear_options.h"
#include "treadle/ops/matrix/matrix_product.h"

#include "treadle/ops/pointwise/functions/relu.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// One thread per element of y, threads of a warp along a row of y: 2·K elements read for one result.
template <class T>
__global__ void linear_relu_naive(MatrixProduct p) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.M * p.N) return;
  const int64_t m = i / p.N, n = i % p.N;
  const T *a = static_cast<const T*>(p.a) + m * p.a_row, *b = static_cast<const T*>(p.b) + n * p.b_column;
  const T* bias = static_cast<const T*>(p.bias);
  Compute<T> sum = bias ? static_cast<Compute<T>>(bias[n * p.bias_step]) : Compute<T>(0);
  for (int64_t k = 0; k < p.K; ++k)
    sum += static_cast<Compute<T>>(a[k * p.a_column]) * static_cast<Compute<T>>(b[k * p.b_row]);
  static_cast<T*>(p.c)[m * p.c_row + n * p.c_column] = static_cast<T>(functions::Relu{}(sum));
}

/// One thread per element of dw and db, threads of a warp along a row or a column of dw: 2·N elements read
/// for one result, those of dy, or of x, by the whole warp at once.
template <class T>
__global__ void linear_weight_gradient_naive(LinearUpdateOperands<1> p) {
  const int64_t index = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= parameters(p)) return;
  const auto [o, i] = place_of(p, index);
  parameter_of(p, i).template at<T>(0, o, i == p.in ? 0 : i) = static_cast<T>(parameter_gradient<T>(p, o, i));
}

/// An input of linear_input_gradient as its kernel sees it: the result of a ReLU.
template <class T>
struct ReluResult {
  const T* x;
  int64_t row, column;

  __device__ bool is_closed(int64_t n, int64_t i) const {
    return static_cast<Compute<T>>(x[n * row + i * column]) <= Compute<T>(0);
  }
};

/// One thread per element of dx, threads of a warp along a row of dx: one element of x read, and where it is
/// open 2·K elements of dy and w, those of dy by the whole warp at once.
template <class T>
__global__ void linear_input_gradient_naive(MatrixProduct p, ReluResult<T> relu) {
  const int64_t index = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= p.M * p.N) return;
  const int64_t n = index / p.N, i = index % p.N;
  Compute<T> sum = 0;
  if (!relu.is_closed(n, i)) {
    const T *dy = static_cast<const T*>(p.a) + n * p.a_row, *w = static_cast<const T*>(p.b) + i * p.b_column;
    for (int64_t o = 0; o < p.K; ++o)
      sum += static_cast<Compute<T>>(dy[o * p.a_column]) * static_cast<Compute<T>>(w[o * p.b_row]);
  }
  static_cast<T*>(p.c)[n * p.c_row + i * p.c_column] = static_cast<T>(sum);
}

/// c[m,n] = bias[n]: one thread per element.
template <class T>
__global__ void linear_bias(MatrixProduct p) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.outputs()) return;
  const int64_t n = i % p.N, m = i / p.N;
  static_cast<T*>(p.c)[m * p.c_row + n * p.c_column] = static_cast<const T*>(p.bias)[n * p.bias_step];
}

void run_linear_relu(const Call& call) {
  const MatrixProduct p = linear_product(call);
  with_floating_device_type(p.dtype, [&](auto tag) {
    launch<linear_relu_naive<typename decltype(tag)::type>, independent>(
        stream_of(call), blocks_for(p.M * p.N), kThreads, 0, p);
  });
}

void run_weight_gradient(const Call& call) {
  const auto p = linear_update_operands<1>(call.input(0), call.input(1), call.outputs);
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    launch<linear_weight_gradient_naive<typename decltype(tag)::type>, independent>(
        stream_of(call), blocks_for(parameters(p)), kThreads, 0, p);
  });
}

template <class T>
ReluResult<T> relu_result(const Call& call) {
  const TensorView& x = call.input(2);
  return {x.as<T>(), x.strides[0], x.strides[1]};
}

void run_input_gradient(const Call& call) {
  const MatrixProduct p = matmul_product(call);
  with_floating_device_type(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<linear_input_gradient_naive<T>, independent>(stream_of(call), blocks_for(p.M * p.N), kThreads, 0,
                                                        p, relu_result<T>(call));
  });
}

}  // namespace

/// Fills the output of a linear call with its bias, for a library's product to add to.
void start_with_bias(const Call& call) {
  const MatrixProduct p = linear_product(call);
  with_floating_device_type(p.dtype, [&](auto tag) {
    launch<linear_bias<typename decltype(tag)::type>, independent>(stream_of(call), blocks_for(p.outputs()),
                                                                   kThreads, 0, p);
  });
}

void register_matrix_cuda_linear(Registry& registry) {
  add_variant(registry, "linear_relu", {.name = "naive", .device = kDevice, .run = run_linear_relu});
  add_variant(registry, "linear_weight_gradient",
              {.name = "naive", .device = kDevice, .run = run_weight_gradient});
  add_variant(registry, "linear_input_gradient",
              {.name = "naive", .device = kDevice, .run = run_input_gradient});
}

}  // namespace treadle::TREADLE_TARGET

/// Random fills on a device.
#include "treadle/kernels/random_functions.h"
#include "treadle/ops/device_variant.h"
#include "treadle/ops/strided_operands.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// The type a distribution computes in where the elements are T.
template <class T>
using Distribution = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// One thread per block of four elements, in row-major order; writes each once. Operand 0 of the nest is the
/// element's number, operand 1 is x. `position`, four numbers `position_step` apart, is null or replaces the
/// seed and offset in f.
template <class F, class T>
__global__ void random_naive(F f, const double* position, int64_t position_step, Strided<2> nest, T* x) {
  int64_t block = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (block * 4 >= nest.numel) return;
  if (position) f.read(position, position_step);
  Distribution<T> values[4];
  f(f.block(block), values);
  for (int64_t i = block * 4, lane = 0; lane < 4 && i < nest.numel; ++i, ++lane) {
    int64_t o[2];
    nest.offsets(i, o);
    x[o[1]] = T(values[lane]);
  }
}

template <class F>
void run(const Call& call) {
  const TensorView& x = call.output();
  auto nest = make_strided<2>(x.shape, {contiguous_strides(x.shape), x.strides});
  const double* position = call.has_input(1) ? call.input(1).as<double>() : nullptr;
  const int64_t position_step = call.has_input(1) ? call.input(1).strides[0] : 0;
  auto fill = [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<random_naive<F, T>, independent>(stream_of(call), blocks_for((nest.numel + 3) / 4), kThreads, 0,
                                            call.options<F>(), position, position_step, nest, x.as<T>());
  };
  if constexpr (std::is_same_v<F, Bernoulli>)
    with_device_type(x.dtype, fill);
  else
    with_floating_device_type(x.dtype, fill);
}

template <class F>
void add(Registry& registry) {
  add_variant(registry, F::kName, {.name = "naive", .device = kDevice, .run = run<F>});
}

}  // namespace

void register_random_cuda_naive(Registry& registry) {
  add<Uniform>(registry);
  add<Normal>(registry);
  add<Bernoulli>(registry);
}

}  // namespace treadle::TREADLE_TARGET

/// The last step of a loss on a device: adding up terms in a fixed order. Included by .cu files only.
#pragma once

#include "treadle/kernels/reduce.h"
#include "treadle/ops/device_variant.h"
#include "treadle/ops/loss/loss_options.h"

namespace treadle::TREADLE_TARGET {

inline constexpr int kMostThreads = 1024;  ///< of a block; registers must be kept few enough for so many

/// One block: thread i adds terms i, i + size, …; loss = Σ terms / divisor.
template <class T>
__global__ void __launch_bounds__(kMostThreads)
    loss_total(int64_t count, const Compute<T>* terms, Compute<T> divisor, T* loss) {
  using C = Compute<T>;
  C sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) sum += terms[i];
  sum = block_reduce(sum, Addition<C>(), C(0));
  if (threadIdx.x == 0) *loss = static_cast<T>(sum / divisor);
}

template <class T>
void launch_loss_total(const Call& call, int64_t count, const Compute<T>* terms, double divisor) {
  launch<loss_total<T>>(stream_of(call), 1, count > kMostThreads ? kMostThreads : kThreads, 0, count, terms,
                        static_cast<Compute<T>>(divisor), call.output(0).as<T>());
}

}  // namespace treadle::TREADLE_TARGET

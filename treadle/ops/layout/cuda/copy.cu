/// Copies on a device of any strides, and copies for other ops.
#include "treadle/ops/layout/cuda/copy_elements.cuh"
#include "treadle/ops/layout/cuda/transpose.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

/// One thread per element of y, any strides; reads and writes it once.
template <class Word>
__global__ void copy_naive(Strided<2> nest, const Word* x, Word* y) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[2];
  nest.offsets(i, o);
  y[o[0]] = x[o[1]];
}

/// One thread per element of y.
template <class Word>
__global__ void fill_naive(Strided<1> nest, Word value, Word* y) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[1];
  nest.offsets(i, o);
  y[o[0]] = value;
}

void copy_strided(stream_t stream, const TensorView& target, const TensorView& source) {
  auto nest = make_strided<2>(target, {&source, 1});
  with_word_type(target.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::type;
    launch<copy_naive<Word>, independent>(stream, blocks_for(nest.numel), kThreads, 0, nest,
                                          source.as<const Word>(), target.as<Word>());
  });
}

void run(const Call& call) { copy_strided(stream_of(call), call.output(), source_of(call)); }

}  // namespace

void copy_elements(stream_t stream, const TensorView& target, const TensorView& source) {
  if (target.numel() == 0) return;
  if (auto plan = plan_transpose(target, source))
    copy_transposed<kWithoutConflicts>(stream, target, source, *plan);
  else
    copy_strided(stream, target, source);
}

void fill_elements(stream_t stream, const TensorView& target, uint64_t bits) {
  if (target.numel() == 0) return;
  auto nest = make_strided<1>(target, {});
  with_word_type(target.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::type;
    launch<fill_naive<Word>, independent>(stream, blocks_for(nest.numel), kThreads, 0, nest, Word(bits),
                                          target.as<Word>());
  });
}

void register_layout_cuda_copy(Registry& registry) {
  add_copy_variants(registry, {.name = "naive",
                               .device = kDevice,
                               .run = run,
                               .rung = 1,
                               .idea = "a thread for each element; of reads and writes one jumps in memory"});
}

}  // namespace treadle::TREADLE_TARGET

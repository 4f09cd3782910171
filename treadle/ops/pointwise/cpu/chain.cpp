/// Chains on the cpu device: block by block, each step in a loop that vectorises, results in between in the
/// cache.
#include <algorithm>
#include <cstddef>

#include "treadle/core/parallel_for.h"
#include "treadle/core/tensor_view.h"
#include "treadle/core/work.h"
#include "treadle/ops/layout/copy_elements.h"
#include "treadle/ops/pointwise/chain_nest.h"
#include "treadle/ops/pointwise/cpu/block_functions.h"
#include "treadle/ops/pointwise/cpu/rows.h"

namespace treadle {
namespace {

constexpr int64_t kBlock = 1024;  ///< elements: a few operands and results of f32 fit the first cache
constexpr int64_t kBlockBytes = kBlock * int64_t(sizeof(double));

/// Copies elements [begin, begin + count) of the nest; E has their size.
template <class E>
void gather(const ChainNest& nest, int input, const void* source, int64_t begin, int64_t count, void* block) {
  const int inner = nest.rank - 1;
  const int64_t extent = nest.shape[inner], stride = nest.strides[input + 1][inner];
  E* target = static_cast<E*>(block);
  for (const int64_t end = begin + count; begin < end;) {
    int64_t offsets[PointwiseChain::kMostInputs + 1];
    nest.offsets(begin, offsets);
    const E* row = static_cast<const E*>(source) + offsets[input + 1];
    const int64_t length = std::min(end - begin, extent - begin % extent);
    for (int64_t i = 0; i < length; ++i) target[i] = row[i * stride];
    target += length, begin += length;
  }
}

/// A call of a chain, the same for all threads.
class ChainCall {
 public:
  explicit ChainCall(const Call& call)
      : call_(call),
        chain_(call.options<PointwiseChain>()),
        nest_(chain_nest(call)),
        dtype_(call.input(0).dtype) {
    for (int k = 0; k < chain_.inputs(); ++k) lies_[k] = lie_of(nest_, k);
    for (size_t i = 0; i < chain_.steps().size(); ++i)
      functions_[i] = block_function_of(chain_.steps()[i].op);
  }

  int64_t numel() const { return nest_.numel; }
  int64_t step_count() const { return int64_t(chain_.steps().size()); }
  int64_t blocks() const { return chain_.inputs() + chain_.slot_count(); }

  /// Elements [begin, end); `memory` holds blocks() blocks.
  void run(int64_t begin, int64_t end, std::byte* memory) const {
    const void* values[PointwiseChain::kMostInputs + PointwiseChain::kMostSteps];
    for (int k = 0; k < chain_.inputs(); ++k)
      if (lies_[k] == Lie::constant) values[k] = read(k, begin, std::min(kBlock, end - begin), memory);
    for (; begin < end; begin += kBlock) {
      const int64_t count = std::min(kBlock, end - begin);
      for (int k = 0; k < chain_.inputs(); ++k)
        if (lies_[k] != Lie::constant) values[k] = read(k, begin, count, memory);
      compute(begin, count, values, memory);
    }
  }

 private:
  static std::byte* block(std::byte* memory, int number) { return memory + number * kBlockBytes; }

  const void* read(int input, int64_t begin, int64_t count, std::byte* memory) const {
    const TensorView& x = call_.input(input);
    const size_t size = size_of(x.dtype);
    if (lies_[input] == Lie::alike) return static_cast<const std::byte*>(x.data) + size_t(begin) * size;
    std::byte* copy = block(memory, input);
    with_word_type(x.dtype, [&](auto tag) {
      gather<typename decltype(tag)::type>(nest_, input, x.data, begin, count, copy);
    });
    return copy;
  }

  void compute(int64_t begin, int64_t count, const void** values, std::byte* memory) const {
    const auto& steps = chain_.steps();
    const TensorView& y = call_.output();
    for (size_t i = 0; i < steps.size(); ++i) {
      const void* operands[3];
      for (size_t k = 0; k < steps[i].operands.size(); ++k) operands[k] = values[steps[i].operands[k]];
      void* result = i + 1 < steps.size()
                         ? block(memory, chain_.inputs() + chain_.slots()[i])
                         : static_cast<std::byte*>(y.data) + size_t(begin) * size_of(y.dtype);
      functions_[i](dtype_, steps[i].attributes, operands, result, count);
      values[chain_.inputs() + int(i)] = result;
    }
  }

  const Call& call_;
  const PointwiseChain& chain_;
  const ChainNest nest_;
  const DType dtype_;
  Lie lies_[PointwiseChain::kMostInputs];
  BlockFunction functions_[PointwiseChain::kMostSteps];
};

void run_blocks(const Call& call) {
  const ChainCall chain(call);
  const Nanoseconds each{function_rows::kElement.count * double(chain.step_count())};
  const Cut cut(chain.numel(), parts_worth(chain.numel(), each));
  const int64_t bytes = chain.blocks() * kBlockBytes;
  std::byte* memory = call.workspace<std::byte>(bytes * cut.parts());
  parallel_for_parts(
      cut, [&](int64_t index, Range part) { chain.run(part.begin, part.end, memory + index * bytes); });
}

}  // namespace

namespace ops {

void register_pointwise_cpu_chain(Registry& registry) {
  add_variant(registry, "pointwise_chain", {.name = "loop", .device = DeviceKind::cpu, .run = run_blocks});
}

}  // namespace ops
}  // namespace treadle

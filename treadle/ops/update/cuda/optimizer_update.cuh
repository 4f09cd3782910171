/// Updates by a rule on a device: one parameter by a strided kernel, all dense ones by one launch over a
/// table.
#pragma once

#include "treadle/ops/device_variant.h"
#include "treadle/ops/strided_operands.h"
#include "treadle/ops/update/rule.h"

namespace treadle::TREADLE_TARGET {
namespace update_kernels {

/// One thread. The factors of a step from the options and its numbers, which may lie on the device. Both ways
/// the same instructions compute them, so that both give the same bits.
template <class Rule, class C>
__global__ void optimizer_update_factors(typename Rule::Options options, StepNumbers numbers,
                                         const double* given, int64_t stride, StepOf<Rule, C>* step) {
  if (given) numbers = {given[0], given[stride]};
  *step = Rule::template step<C>(options, numbers);
}

/// Loads an element of each operand, updates and stores all but the gradient (operand 1).
template <class T, class Step, int N>
__device__ void update_element(const Step& step, T* const (&pointer)[N], const int64_t (&offset)[N]) {
  Compute<T> value[N];
  for (int k = 0; k < N; ++k) value[k] = static_cast<Compute<T>>(pointer[k][offset[k]]);
  apply_step(step, value);
  for (int k = 0; k < N; ++k)
    if (k != 1) pointer[k][offset[k]] = T(value[k]);
}

/// A parameter, its gradient and what the optimiser keeps; passed to kernels by value.
template <class T, int N>
struct Operands {
  T* pointer[N];
};

/// One thread per element of one parameter; reads all operands and writes all but the gradient once.
template <class T, class Step, int N>
__global__ void optimizer_update_naive(const Step* factors, Strided<N> nest, Operands<T, N> operands) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t offset[N];
  nest.offsets(i, offset);
  update_element<T>(*factors, operands.pointer, offset);
}

inline constexpr int kPerThread = 4;                     ///< elements, a block apart
inline constexpr int kPerBlock = kThreads * kPerThread;  ///< elements

/// Dense parameters of one launch: below the 4 KiB that a kernel's arguments may take.
template <class T, int N>
struct Table {
  static constexpr int kRows = 64;
  int rows;
  uint32_t first_block[kRows];
  int64_t numel[kRows];
  Operands<T, N> operands[kRows];
};

/// Each block updates up to kPerBlock neighbouring elements of one parameter, found by its number; thread t
/// takes elements t, t + block, …; reads all operands and writes all but the gradient once.
template <class T, class Step, int N>
__global__ void optimizer_update_table(const Step* factors, Table<T, N> table) {
  int row = 0;
  for (int width = Table<T, N>::kRows / 2; width > 0; width /= 2)
    if (row + width < table.rows && table.first_block[row + width] <= blockIdx.x) row += width;
  const Step step = *factors;
  const int64_t begin = int64_t(blockIdx.x - table.first_block[row]) * kPerBlock + threadIdx.x;
  UNROLL(4)
  for (int k = 0; k < kPerThread; ++k) {
    const int64_t i = begin + int64_t(k) * blockDim.x;
    int64_t offset[N];
    for (int operand = 0; operand < N; ++operand) offset[operand] = i;
    if (i < table.numel[row]) update_element<T>(step, table.operands[row].pointer, offset);
  }
}

template <class T, int N>
Operands<T, N> operands_of(std::span<const TensorView> group) {
  Operands<T, N> operands;
  for (int k = 0; k < N; ++k) operands.pointer[k] = group[k].as<T>();
  return operands;
}

template <int N>
Strided<N> nest_of(std::span<const TensorView> group) {
  std::array<Strides, N> strides;
  for (int k = 0; k < N; ++k) strides[k] = group[k].strides;
  return make_strided<N>(group[0].shape, strides);
}

/// Whether the operands are dense and lie alike, so that one offset serves all.
template <int N>
bool lies_alike(const Strided<N>& nest) {
  if (nest.numel == 1) return true;
  for (const auto& strides : nest.strides)
    if (nest.rank > 1 || strides[0] != 1) return false;
  return true;
}

/// The factors of the call's step, made on the device. Input `numbers` may hold its numbers; without it they
/// are those given.
template <class Rule, class C>
StepOf<Rule, C>* step_factors(const Call& call, int numbers, const typename Rule::Options& options,
                              StepNumbers otherwise) {
  auto* step = call.workspace<StepOf<Rule, C>>(1);
  const bool given = call.has_input(numbers);
  launch<optimizer_update_factors<Rule, C>, independent>(stream_of(call), 1, 1, 0, options, otherwise,
                                                         given ? call.input(numbers).as<double>() : nullptr,
                                                         given ? call.input(numbers).strides[0] : 0, step);
  return step;
}

template <class Rule, class T>
class Updater {
  static constexpr int N = kOperandsOf<Rule>;
  using Step = StepOf<Rule, Compute<T>>;
  using Options = UpdateOptions<typename Rule::Options>;

 public:
  /// `numbers`: the input that may hold the numbers of the step.
  Updater(const Call& call, int numbers)
      : stream_(stream_of(call)), step_(factors(call, numbers, call.options<Options>())) {}

  void update_strided(std::span<const TensorView> group, const Strided<N>& nest) {
    launch<optimizer_update_naive<T, Step, N>, independent>(stream_, blocks_for(nest.numel), kThreads, 0,
                                                            step_, nest, operands_of<T, N>(group));
  }

  /// Dense parameters wait in the table until it is full or flush() is called.
  void update(std::span<const TensorView> group) {
    if (group[0].numel() == 0) return;
    const auto nest = nest_of<N>(group);
    const int64_t blocks = (nest.numel + kPerBlock - 1) / kPerBlock;
    if (!lies_alike(nest) || blocks > INT32_MAX) return update_strided(group, nest);
    if (table_.rows == Table<T, N>::kRows || int64_t(blocks_) + blocks > INT32_MAX) flush();
    table_.first_block[table_.rows] = blocks_;
    table_.numel[table_.rows] = nest.numel;
    table_.operands[table_.rows++] = operands_of<T, N>(group);
    blocks_ += static_cast<uint32_t>(blocks);
  }

  void flush() {
    if (table_.rows > 0)
      launch<optimizer_update_table<T, Step, N>, independent>(stream_, blocks_, kThreads, 0, step_, table_);
    table_.rows = 0, blocks_ = 0;
  }

 private:
  static Step* factors(const Call& call, int numbers, const Options& options) {
    return step_factors<Rule, Compute<T>>(call, numbers, options, options.numbers());
  }

  stream_t stream_;
  Step* step_;
  Table<T, N> table_{};
  uint32_t blocks_ = 0;
};

template <class Rule>
void run_naive(const Call& call) {
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    const auto group = call.inputs.first(kOperandsOf<Rule>);
    Updater<Rule, typename decltype(tag)::type>(call, kOperandsOf<Rule>)
        .update_strided(group, nest_of<kOperandsOf<Rule>>(group));
  });
}

template <class Rule>
void run_naive_of_all(const Call& call) {
  with_floating_device_type(call.input(1).dtype, [&](auto tag) {
    Updater<Rule, typename decltype(tag)::type> updater(call, 0);
    for (auto rest = call.inputs.subspan(1); !rest.empty(); rest = rest.subspan(kOperandsOf<Rule>))
      updater.update(rest.first(kOperandsOf<Rule>));
    updater.flush();
  });
}

}  // namespace update_kernels

template <class Rule>
void register_update_kernels(Registry& registry) {
  using namespace update_kernels;
  add_variant(registry, Rule::kName, {.name = "naive", .device = kDevice, .run = run_naive<Rule>});
  add_variant(registry, name_of_all<Rule>().c_str(),
              {.name = "naive", .device = kDevice, .run = run_naive_of_all<Rule>});
}

}  // namespace treadle::TREADLE_TARGET

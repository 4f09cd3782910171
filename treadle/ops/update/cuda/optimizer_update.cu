/// Optimiser updates on a device: one parameter by a strided kernel, all dense ones by one launch over a
/// table.
#include "treadle/ops/device_variant.h"
#include "treadle/ops/strided_operands.h"
#include "treadle/ops/update/optimizer_options.h"

namespace treadle::TREADLE_TARGET {
namespace {

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
  if constexpr (N == 2)
    step(value[0], value[1]);
  else if constexpr (N == 3)
    step(value[0], value[1], value[2]);
  else
    step(value[0], value[1], value[2], value[3]);
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

constexpr int kPerThread = 4;                     ///< elements, a block apart
constexpr int kPerBlock = kThreads * kPerThread;  ///< elements

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

template <class Rule, class T>
class Updater {
  static constexpr int N = Rule::kOperands;
  using Step = StepOf<Rule, Compute<T>>;

 public:
  /// `numbers`: the input that may hold the numbers of the step.
  Updater(const Call& call, int numbers) : stream_(stream_of(call)), step_(call.workspace<Step>(1)) {
    const auto& options = call.options<typename Rule::Options>();
    const bool given = call.has_input(numbers);
    launch<optimizer_update_factors<Rule, Compute<T>>, independent>(
        stream_, 1, 1, 0, options, step_numbers(options), given ? call.input(numbers).as<double>() : nullptr,
        given ? call.input(numbers).strides[0] : 0, step_);
  }

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
  stream_t stream_;
  Step* step_;
  Table<T, N> table_{};
  uint32_t blocks_ = 0;
};

template <class Rule>
void run_naive(const Call& call) {
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    const auto group = call.inputs.first(Rule::kOperands);
    Updater<Rule, typename decltype(tag)::type>(call, Rule::kOperands)
        .update_strided(group, nest_of<Rule::kOperands>(group));
  });
}

template <class Rule>
void run_naive_of_all(const Call& call) {
  with_floating_device_type(call.input(1).dtype, [&](auto tag) {
    Updater<Rule, typename decltype(tag)::type> updater(call, 0);
    for (auto rest = call.inputs.subspan(1); !rest.empty(); rest = rest.subspan(Rule::kOperands))
      updater.update(rest.first(Rule::kOperands));
    updater.flush();
  });
}

template <class Rule>
void register_rule(Registry& registry) {
  add_variant(registry, Rule::kName, {.name = "naive", .device = kDevice, .run = run_naive<Rule>});
  add_variant(registry, Rule::kNameOfAll,
              {.name = "naive", .device = kDevice, .run = run_naive_of_all<Rule>});
}

}  // namespace

void register_update_cuda_optimizer_update(Registry& registry) {
  register_rule<SgdRule>(registry);
  register_rule<SgdMomentumRule>(registry);
  register_rule<AdamRule>(registry);
}

}  // namespace treadle::TREADLE_TARGET

/// Reductions on a device: a thread per output, a block per output, and whole rows added to one another.
///
/// A result that few blocks would compute is cut into pieces, whose states a second kernel merges in a fixed
/// order: there are no floating-point atomics, so results are the same in every run and on every card.
#include "treadle/kernels/reduce.h"
#include "treadle/ops/device_variant.h"
#include "treadle/ops/reduce/cuda/pieces.cuh"
#include "treadle/ops/reduce/reduce_options.h"
#include "treadle/ops/reduce/reduce_plan.h"

namespace treadle::TREADLE_TARGET {
namespace {

constexpr int kColumnRows = 8;            ///< rows that a block of column sums reads at once
constexpr unsigned kMaxGridX = 1u << 20;  ///< outputs beyond are taken in further rounds

/// Sums of T, divided by `divisor` (1 unless a mean is wanted).
template <class T>
struct SumOf : Addition<Sum<T>> {
  using Element = T;
  using Result = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
  Result* y;
  Sum<T> divisor;
  __device__ void write(int64_t output, Sum<T> state) const { y[output] = Result(state / divisor); }
};

/// Extrema of T and their positions; `values` may be null.
template <class T>
struct ExtremumOf : FirstExtremum<Sum<T>> {
  using Element = T;
  T* values;
  int64_t* positions;
  __device__ void write(int64_t output, Extremum<Sum<T>> state) const {
    if (values) values[output] = T(state.value);
    positions[output] = state.position;
  }
};

/// The state of reduced elements first, first + step, … below end.
template <class R>
__device__ typename R::State reduce_range(const typename R::Element* x, const Strided<2>& reduced,
                                          int64_t first, int64_t end, int64_t step, const R& reduction) {
  typename R::State state = reduction.none();
  for (int64_t i = first; i < end; i += step) {
    int64_t offsets[2];
    reduced.offsets(i, offsets);
    state = reduction(state, reduction.of(static_cast<typename R::Value>(x[offsets[0]]), offsets[1]));
  }
  return state;
}

template <class R>
__device__ void write_state(int64_t output, int64_t outputs, typename R::State state,
                            typename R::State* pieces, const R& reduction) {
  if (gridDim.y == 1)
    reduction.write(output, state);
  else
    pieces[blockIdx.y * outputs + output] = state;
}

/// One thread per output, which reads all its elements.
template <class R>
__global__ void reduce_naive(Strided<2> kept, Strided<2> reduced, const typename R::Element* x, R reduction) {
  const int64_t output = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (output >= kept.numel) return;
  int64_t offsets[2];
  kept.offsets(output, offsets);
  reduction.write(output, reduce_range(x + offsets[1], reduced, 0, reduced.numel, 1, reduction));
}

/// One block per output and piece (gridDim.y of them); neighbouring threads read neighbouring reduced
/// elements.
template <class R>
__global__ void reduce_block(Strided<2> kept, Strided<2> reduced, const typename R::Element* x,
                             typename R::State* pieces, R reduction) {
  const int64_t begin = reduced.numel * blockIdx.y / gridDim.y,
                end = reduced.numel * (blockIdx.y + 1) / gridDim.y;
  for (int64_t output = blockIdx.x; output < kept.numel; output += gridDim.x) {
    int64_t offsets[2];
    kept.offsets(output, offsets);
    auto state = reduce_range(x + offsets[1], reduced, begin + threadIdx.x, end, blockDim.x, reduction);
    state = block_reduce(state, reduction, reduction.none());
    if (threadIdx.x == 0) write_state(output, kept.numel, state, pieces, reduction);
  }
}

/// A block of 32 × kColumnRows threads takes 32 neighbouring outputs: thread (x, y) reads rows y, y +
/// kColumnRows, … of output x, so that a warp reads neighbouring elements.
template <class R>
__global__ void reduce_columns(Strided<2> kept, Strided<2> reduced, const typename R::Element* x,
                               typename R::State* pieces, R reduction) {
  __shared__ typename R::State of_row[kColumnRows][kWarp];
  const int64_t begin = reduced.numel * blockIdx.y / gridDim.y,
                end = reduced.numel * (blockIdx.y + 1) / gridDim.y;
  const int64_t output = int64_t(blockIdx.x) * kWarp + threadIdx.x;
  auto state = reduction.none();
  if (output < kept.numel) {
    int64_t offsets[2];
    kept.offsets(output, offsets);
    state = reduce_range(x + offsets[1], reduced, begin + threadIdx.y, end, kColumnRows, reduction);
  }
  of_row[threadIdx.y][threadIdx.x] = state;
  __syncthreads();
  if (threadIdx.y != 0 || output >= kept.numel) return;
  for (int row = 1; row < kColumnRows; ++row) state = reduction(state, of_row[row][threadIdx.x]);
  write_state(output, kept.numel, state, pieces, reduction);
}

/// One warp per output merges its pieces.
template <class R>
__global__ void reduce_pieces(int64_t outputs, int64_t splits, const typename R::State* pieces, R reduction) {
  const int64_t output = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
  if (output >= outputs) return;
  auto state = reduction.none();
  for (int64_t split = threadIdx.x % kWarp; split < splits; split += kWarp)
    state = reduction(state, pieces[split * outputs + output]);
  state = warp_reduce(state, reduction);
  if (threadIdx.x % kWarp == 0) reduction.write(output, state);
}

/// One thread per element of dx, any strides of dy and positions.
template <class T>
__global__ void extremum_gradient_naive(Strided<4> nest, const T* dy, const int64_t* positions, T* dx) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[4];
  nest.offsets(i, o);
  dx[o[0]] = positions[o[2]] == o[3] ? dy[o[1]] : static_cast<T>(0.f);
}

template <class R>
void launch_naive(const Call& call, const ReducePlan& plan, const R& reduction) {
  launch<reduce_naive<R>, independent>(stream_of(call), blocks_for(plan.kept.numel), kThreads, 0, plan.kept,
                                       plan.reduced, call.input(0).as<typename R::Element>(), reduction);
}

template <class R>
void launch_pieces(const Call& call, int64_t outputs, int64_t splits, const typename R::State* pieces,
                   const R& reduction) {
  if (splits > 1)
    launch<reduce_pieces<R>>(stream_of(call), blocks_for(outputs * kWarp), kThreads, 0, outputs, splits,
                             pieces, reduction);
}

template <class R>
typename R::State* workspace_for_pieces(const Call& call, int64_t outputs, int64_t splits) {
  return splits > 1 ? call.workspace<typename R::State>(outputs * splits) : nullptr;
}

template <class R>
void launch_block(const Call& call, const ReducePlan& plan, const R& reduction) {
  const int64_t outputs = plan.kept.numel;
  const unsigned blocks = unsigned(std::min<int64_t>(outputs, kMaxGridX));
  const int threads = plan.reduced.numel >= 8 * kThreads ? kThreads : 2 * kWarp;
  const int64_t splits = splits_for(blocks, plan.reduced.numel, threads);
  auto* pieces = workspace_for_pieces<R>(call, outputs, splits);
  launch<reduce_block<R>>(stream_of(call), dim3(blocks, unsigned(splits)), threads, 0, plan.kept,
                          plan.reduced, call.input(0).as<typename R::Element>(), pieces, reduction);
  launch_pieces(call, outputs, splits, pieces, reduction);
}

template <class R>
void launch_columns(const Call& call, const ReducePlan& plan, const R& reduction) {
  const int64_t outputs = plan.kept.numel;
  const unsigned blocks = blocks_for(outputs, kWarp);
  const int64_t splits = splits_for(blocks, plan.reduced.numel, kColumnRows);
  auto* pieces = workspace_for_pieces<R>(call, outputs, splits);
  launch<reduce_columns<R>>(stream_of(call), dim3(blocks, unsigned(splits)), dim3(kWarp, kColumnRows), 0,
                            plan.kept, plan.reduced, call.input(0).as<typename R::Element>(), pieces,
                            reduction);
  launch_pieces(call, outputs, splits, pieces, reduction);
}

enum class Ladder { naive, block, columns };

template <Ladder step, class R>
void launch_reduction(const Call& call, const ReducePlan& plan, const R& reduction) {
  if constexpr (step == Ladder::naive)
    launch_naive(call, plan, reduction);
  else if constexpr (step == Ladder::block)
    launch_block(call, plan, reduction);
  else
    launch_columns(call, plan, reduction);
}

ReducePlan plan_of(const Call& call, ReduceOrder order) {
  const TensorView& x = call.input(0);
  return make_reduce_plan(x, {call.options<ReduceOptions>().axes, x.shape.rank()}, order);
}

template <Ladder step, bool is_mean>
void run_sum(const Call& call) {
  const ReducePlan plan = plan_of(call, ReduceOrder::memory);
  auto run = [&](auto tag) {
    using R = SumOf<typename decltype(tag)::type>;
    R reduction;
    reduction.y = call.output().as<typename R::Result>();
    reduction.divisor = static_cast<typename R::Value>(is_mean ? plan.reduced.numel : 1);
    launch_reduction<step>(call, plan, reduction);
  };
  if constexpr (is_mean)
    with_floating_device_type(call.input(0).dtype, run);
  else
    with_device_type(call.input(0).dtype, run);
}

template <Ladder step>
void run_extremum(const Call& call, bool largest, void* values, const TensorView& positions) {
  const ReducePlan plan = plan_of(call, ReduceOrder::positions);
  with_numeric_device_type(call.input(0).dtype, [&](auto tag) {
    using R = ExtremumOf<typename decltype(tag)::type>;
    R reduction;
    reduction.largest = largest;
    reduction.values = static_cast<typename R::Element*>(values);
    reduction.positions = positions.as<int64_t>();
    launch_reduction<step>(call, plan, reduction);
  });
}

template <Ladder step>
void run_max(const Call& call) {
  run_extremum<step>(call, true, call.output(0).data, call.output(1));
}

template <Ladder step>
void run_min(const Call& call) {
  run_extremum<step>(call, false, call.output(0).data, call.output(1));
}

template <Ladder step>
void run_argmax(const Call& call) {
  run_extremum<step>(call, true, nullptr, call.output(0));
}

void run_extremum_gradient(const Call& call) {
  const ReducedAxes axes(call.options<ExtremumGradientOptions>().axes, call.output().shape.rank());
  const auto nest = make_extremum_gradient_nest(call.output(), call.input(0), call.input(1), axes);
  with_floating_device_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<extremum_gradient_naive<T>, independent>(stream_of(call), blocks_for(nest.numel), kThreads, 0,
                                                    nest, call.input(0).as<T>(), call.input(1).as<int64_t>(),
                                                    call.output().as<T>());
  });
}

bool takes_columns(const Call& call) { return reduces_columns(plan_of(call, ReduceOrder::memory)); }

/// A block pays when its threads have something to read.
bool takes_block(const Call& call) {
  return call.output().numel() > 0 && call.input(0).numel() / call.output().numel() >= kWarp;
}

void add_naive_and_block(Registry& registry, const char* op, void (*naive)(const Call&),
                         void (*block)(const Call&)) {
  add_variant(registry, op, {.name = "naive", .device = kDevice, .run = naive});
  add_variant(registry, op,
              {.name = "block", .device = kDevice, .run = block, .when = takes_block, .preference = 1});
}

/// Of sum they are rungs of a ladder; the others are variants of their own.
void add_rungs_of_sum(Registry& registry) {
  add_variant(registry, "sum",
              {.name = "naive",
               .device = kDevice,
               .run = run_sum<Ladder::naive, false>,
               .rung = 1,
               .idea = "a thread for each result reads all its elements"});
  add_variant(registry, "sum",
              {.name = "block",
               .device = kDevice,
               .run = run_sum<Ladder::block, false>,
               .when = takes_block,
               .preference = 1,
               .rung = 5,
               .idea = "few results are cut into pieces, which a second kernel adds up"});
}

void add_columns(Registry& registry, const char* op, void (*run)(const Call&)) {
  add_variant(registry, op,
              {.name = "columns", .device = kDevice, .run = run, .when = takes_columns, .preference = 2});
}

}  // namespace

void register_reduce_cuda_reduce(Registry& registry) {
  add_rungs_of_sum(registry);
  add_naive_and_block(registry, "mean", run_sum<Ladder::naive, true>, run_sum<Ladder::block, true>);
  add_columns(registry, "sum", run_sum<Ladder::columns, false>);
  add_columns(registry, "mean", run_sum<Ladder::columns, true>);
  add_naive_and_block(registry, "max", run_max<Ladder::naive>, run_max<Ladder::block>);
  add_naive_and_block(registry, "min", run_min<Ladder::naive>, run_min<Ladder::block>);
  add_naive_and_block(registry, "argmax", run_argmax<Ladder::naive>, run_argmax<Ladder::block>);
  add_variant(registry, "extremum_gradient",
              {.name = "naive", .device = kDevice, .run = run_extremum_gradient});
}

}  // namespace treadle::TREADLE_TARGET

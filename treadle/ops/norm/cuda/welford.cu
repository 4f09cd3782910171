/// layer_norm with mean and variance in one pass, by Welford's formula; a warp or, for long rows, a block for
/// each row.
///
/// Where a new element comes, the mean moves by its n-th share, and the sum of squares grows by the product
/// of its distances from the old mean and the new one: nothing large is subtracted from something large. Two
/// such states become one in the same way, so lanes can each take a part of the row. A row is read twice, not
/// three times; of rows that are longer than the caches a quarter of all traffic falls away. Welford, Note on
/// a Method for Calculating Corrected Sums of Squares and Products, 1962; Chan, Golub and LeVeque, Updating
/// Formulae and a Pairwise Algorithm for Computing Sample Variances, 1979.
#include "treadle/ops/norm/cuda/normalized_rows.cuh"

namespace treadle::TREADLE_TARGET {
namespace {

/// Of `count` elements; squares are those of the distances from the mean.
template <class C>
struct Moments {
  C count, mean, squares;
};

template <class C>
__device__ Moments<C> exchange_lanes(const Moments<C>& state, int lanes) {
  return {__shfl_xor_sync(0xffffffffu, state.count, lanes), __shfl_xor_sync(0xffffffffu, state.mean, lanes),
          __shfl_xor_sync(0xffffffffu, state.squares, lanes)};
}

/// A mean of means, weighted, and not the mean moved: so the order in which two lanes see the pair matters
/// least.
template <class C>
struct MergeMoments {
  __device__ Moments<C> operator()(const Moments<C>& a, const Moments<C>& b) const {
    const C count = a.count + b.count;
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const C distance = b.mean - a.mean;
    return {count, (a.count * a.mean + b.count * b.mean) / count,
            a.squares + b.squares + distance * distance * (a.count * b.count / count)};
  }
};

template <class Group, class T>
__global__ void layer_norm_welford(LayerNormOperands in) {
  using C = Compute<T>;
  const Group group;
  if (group.item() >= in.rows.numel) return;
  const LayerNormRow<T> x(in, group.item());
  Moments<C> state{0, 0, 0};
  for (int64_t i = group.rank(); i < in.length; i += group.size()) {
    const C distance = x.element(i) - state.mean;
    state.count += 1;
    state.mean += distance / state.count;
    state.squares += distance * (x.element(i) - state.mean);
  }
  state = group.reduce(state, MergeMoments<C>(), Moments<C>{0, 0, 0});
  const C deviation = x.deviation(state.squares);
  for (int64_t i = group.rank(); i < in.length; i += group.size()) x.write(i, state.mean, deviation);
}

template <class Group>
void run_by(const Call& call, const LayerNormOperands& in) {
  with_floating_device_type(call.output().dtype, [&](auto tag) {
    launch<layer_norm_welford<Group, typename decltype(tag)::type>>(
        stream_of(call), blocks_for(in.rows.numel, Group::kPerBlock), Group::kThreads, 0, in);
  });
}

constexpr int64_t kLongRow = 1024;  ///< 32 elements for each lane of a warp

void run(const Call& call) {
  const LayerNormOperands in = layer_norm_operands(call);
  if (in.length > kLongRow)
    run_by<BlockGroup>(call, in);
  else
    run_by<WarpGroup>(call, in);
}

/// A warp pays once a good part of its lanes have something to do.
bool takes(const Call& call) { return call.output().shape[-1] >= 8; }

}  // namespace

void register_norm_cuda_welford(Registry& registry) {
  add_variant(registry, "layer_norm",
              {.name = "welford",
               .device = kDevice,
               .run = run,
               .when = takes,
               .preference = 20,
               .rung = 3,
               .idea = "mean and variance in one pass: a row is read twice, not three times"});
}

}  // namespace treadle::TREADLE_TARGET

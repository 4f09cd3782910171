/// The cpu variant of mse.
#include <algorithm>

#include "treadle/graph/variant.h"
#include "treadle/ops/loss/loss_options.h"
#include "treadle/ops/strided_operands.h"

namespace treadle {
namespace {

constexpr double kElement = 0.25;  ///< nanoseconds
constexpr int64_t kPiece =
    4096;  ///< elements whose sum is one piece, the same whatever the number of threads

template <class T>
void write_terms(const Call& call) {
  using C = HostCompute<T>;
  const T *x = call.input(0).as<T>(), *target = call.input(1).as<T>();
  T* loss = call.output().as<T>();
  for_each_row(make_strided<3>(call.output(), call.inputs), Nanoseconds{kElement},
               [&](const auto& o, const auto& s, int64_t count) {
                 for (int64_t i = 0; i < count; ++i) {
                   const C difference = C(x[o[1] + i * s[1]]) - C(target[o[2] + i * s[2]]);
                   loss[o[0] + i * s[0]] = T(difference * difference);
                 }
               });
}

/// Σ (x - target)² along a run, eight sums side by side.
template <class T>
double sum_of_squares(const T* x, int64_t x_stride, const T* target, int64_t target_stride, int64_t count) {
  using C = HostCompute<T>;
  constexpr int kLanes = 8;
  C lanes[kLanes] = {};
  auto square = [&](int64_t i) {
    const C difference = C(x[i * x_stride]) - C(target[i * target_stride]);
    return difference * difference;
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int k = 0; k < kLanes; ++k) lanes[k] += square(i + k);
  for (; i < count; ++i) lanes[0] += square(i);
  double sum = 0;
  for (C lane : lanes) sum += double(lane);
  return sum;
}

template <class T>
double sum_piece(const Call& call, const Strided<2>& nest, int64_t begin, int64_t end) {
  const T *x = call.input(0).as<T>(), *target = call.input(1).as<T>();
  const int inner = nest.rank - 1;
  double sum = 0;
  while (begin < end) {
    int64_t o[2], count = std::min(end - begin, nest.shape[inner] - begin % nest.shape[inner]);
    nest.offsets(begin, o);
    sum += sum_of_squares(x + o[0], nest.strides[0][inner], target + o[1], nest.strides[1][inner], count);
    begin += count;
  }
  return sum;
}

template <class T>
void write_total(const Call& call, double divisor) {
  const TensorView &x = call.input(0), &target = call.input(1);
  const auto nest = make_strided<2>(x.shape, {x.strides, target.strides});
  const int64_t pieces = (nest.numel + kPiece - 1) / kPiece;
  double* sums = call.workspace<double>(pieces);
  parallel_for(pieces, Nanoseconds{kElement * kPiece}, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      sums[i] = sum_piece<T>(call, nest, i * kPiece, std::min((i + 1) * kPiece, nest.numel));
  });
  double sum = 0;
  for (int64_t i = 0; i < pieces; ++i) sum += sums[i];
  *call.output().as<T>() = T(sum / divisor);
}

void run(const Call& call) {
  const auto& options = call.options<LossOptions>();
  with_floating_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (options.keeps_terms())
      write_terms<T>(call);
    else
      write_total<T>(call, options.divisor(call.input(0).numel()));
  });
}

}  // namespace

namespace ops {

void register_loss_cpu_mse(Registry& registry) {
  add_variant(registry, "mse", {.name = "loop", .device = DeviceKind::cpu, .run = run});
}

}  // namespace ops
}  // namespace treadle

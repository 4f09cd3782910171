/// Reductions on the cpu device: along rows, several sums at once; down columns, whole rows added to one
/// another.
#include "treadle/graph/variant.h"
#include "treadle/kernels/reduction_functions.h"
#include "treadle/ops/reduce/reduce_options.h"
#include "treadle/ops/reduce/reduce_plan.h"

namespace treadle {
namespace {

/// Adding so many elements.
Nanoseconds sums(int64_t elements) { return {double(elements) / 16}; }
constexpr int64_t kBlock = 1024;  ///< elements summed in f32 before they join the total
constexpr int64_t kTile = 512;    ///< columns summed together
constexpr int64_t kMaxSplits =
    16;  ///< pieces of one output's elements, the same whatever the number of threads

/// What sums of T are collected in: one step wider than what they are summed in.
template <class T>
using Total = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
template <class T>
using Partial = std::conditional_t<std::is_integral_v<T>, int64_t, HostCompute<T>>;

template <class T>
using SumResult = std::conditional_t<std::is_integral_v<T>, int64_t, T>;

/// Calls run(offset, position, count) for the runs of [begin, end) along the innermost axis.
template <class Run>
void for_each_run(const Strided<2>& reduced, int64_t begin, int64_t end, Run run) {
  const int64_t extent = reduced.shape[reduced.rank - 1];
  while (begin < end) {
    int64_t offsets[2], count = std::min(end - begin, extent - begin % extent);
    reduced.offsets(begin, offsets);
    run(offsets[0], offsets[1], count);
    begin += count;
  }
}

/// Sixteen sums side by side, which the compiler keeps in vector registers.
template <class T>
Partial<T> sum_block(const T* x, int64_t count) {
  constexpr int kLanes = 16;
  Partial<T> lanes[kLanes] = {}, rest = 0;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int k = 0; k < kLanes; ++k) lanes[k] += Partial<T>(x[i + k]);
  for (; i < count; ++i) rest += Partial<T>(x[i]);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int k = 0; k < width; ++k) lanes[k] += lanes[k + width];
  return lanes[0] + rest;
}

template <class T>
Total<T> sum_run(const T* x, int64_t stride, int64_t count) {
  Total<T> total = 0;
  if (stride == 1) {
    for (int64_t i = 0; i < count; i += kBlock) total += sum_block(x + i, std::min(kBlock, count - i));
  } else {
    for (int64_t i = 0; i < count; ++i) total += Total<T>(Partial<T>(x[i * stride]));
  }
  return total;
}

/// Where results go: row-major outputs, each divided by `divisor`.
template <class T>
struct SumTarget {
  SumResult<T>* y;
  Total<T> divisor;
  void write(int64_t output, Total<T> total) const { y[output] = SumResult<T>(total / divisor); }
};

/// How many pieces each output's elements are cut into, so that few long sums still occupy all threads.
int64_t splits_for(int64_t items, int64_t elements_per_item, int64_t reduced) {
  if (items >= kMaxSplits || items * elements_per_item < 2 * items_worth_a_thread(sums(1))) return 1;
  return std::clamp<int64_t>(std::min(kMaxSplits / items, reduced), 1, kMaxSplits);
}

/// Runs sum_piece(item, begin, end, write) for every item and piece of its reduced elements, then adds the
/// pieces. `write(output, total)` takes the piece's sums.
template <class T, class SumPiece>
void sum_in_pieces(const Call& call, const ReducePlan& plan, int64_t items, int64_t width,
                   const SumTarget<T>& target, SumPiece sum_piece) {
  const int64_t reduced = plan.reduced.numel, outputs = plan.kept.numel, per_item = reduced * width;
  const Cut cut(reduced, splits_for(items, per_item, reduced));
  const int64_t splits = cut.parts();
  if (splits <= 1) {
    parallel_for(items, sums(per_item), [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item)
        sum_piece(item, 0, reduced, [&](int64_t output, Total<T> total) { target.write(output, total); });
    });
    return;
  }
  Total<T>* pieces = call.workspace<Total<T>>(splits * outputs);
  parallel_for(items * splits, sums(per_item / splits), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t split = i % splits;
      sum_piece(i / splits, cut[split].begin, cut[split].end,
                [&](int64_t output, Total<T> total) { pieces[split * outputs + output] = total; });
    }
  });
  for (int64_t output = 0; output < outputs; ++output)
    target.write(output, sum_run(pieces + output, outputs, splits));
}

/// One output after another.
template <class T>
void sum_rows(const Call& call, const ReducePlan& plan, const SumTarget<T>& target) {
  const T* x = call.input(0).as<T>();
  const int64_t stride = plan.reduced.strides[0][plan.reduced.rank - 1];
  sum_in_pieces<T>(call, plan, plan.kept.numel, 1, target,
                   [&](int64_t output, int64_t begin, int64_t end, auto write) {
                     int64_t offsets[2];
                     plan.kept.offsets(output, offsets);
                     Total<T> total = 0;
                     for_each_run(plan.reduced, begin, end, [&](int64_t offset, int64_t, int64_t count) {
                       total += sum_run(x + offsets[1] + offset, stride, count);
                     });
                     write(output, total);
                   });
}

/// sums[0…width) += the rows x, x + stride, …, four at a time.
template <class T>
void add_rows(const T* __restrict x, int64_t stride, int64_t rows, int64_t width,
              Partial<T>* __restrict sums) {
  using P = Partial<T>;
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4, x += 4 * stride)
    for (int64_t k = 0; k < width; ++k)
      sums[k] += (P(x[k]) + P(x[k + stride])) + (P(x[k + 2 * stride]) + P(x[k + 3 * stride]));
  for (; row < rows; ++row, x += stride)
    for (int64_t k = 0; k < width; ++k) sums[k] += P(x[k]);
}

/// Column sums of up to kTile neighbouring outputs over reduced elements [begin, end).
template <class T>
class ColumnTile {
 public:
  ColumnTile(const Strided<2>& reduced, const T* x, int64_t width) : reduced_(reduced), x_(x), width_(width) {
    std::fill_n(totals_, width, Total<T>(0));
  }

  const Total<T>* sum(int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; block += kBlock) add_block(block, std::min(block + kBlock, end));
    return totals_;
  }

 private:
  void add_block(int64_t begin, int64_t end) {
    std::fill_n(sums_, width_, Partial<T>(0));
    const int64_t stride = reduced_.strides[0][reduced_.rank - 1];
    for_each_run(reduced_, begin, end, [&](int64_t offset, int64_t, int64_t rows) {
      add_rows(x_ + offset, stride, rows, width_, sums_);
    });
    for (int64_t k = 0; k < width_; ++k) totals_[k] += Total<T>(sums_[k]);
  }

  const Strided<2>& reduced_;
  const T* x_;
  int64_t width_;
  Partial<T> sums_[kTile];
  Total<T> totals_[kTile];
};

/// Neighbouring outputs together: kept's innermost axis is contiguous in x.
template <class T>
void sum_columns(const Call& call, const ReducePlan& plan, const SumTarget<T>& target) {
  const T* x = call.input(0).as<T>();
  const int64_t width = plan.kept.shape[plan.kept.rank - 1], tiles = (width + kTile - 1) / kTile;
  sum_in_pieces<T>(call, plan, plan.kept.numel / width * tiles, std::min(width, kTile), target,
                   [&](int64_t item, int64_t begin, int64_t end, auto write) {
                     const int64_t first = item % tiles * kTile, count = std::min(kTile, width - first);
                     const int64_t output = item / tiles * width + first;
                     int64_t offsets[2];
                     plan.kept.offsets(output, offsets);
                     ColumnTile<T> tile(plan.reduced, x + offsets[1], count);
                     const Total<T>* totals = tile.sum(begin, end);
                     for (int64_t k = 0; k < count; ++k) write(output + k, totals[k]);
                   });
}

ReducedAxes axes_of(const Call& call) {
  return {call.options<ReduceOptions>().axes, call.input(0).shape.rank()};
}

ReducePlan memory_plan(const Call& call) {
  return make_reduce_plan(call.input(0), axes_of(call), ReduceOrder::memory);
}

bool takes_columns(const Call& call) { return reduces_columns(memory_plan(call)); }

template <bool is_mean, bool columns>
void run_sum(const Call& call) {
  const ReducePlan plan = memory_plan(call);
  auto run = [&](auto tag) {
    using T = typename decltype(tag)::type;
    const SumTarget<T> target{call.output().as<SumResult<T>>(), Total<T>(is_mean ? plan.reduced.numel : 1)};
    if constexpr (columns)
      sum_columns<T>(call, plan, target);
    else
      sum_rows<T>(call, plan, target);
  };
  if constexpr (is_mean)
    with_floating_type(call.input(0).dtype, run);
  else
    with_type(call.input(0).dtype, run);
}

/// The first extremum of one output's elements, which come by rising position.
template <class T>
Extremum<HostCompute<T>> find_extremum(const T* x, const Strided<2>& reduced, bool largest) {
  using C = HostCompute<T>;
  const int inner = reduced.rank - 1;
  const int64_t stride = reduced.strides[0][inner], position_stride = reduced.strides[1][inner];
  Extremum<C> best{C(x[0]), 0};
  for_each_run(reduced, 0, reduced.numel, [&](int64_t offset, int64_t position, int64_t count) {
    for (int64_t i = 0; i < count && best.value == best.value; ++i) {
      const C value = C(x[offset + i * stride]);
      const bool better = largest ? value > best.value : value < best.value;
      if (better || value != value) best = {value, position + i * position_stride};
    }
  });
  return best;
}

/// Writes the extrema to `values` (may be null) and where they were found to `positions`.
template <class T>
void run_extremum(const Call& call, bool largest, T* values, int64_t* positions) {
  const ReducePlan plan = make_reduce_plan(call.input(0), axes_of(call), ReduceOrder::positions);
  const T* x = call.input(0).as<T>();
  parallel_for(plan.kept.numel, sums(plan.reduced.numel), [&](int64_t begin, int64_t end) {
    for (int64_t output = begin; output < end; ++output) {
      int64_t offsets[2];
      plan.kept.offsets(output, offsets);
      const auto best = find_extremum(x + offsets[1], plan.reduced, largest);
      if (values) values[output] = T(best.value);
      positions[output] = best.position;
    }
  });
}

template <bool largest>
void run_values(const Call& call) {
  with_numeric_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    run_extremum<T>(call, largest, call.output(0).as<T>(), call.output(1).as<int64_t>());
  });
}

void run_argmax(const Call& call) {
  with_numeric_type(call.input(0).dtype, [&](auto tag) {
    run_extremum<typename decltype(tag)::type>(call, true, nullptr, call.output().as<int64_t>());
  });
}

void run_extremum_gradient(const Call& call) {
  const ReducedAxes axes(call.options<ExtremumGradientOptions>().axes, call.output().shape.rank());
  const auto nest = make_extremum_gradient_nest(call.output(), call.input(0), call.input(1), axes);
  with_floating_type(call.input(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* dx = call.output().as<T>();
    const T* dy = call.input(0).as<T>();
    const int64_t* positions = call.input(1).as<int64_t>();
    for_each_row(nest, sums(1), [&](const auto& o, const auto& s, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        dx[o[0] + i * s[0]] = positions[o[2] + i * s[2]] == o[3] + i * s[3] ? dy[o[1] + i * s[1]] : T(0);
    });
  });
}

}  // namespace

namespace ops {

void register_reduce_cpu_reduce(Registry& registry) {
  auto add = [&](const char* op, const char* name, void (*run)(const Call&)) {
    add_variant(registry, op, {.name = name, .device = DeviceKind::cpu, .run = run});
  };
  auto add_columns = [&](const char* op, void (*run)(const Call&)) {
    add_variant(
        registry, op,
        {.name = "columns", .device = DeviceKind::cpu, .run = run, .when = takes_columns, .preference = 1});
  };
  add("sum", "loop", run_sum<false, false>);
  add("mean", "loop", run_sum<true, false>);
  add_columns("sum", run_sum<false, true>);
  add_columns("mean", run_sum<true, true>);
  add("max", "loop", run_values<true>);
  add("min", "loop", run_values<false>);
  add("argmax", "loop", run_argmax);
  add("extremum_gradient", "loop", run_extremum_gradient);
}

}  // namespace ops
}  // namespace treadle

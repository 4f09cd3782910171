/// Steps over the channels of x [N, C, …], of which the bodies of batch normalisation's ops are made, in
/// terms of other ops.
#pragma once

#include <array>

#include "treadle/graph/composition.h"
#include "treadle/ops/layout/declaration/convert.h"
#include "treadle/ops/norm/batch_norm_options.h"
#include "treadle/ops/norm/channels.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/reduce/reduce_options.h"

namespace treadle {

class ChannelSteps {
 public:
  /// All computed in `dtype`: the wide_dtype() of x, in which mean and variance are kept, too.
  ChannelSteps(const Composition& call, const Shape& x, DType dtype)
      : call_(call), x_(x), dtype_(dtype), channels_(channels_of(x)) {}

  /// The operand itself where it has that dtype, else a copy.
  TensorView exact(const TensorView& operand) const { return as_dtype(call_, operand, dtype_); }
  TensorView exact(int input) const {
    return call_.has_input(input) ? exact(call_.input(input)) : TensorView{};
  }
  TensorView exact_target(const TensorView& output) const {
    return treadle::exact_target(call_, output, dtype_);
  }
  void deliver(const TensorView& made, const TensorView& output) const {
    treadle::deliver(call_, made, output);
  }
  TensorView scratch_like(const TensorView& view) const { return treadle::scratch_like(call_, view, dtype_); }
  TensorView scratch_of_channels() const { return call_.scratch({x_[1]}, dtype_); }
  /// [C] as it broadcasts along x.
  TensorView along(const TensorView& of_channels) const {
    TensorView view = of_channels;
    view.shape = channels_;
    view.strides = contiguous_strides(channels_);
    view.strides[0] = of_channels.strides[0];
    return view;
  }
  TensorView number(double value) const { return treadle::number(call_, value, dtype_); }

  /// [N, C, …] → [C].
  void mean(const TensorView& x, const TensorView& of_channels) const {
    call_.run(mean_op(), {x}, {of_channels}, over_channels());
  }
  void sum(const TensorView& x, const TensorView& of_channels) const {
    call_.run(sum_op(), {x}, {of_channels}, over_channels());
  }
  /// √(variance + ε).
  TensorView deviation(const TensorView& variance, double epsilon) const {
    const TensorView result = scratch_of_channels();
    call_.run(add_op(), {variance, number(epsilon)}, {result});
    call_.run(sqrt_op(), {result}, {result});
    return result;
  }
  /// y = y / √(variance + ε) · w + b + residual, then ReLU, with the call's operands from number `w` on.
  void finish(const TensorView& y, const TensorView& variance, int w, const BatchNormOptions& options) const {
    call_.run(div_op(), {y, along(deviation(variance, options.epsilon))}, {y});
    if (call_.has_input(w)) call_.run(mul_op(), {y, along(exact(w))}, {y});
    if (call_.has_input(w + 1)) call_.run(add_op(), {y, along(exact(w + 1))}, {y});
    if (call_.has_input(w + 2)) call_.run(add_op(), {y, exact(w + 2)}, {y});
    if (options.relu) call_.run(relu_op(), {y}, {y});
  }

 private:
  /// The same for every call of a rank: replays allocate nothing.
  const Attributes& over_channels() const {
    static const auto of_ranks = [] {
      std::array<Attributes, kMaxRank + 1> all;
      for (int rank = 2; rank <= kMaxRank; ++rank)
        all[size_t(rank)] = Attributes::of(ReduceOptions{.axes = axes_but_channels(Dims::filled(rank, 1))});
      return all;
    }();
    return of_ranks[size_t(x_.rank())];
  }

  const Composition& call_;
  const Shape& x_;
  DType dtype_;
  Shape channels_;
};

}  // namespace treadle

/// The gradients of conv2d_max_pool2d on the cpu device in two steps: the pooled gradient goes to its places
/// of the convolution's result, then comes conv2d's gradient by one of its own variants, or by oneDNN; f32.
/// Its time does not depend on how many gradients are 0. Unlike variants that leave those out, it has 0 · ∞ =
/// NaN as conv2d's gradients have.
#include <array>

#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/tasks.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/two_steps.h"
#include "treadle/simd/instruction_sets.h"

namespace treadle {
namespace {

using two_steps::kPlace;
using two_steps::WindowTaps;

bool windows_overlap(int64_t taps, int64_t stride) { return taps > stride; }

/// The pooled gradient and the choices: any strides.
struct Pooled {
  TensorView dy, choice;

  bool channels_last() const { return dy.channels_last() && choice.channels_last(); }
  Pooled images(int64_t first, int64_t count) const {
    return {two_steps::images_of(dy, first, count), two_steps::images_of(choice, first, count)};
  }
};

/// result = the gradient of the convolution's result.
class Scatter {
 public:
  /// Scratch memory: the places of a window, for each part.
  struct Scratch {
    int64_t parts;
    int32_t* places;

    Scratch(const Call& call, const Conv2dMaxPool2dGeometry& g)
        : parts(num_threads()), places(call.workspace<int32_t>(parts * g.conv.K)) {}
  };

  Scatter(const Pooled& pooled, const TensorView& result, const Pool2dGeometry& pool, const Scratch& scratch)
      : g_(pool),
        choices_(make_operand4(pooled.choice)),
        rows_(whole_rows(g_)),
        columns_(whole_columns(g_)),
        result_(result.as<float>()),
        dy_(pooled.dy.as<float>()),
        choice_(pooled.choice.as<uint8_t>()),
        scratch_(scratch) {
    constexpr int64_t kVector = 8;  // with fewer channels the row kernel has none
    in_rows_ = pooled.channels_last() && !result.contiguous() && g_.C >= kVector;
    channels_last_ = !result.contiguous();
    for (int64_t place = 0; place < g_.R * g_.S; ++place)
      offsets_[place] = g_.x.at(0, 0, place / g_.S, place % g_.S);
  }

  /// Images, or where no row of the result belongs to windows of two rows, rows of windows.
  void run() const {
    const bool by_rows = !windows_overlap(g_.R, g_.stride.height);
    const int64_t steps = by_rows ? g_.P : 1, items = g_.N * steps;
    const int64_t work = items * g_.P / steps * g_.Q * g_.C * g_.R * g_.S;
    for_each_part(std::min(parts_worth(work, Nanoseconds{kPlace}), scratch_.parts), items,
                  [&](int64_t part, int64_t first, int64_t last) {
                    WindowTaps<float*> taps(g_);
                    for (int64_t i = first; i < last; ++i) {
                      const int64_t n = i / steps, p = by_rows ? i % steps : 0, end = by_rows ? p + 1 : g_.P;
                      clear(n, p, end);
                      for (int64_t row = p; row < end; ++row)
                        if (in_rows_)
                          add_channels(taps, n, row, scratch_.places + part * g_.C);
                        else
                          for (int64_t k = 0; k < g_.C; ++k) add_windows(n, k, row);
                    }
                  });
  }

 private:
  /// The result's row that the windows of row p begin with; the first and the last have what is left.
  int64_t first_row(int64_t p) const {
    return p == 0 ? 0 : p == g_.P ? g_.H : std::clamp<int64_t>(g_.row(p, 0), 0, g_.H);
  }
  /// The rows of windows [p, end).
  void clear(int64_t n, int64_t p, int64_t end) const {
    const int64_t begin = first_row(p), rows = first_row(end) - begin;
    if (channels_last_) {
      std::fill_n(result_ + g_.x.at(n, 0, begin, 0), rows * g_.W * g_.C, 0.0f);
      return;
    }
    for (int64_t k = 0; k < g_.C; ++k) std::fill_n(result_ + g_.x.at(n, k, begin, 0), rows * g_.W, 0.0f);
  }
  /// Window by window, all channels at once.
  void add_channels(WindowTaps<float*>& taps, int64_t n, int64_t p, int32_t* places) const {
    for (int64_t q = 0; q < g_.Q; ++q) {
      const int64_t at = ((n * g_.P + p) * g_.Q + q) * g_.C;
      std::copy_n(choice_ + at, g_.C, places);
      taps.gather(result_ + g_.x.at(n, 0, 0, 0), p, q);
      cpu::add_at_argmax(taps.taps(1), 1, g_.C, dy_ + at, places);
    }
  }
  /// Row p of plane (n, k), window by window; most lie inside.
  void add_windows(int64_t n, int64_t k, int64_t p) const {
    float* plane = result_ + g_.x.at(n, k, 0, 0);
    const float* dy = dy_ + g_.y.at(n, k, p, 0);
    const uint8_t* choice = choice_ + choices_.at(n, k, p, 0);
    const int64_t dy_step = g_.y.strides[3], choice_step = choices_.strides[3];
    auto edge = [&](int64_t begin, int64_t end) {
      for (int64_t q = begin; q < end; ++q) {
        const ChosenPlace place = chosen_place(g_, p, q, choice[q * choice_step]);
        if (place.row >= 0) plane[g_.x.at(0, 0, place.row, place.column)] += dy[q * dy_step];
      }
    };
    const bool inside = p >= rows_.begin && p < rows_.end;
    const int64_t begin = inside ? columns_.begin : g_.Q, end = inside ? columns_.end : g_.Q;
    edge(0, begin);
    float none = 0;  // where what chose nothing goes, without a branch
    const int64_t step = g_.stride.width * g_.x.strides[3], taps = g_.R * g_.S;
    float* window = inside ? plane + g_.x.at(0, 0, g_.row(p, 0), g_.column(begin, 0)) : plane;
    for (int64_t q = begin; q < end; ++q, window += step) {
      const uint8_t place = choice[q * choice_step];
      float* to = place < taps ? window + offsets_[place] : &none;
      *to += dy[q * dy_step];
    }
    edge(end, g_.Q);
  }

  const Pool2dGeometry g_;
  const Operand4 choices_;
  const WindowRange rows_, columns_;  ///< of windows that lie inside
  float* result_;
  const float* dy_;
  const uint8_t* choice_;
  const Scratch scratch_;
  bool in_rows_, channels_last_;
  int64_t offsets_[256] = {};  ///< of a place from its window's first
};

TREADLE_ALWAYS_INLINE void add_chosen_any(const float* dy, const uint8_t* choice, int64_t count, int places,
                                          float* sums) {
  for (int64_t k = 0; k < count; ++k) sums[k] += choice[k] < places ? dy[k] : 0.0f;
}
TREADLE_AVX2 void add_chosen_avx2(const float* dy, const uint8_t* choice, int64_t count, int places,
                                  float* sums) {
  add_chosen_any(dy, choice, count, places, sums);
}
/// sums[k] += dy[k] where a place was chosen.
void add_chosen(const float* dy, const uint8_t* choice, int64_t count, int places, float* sums) {
  if (has_avx2())
    add_chosen_avx2(dy, choice, count, places, sums);
  else
    add_chosen_any(dy, choice, count, places, sums);
}

/// db [K]: sums over the windows that chose a place.
class BiasGradient {
 public:
  BiasGradient(const Call& call, const Pooled& pooled, const Pool2dGeometry& pool)
      : g_(pool),
        choices_(make_operand4(pooled.choice)),
        rows_(whole_rows(g_)),
        columns_(whole_columns(g_)),
        channels_last_(pooled.channels_last()),
        dy_(pooled.dy.as<float>()),
        choice_(pooled.choice.as<uint8_t>()),
        sums_(call.workspace<float>(g_.N * g_.C)) {}

  void run(const TensorView& db) const {
    const Nanoseconds image{kPlace * double(g_.P * g_.Q * g_.C)};
    parallel_for(g_.N, image, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) sum_image(n, sums_ + n * g_.C);
    });
    for (int64_t k = 0; k < g_.C; ++k) {
      float sum = 0;
      for (int64_t n = 0; n < g_.N; ++n) sum += sums_[n * g_.C + k];
      db.as<float>()[k * db.strides[0]] = sum;
    }
  }

 private:
  void sum_image(int64_t n, float* sums) const {
    std::fill_n(sums, g_.C, 0.0f);
    for (int64_t p = 0; p < g_.P; ++p) {
      const bool inside = p >= rows_.begin && p < rows_.end;
      const int64_t begin = inside ? columns_.begin : g_.Q, end = inside ? columns_.end : g_.Q;
      add_edge(n, p, 0, begin, sums);
      if (channels_last_)
        for (int64_t q = begin; q < end; ++q)
          add_chosen(dy_ + g_.y.at(n, 0, p, q), choice_ + choices_.at(n, 0, p, q), g_.C, places(), sums);
      else
        add_planes(n, p, {begin, end}, sums);
      add_edge(n, p, end, g_.Q, sums);
    }
  }
  int places() const { return int(g_.R * g_.S); }
  /// Windows that stick out: a choice may name a place outside.
  void add_edge(int64_t n, int64_t p, int64_t begin, int64_t end, float* sums) const {
    for (int64_t q = begin; q < end; ++q)
      for (int64_t k = 0; k < g_.C; ++k)
        if (chosen_place(g_, p, q, choice_[choices_.at(n, k, p, q)]).row >= 0)
          sums[k] += dy_[g_.y.at(n, k, p, q)];
  }
  void add_planes(int64_t n, int64_t p, const WindowRange& windows, float* sums) const {
    for (int64_t k = 0; k < g_.C; ++k) {
      const float* dy = dy_ + g_.y.at(n, k, p, 0);
      const uint8_t* choice = choice_ + choices_.at(n, k, p, 0);
      for (int64_t q = windows.begin; q < windows.end; ++q)
        sums[k] += choice[q * choices_.strides[3]] < places() ? dy[q * g_.y.strides[3]] : 0.0f;
    }
  }

  const Pool2dGeometry g_;
  const Operand4 choices_;
  const WindowRange rows_, columns_;
  bool channels_last_;
  const float* dy_;
  const uint8_t* choice_;
  float* sums_;  ///< [N][K]
};

/// Scatter, then conv2d_input_gradient.
class InputGradientSteps {
 public:
  InputGradientSteps(const Call& call, Engine engine)
      : call_(call),
        options_(call.options<Conv2dMaxPool2dInputGradientOptions>()),
        pooled_{call.input(0), call.input(1)},
        w_(call.input(2)),
        dx_(call.output()),
        g_(make_conv2d_max_pool2d_geometry(dx_, w_, pooled_.dy, options_)),
        channels_last_(two_steps::wants_channels_last(dx_, pooled_.dy)),
        conv_(conv2d_input_gradient_op(), call, std::array{result_of(g_.conv.N, nullptr), w_}, dx_,
              two_steps::attributes_of(
                  Conv2dInputGradientOptions{options_, options_.input_size, options_.channels_last}),
              engine) {}

  explicit operator bool() const { return bool(conv_); }

  void run() const {
    const int64_t step = conv_.images_at_a_time(g_);
    float* data = call_.workspace<float>(step * g_.conv.K * g_.conv.P * g_.conv.Q);
    const Scatter::Scratch scratch(call_, g_);
    for (int64_t n = 0; n < g_.conv.N; n += step) {
      const int64_t count = std::min(step, g_.conv.N - n);
      const TensorView result = result_of(count, data);
      const Pooled part = pooled_.images(n, count);
      Scatter(part, result, two_steps::pool_over(result, part.dy, options_), scratch).run();
      conv_.run(std::array{result, w_}, two_steps::images_of(dx_, n, count));
    }
  }

 private:
  TensorView result_of(int64_t images, float* data) const {
    return two_steps::result_at(data, g_, images, channels_last_);
  }

  const Call& call_;
  const Conv2dMaxPool2dInputGradientOptions& options_;
  const Pooled pooled_;
  const TensorView &w_, &dx_;
  const Conv2dMaxPool2dGeometry g_;
  const bool channels_last_;
  const two_steps::Nested conv_;
};

/// Scatter, then conv2d_weight_gradient, and the bias's gradient from the pooled one.
class WeightGradientSteps {
 public:
  WeightGradientSteps(const Call& call, Engine engine)
      : call_(call),
        options_(call.options<Conv2dMaxPool2dWeightGradientOptions>()),
        x_(call.input(0)),
        pooled_{call.input(1), call.input(2)},
        g_(make_conv2d_max_pool2d_geometry(x_, call.output(), pooled_.dy, options_)),
        conv_(conv2d_weight_gradient_op(), call, std::array{x_, result_of(nullptr)}, call.output(),
              two_steps::attributes_of(Conv2dWeightGradientOptions{options_, options_.kernel_size}), engine) {
  }

  explicit operator bool() const { return bool(conv_); }

  void run() const {
    const TensorView result = result_of(call_.workspace<float>(g_.conv.y.numel()));
    const Pool2dGeometry pool = two_steps::pool_over(result, pooled_.dy, options_);
    Scatter(pooled_, result, pool, Scatter::Scratch(call_, g_)).run();
    conv_.run(std::array{x_, result}, call_.output());
    BiasGradient(call_, pooled_, pool).run(call_.output(1));
  }

 private:
  TensorView result_of(float* data) const {
    return two_steps::result_at(data, g_, g_.conv.N, two_steps::wants_channels_last(x_, pooled_.dy));
  }

  const Call& call_;
  const Conv2dMaxPool2dWeightGradientOptions& options_;
  const TensorView& x_;
  const Pooled pooled_;
  const Conv2dMaxPool2dGeometry g_;
  const two_steps::Nested conv_;
};

bool takes(const Call& call) { return call.input(0).dtype == DType::f32; }

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_cpu_two_steps_gradient(Registry& registry) {
  two_steps::add_variants<InputGradientSteps, takes>(registry, "conv2d_max_pool2d_input_gradient");
  two_steps::add_variants<WeightGradientSteps, takes>(registry, "conv2d_max_pool2d_weight_gradient");
}

}  // namespace ops
}  // namespace treadle

/// conv2d_max_pool2d on the cpu device in two steps: conv2d by one of its own variants, or by oneDNN, then
/// pooling and ReLU; f32.
#include <array>
#include <limits>

#include "treadle/ops/conv2d/conv2d.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/tasks.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/two_steps.h"
#include "treadle/simd/instruction_sets.h"

namespace treadle {
namespace {

using two_steps::kPlace;
using two_steps::WindowTaps;

/// The largest values and their places of windows side by side; no place where a window is empty: −1.
struct Line {
  float* values;
  int32_t* places;
};

void fill_empty(const Line& line, int64_t count) {
  std::fill_n(line.values, count, -std::numeric_limits<float>::infinity());
  std::fill_n(line.places, count, -1);
}

void take_largest(const WindowTaps<const float*>& taps, int64_t step, int64_t count, const Line& line) {
  if (taps.empty())
    fill_empty(line, count);
  else
    cpu::max_of_taps(taps.taps(step), count, line.values, line.places);
}

/// ReLU, and the choice as a byte; `choice` may be null.
TREADLE_ALWAYS_INLINE void close_any(const Line& line, int64_t count, bool relu, float* y, uint8_t* choice) {
  for (int64_t i = 0; i < count; ++i) {
    const float value = line.values[i];
    const bool closed = relu & !(value > 0);
    y[i] = (closed & (value == value)) ? 0 : value;
  }
  if (!choice) return;
  for (int64_t i = 0; i < count; ++i) {
    const bool closed = relu & !(line.values[i] > 0);
    choice[i] = uint8_t(line.places[i] | -int32_t(closed));  // kNoChoice has all bits
  }
}
static_assert(kNoChoice == 255);

TREADLE_AVX2 void close_avx2(const Line& line, int64_t count, bool relu, float* y, uint8_t* choice) {
  close_any(line, count, relu, y, choice);
}
void close(const Line& line, int64_t count, bool relu, float* y, uint8_t* choice) {
  if (has_avx2())
    close_avx2(line, count, relu, y, choice);
  else
    close_any(line, count, relu, y, choice);
}

/// Memory for lines: for each part their values and places, and their results where layouts differ.
struct Lines {
  int64_t parts, windows;  ///< windows of a line
  float* values;
  int32_t* places;
  uint8_t* choices;

  Lines(const Call& call, int64_t most_windows)
      : parts(num_threads()),
        windows(most_windows),
        values(call.workspace<float>(2 * parts * windows)),
        places(call.workspace<int32_t>(parts * windows)),
        choices(call.workspace<uint8_t>(parts * windows)) {}
};

/// What is pooled into: some images of the outputs; `choice` may be undefined.
struct Outputs {
  TensorView y, choice;
};

/// Pooling of a result that lies channels-last or row-major, into results that lie either way.
class Pooling {
 public:
  Pooling(const Conv2dMaxPool2dOptions& options, const TensorView& result, const Outputs& out,
          const Lines& lines)
      : g_(two_steps::pool_over(result, out.y, options)),
        columns_(whole_columns(g_)),
        relu_(options.relu),
        channels_last_(!result.contiguous()),
        same_layout_(channels_last_ ? out.y.channels_last() : out.y.contiguous()),
        lines_(g_.N * g_.P * (channels_last_ ? 1 : g_.C)),
        windows_(g_.Q * (channels_last_ ? g_.C : 1)),
        parts_(std::min(parts_worth(lines_ * windows_ * g_.R * g_.S, Nanoseconds{kPlace}), lines.parts)),
        x_(result.as<float>()),
        y_(out.y.as<float>()),
        values_(lines.values),
        choice_(out.choice.as<uint8_t>()),
        choices_(lines.choices),
        places_(lines.places) {}

  void run() const {
    for_each_part(parts_, lines_, [&](int64_t part, int64_t first, int64_t last) {
      WindowTaps<const float*> taps(g_);
      const Line line{values_ + 2 * part * windows_, places_ + part * windows_};
      for (int64_t i = first; i < last; ++i) {
        if (channels_last_)
          channels_line(taps, i, line);
        else
          plane_line(taps, i, line);
        finish(line, i, part);
      }
    });
  }

 private:
  /// Row i % P of image i / P: window by window, all channels at once.
  void channels_line(WindowTaps<const float*>& taps, int64_t i, Line line) const {
    for (int64_t q = 0; q < g_.Q; ++q) {
      taps.gather(x_ + i / g_.P * g_.x.strides[0], i % g_.P, q);
      take_largest(taps, 1, g_.C, line);
      line.values += g_.C, line.places += g_.C;
    }
  }
  /// Row i % P of plane i / P; windows that stick out at the sides one by one.
  void plane_line(WindowTaps<const float*>& taps, int64_t i, const Line& line) const {
    const float* plane = x_ + g_.x.at(i / g_.P / g_.C, i / g_.P % g_.C, 0, 0);
    auto windows = [&](int64_t q, int64_t count) {
      taps.gather(plane, i % g_.P, q);
      take_largest(taps, g_.stride.width, count, {line.values + q, line.places + q});
    };
    for (int64_t q = 0; q < columns_.begin; ++q) windows(q, 1);
    if (columns_.end > columns_.begin) windows(columns_.begin, columns_.end - columns_.begin);
    for (int64_t q = columns_.end; q < g_.Q; ++q) windows(q, 1);
  }
  void finish(const Line& line, int64_t i, int64_t part) const {
    if (same_layout_) {
      close(line, windows_, relu_, y_ + i * windows_, choice_ ? choice_ + i * windows_ : nullptr);
      return;
    }
    float* y = line.values + windows_;
    uint8_t* choice = choices_ + part * windows_;
    close(line, windows_, relu_, y, choice);
    for (int64_t k = 0; k < windows_ / g_.Q; ++k)
      for (int64_t q = 0; q < g_.Q; ++q) {
        const int64_t from = channels_last_ ? q * g_.C + k : q;
        const int64_t to = place_of(i, k) + q * g_.y.strides[3];
        y_[to] = y[from];
        if (choice_) choice_[to] = choice[from];
      }
  }
  /// Of the first window of channel k of line i.
  int64_t place_of(int64_t i, int64_t k) const {
    const int64_t image = i / g_.P;
    return channels_last_ ? g_.y.at(image, k, i % g_.P, 0) : g_.y.at(image / g_.C, image % g_.C, i % g_.P, 0);
  }

  const Pool2dGeometry g_;
  const WindowRange columns_;  ///< windows of a row that lie inside
  bool relu_, channels_last_, same_layout_;
  int64_t lines_, windows_, parts_;  ///< windows of a line
  const float* x_;
  float *y_, *values_;
  uint8_t *choice_, *choices_;
  int32_t* places_;
};

/// conv2d, then pooling.
class Steps {
 public:
  Steps(const Call& call, Engine engine)
      : call_(call),
        options_(call.options<Conv2dMaxPool2dOptions>()),
        g_(geometry_of(call)),
        channels_last_(two_steps::wants_channels_last(call.input(0), call.output())),
        b_(call.has_input(2) ? call.input(2) : TensorView{}),
        conv_(conv2d_op(), call, std::array{call.input(0), call.input(1), b_}, result_of(g_.conv.N, nullptr),
              two_steps::attributes_of<Conv2dOptions>(options_), engine) {}

  explicit operator bool() const { return bool(conv_); }

  void run() const {
    const int64_t step = conv_.images_at_a_time(g_);
    float* data = call_.workspace<float>(step * g_.conv.K * g_.conv.P * g_.conv.Q);
    const Lines lines(call_, g_.pool.Q * (channels_last_ ? g_.conv.K : 1));
    for (int64_t n = 0; n < g_.conv.N; n += step) {
      const int64_t count = std::min(step, g_.conv.N - n);
      auto images = [&](const TensorView& view) { return two_steps::images_of(view, n, count); };
      const TensorView result = result_of(count, data);
      conv_.run(std::array{images(call_.input(0)), call_.input(1), b_}, result);
      const TensorView choice = call_.outputs.size() > 1 ? images(call_.output(1)) : TensorView{};
      Pooling(options_, result, {images(call_.output()), choice}, lines).run();
    }
  }

 private:
  TensorView result_of(int64_t images, float* data) const {
    return two_steps::result_at(data, g_, images, channels_last_);
  }

  const Call& call_;
  const Conv2dMaxPool2dOptions& options_;
  const Conv2dMaxPool2dGeometry g_;
  const bool channels_last_;
  const TensorView b_;
  const two_steps::Nested conv_;
};

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_cpu_two_steps_forward(Registry& registry) {
  two_steps::add_variants<Steps, has_plain_output>(registry, "conv2d_max_pool2d");
}

}  // namespace ops
}  // namespace treadle

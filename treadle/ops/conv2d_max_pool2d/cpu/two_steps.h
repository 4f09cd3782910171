/// What the variants of conv2d_max_pool2d and its gradients share that go in two steps: the convolution's
/// result lies in memory, and pooling windows are laid over it.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "treadle/core/parallel_for.h"
#include "treadle/graph/select.h"
#include "treadle/graph/settings.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d_geometry.h"
#include "treadle/ops/pool2d/cpu/pool_rows.h"

namespace treadle::two_steps {

/// Whether the result next to `image` (x or dx) is to lie channels-last: as the image does, so that no
/// convolution copies it; where the image lies both ways, as `pooled` does.
inline bool wants_channels_last(const TensorView& image, const TensorView& pooled) {
  return image.channels_last() && (!image.contiguous() || pooled.channels_last());
}

/// The convolution's result, or its gradient, of some images: [images,K,P,Q].
inline TensorView result_at(float* data, const Conv2dMaxPool2dGeometry& g, int64_t images,
                            bool channels_last) {
  const int64_t* extents = g.conv.y.extents;
  const Shape shape{images, extents[1], extents[2], extents[3]};
  return {data, DType::f32, shape, channels_last ? channels_last_strides(shape) : contiguous_strides(shape)};
}

/// Images [first, first + count).
inline TensorView images_of(const TensorView& view, int64_t first, int64_t count) {
  TensorView part = view;
  if (part.data) part.data = view.as<std::byte>() + first * view.strides[0] * int64_t(size_of(view.dtype));
  part.shape[0] = count;
  return part;
}

/// The same windows over a result that lies in memory.
inline Pool2dGeometry pool_over(const TensorView& result, const TensorView& pooled,
                                const Conv2dMaxPool2dOptions& o) {
  return make_pool2d_geometry(result, pooled, o.pool_kernel, o.pool_stride, o.pool_padding, 1);
}

/// An options struct as numbers.
template <class Options>
class OptionsKey {
 public:
  using Key = std::array<int64_t, 16>;
  static Key of(const Options& options) {
    OptionsKey fields(options);
    Options::describe(fields);
    return fields.key_;
  }
  template <class Member>
  void operator()(const char*, Member member, const char*) {
    add(options_.*member);
  }

 private:
  explicit OptionsKey(const Options& options) : options_(options) {}
  void add(int64_t value) { key_.at(size_t(count_++)) = value; }
  void add(const Pair& pair) { add(pair.height), add(pair.width); }
  void add(const Pads& pads) { add(pads.top), add(pads.left), add(pads.bottom), add(pads.right); }

  const Options& options_;
  Key key_{};
  int count_ = 0;
};

/// The attributes of a nested call, made once for the same options: replays of a program allocate nothing.
template <class Options>
const Attributes& attributes_of(const Options& options) {
  static std::mutex mutex;
  static auto& known = *new std::map<typename OptionsKey<Options>::Key, Attributes>;
  std::lock_guard lock(mutex);
  auto [place, is_new] = known.try_emplace(OptionsKey<Options>::of(options));
  if (is_new) place->second = Attributes::of(options);
  return place->second;
}

/// The call of an op inside this one, by that op's preferred variant of an engine.
class Nested {
 public:
  Nested(const Op& op, const Call& call, std::span<const TensorView> inputs, const TensorView& output,
         const Attributes& attributes, Engine engine)
      : call_(call), attributes_(attributes) {
    const Call nested = with(inputs, output);
    for (const Variant& variant : variants_of(op))
      if (!variant_ && variant.device == DeviceKind::cpu && variant.engine == engine &&
          is_allowed(variant, settings()) && (!variant.when || variant.when(nested)))
        variant_ = &variant;
  }

  /// Whether the engine has a variant that takes the call.
  explicit operator bool() const { return variant_ != nullptr; }
  void run(std::span<const TensorView> inputs, const TensorView& output) const {
    variant_->run(with(inputs, output));
  }
  /// Images that are computed at a time, so that what lies between the steps stays in the second-level
  /// caches; but so many that what a call makes of the weights costs little beside them. Own variants take
  /// scratch memory in every call: they get all images at once.
  int64_t images_at_a_time(const Conv2dMaxPool2dGeometry& g) const {
    constexpr int64_t kInCache = 64 * 1024, kPerWeight = 4;  // elements
    if (variant_->engine == Engine::own) return g.conv.N;
    const int64_t image = g.conv.K * g.conv.P * g.conv.Q, threads = num_threads();
    const int64_t least = std::max(kInCache * threads, kPerWeight * g.conv.w.numel() * threads);
    const int64_t images = (least / image + threads) / threads * threads;
    return std::clamp<int64_t>(images, 1, g.conv.N);
  }

 private:
  Call with(std::span<const TensorView> inputs, const TensorView& output) const {
    return {inputs, {&output, 1}, attributes_, call_.stream, call_.scratch};
  }

  const Call& call_;
  const Attributes& attributes_;
  const Variant* variant_ = nullptr;
};

/// Adds "two_steps", whose convolution is Treadle's own, and "onednn", whose convolution is oneDNN's.
/// `Steps` is constructed of a call and an engine; it has run(), and is false where the engine does not take
/// the convolution. `takes` is the rest of the condition. Preferred to nothing but the general form, so that
/// they run where a measurement found them faster.
template <class Steps, bool (*takes)(const Call&)>
void add_variants(Registry& registry, const char* op) {
  add_variant(registry, op,
              {.name = "two_steps",
               .device = DeviceKind::cpu,
               .run = [](const Call& call) { Steps(call, Engine::own).run(); },
               .when = takes,
               .preference = 5});
  add_variant(registry, op,
              {.name = "onednn",
               .device = DeviceKind::cpu,
               .run = [](const Call& call) { Steps(call, Engine::onednn).run(); },
               .when = [](const Call& call) { return takes(call) && Steps(call, Engine::onednn); },
               .preference = 5,
               .engine = Engine::onednn});
}

inline constexpr double kPlace = 0.25;  ///< nanoseconds for a place that is looked at

/// The places of a window that lie inside the result, for the row kernels; a place's position is its number
/// in the window.
template <class Pointer>
class WindowTaps {
 public:
  explicit WindowTaps(const Pool2dGeometry& g) : g_(g) {}

  /// Those of window (p, q); `plane` is the result's element (n, k, 0, 0).
  void gather(Pointer plane, int64_t p, int64_t q) {
    count_ = 0;
    for_each_tap_inside(g_, p, q, [&](int64_t tap, int64_t h, int64_t w) {
      first_[count_] = plane + g_.x.at(0, 0, h, w);
      places_[count_++] = int32_t(tap);
    });
  }
  /// The same taps for the windows or channels that follow, `step` elements apart.
  cpu::RowTaps<Pointer> taps(int64_t step) const { return {count_, first_, places_, step, 0}; }
  bool empty() const { return count_ == 0; }

 private:
  const Pool2dGeometry& g_;
  Pointer first_[kMostPooledPlaces];
  int32_t places_[kMostPooledPlaces];
  int64_t count_ = 0;
};

}  // namespace treadle::two_steps

/// conv2d_max_pool2d_weight_gradient on the cpu device for few taps (a first layer); f32.
///
/// What lies under each tap is laid out for the few places a pooling window has; then filters, side by side
/// in a vector, take from there what their choice says. Costs the same whatever the density of dy. Infinity
/// and NaN in x reach dw even where no gradient flows, if they lie under the same pooling window.
#include <array>
#include <cstring>

#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d_max_pool2d/conv2d_max_pool2d.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/patch_sums.h"
#include "treadle/ops/conv2d_max_pool2d/cpu/planes.h"

namespace treadle {
namespace {

/// The batch is summed in slices, always as many, so that results do not depend on the number of threads.
constexpr int64_t kSlices = 16;

class PatchGradient {
 public:
  PatchGradient(const Call& call, const Planes& planes)
      : planes_(planes),
        x_(call.input(0).as<float>()),
        dy_(call.input(1).as<float>()),
        choice_(call.input(2).as<uint8_t>()),
        dw_(call.output(0).as<float>()),
        db_(call.output(1).as<float>()),
        threads_(num_threads()),
        taps_(planes.g.conv.taps()),
        windows_(planes.g.pool.P * planes.g.pool.Q),
        slices_(planes.g.conv.N, kSlices),
        sums_size_((cpu::kPatchTaps + 1) * planes.g.conv.K),
        sums_(call.workspace<float>(slices_.parts() * sums_size_)),
        plane_scratch_(call.workspace<float>(threads_ * planes.size)),
        patch_scratch_(call.workspace<float>(threads_ * patches_size())) {
    fill_offsets();
  }

  void run() const {
    const int64_t N = planes_.g.conv.N, K = planes_.g.conv.K;
    for_each_item(threads_, slices_.parts(), N * windows_ * cpu::kPatchTaps * K / cpu::vector_floats(),
                  [&](int64_t thread, int64_t slice) { add_slice(slice, thread); });
    for (int64_t slice = 1; slice < slices_.parts(); ++slice)
      for (int64_t i = 0; i < sums_size_; ++i) sums_[i] += sums_[slice * sums_size_ + i];
    cpu::transpose(taps_, K, sums_, K, dw_, taps_);
    std::copy_n(sums_ + cpu::kPatchTaps * K, K, db_);
  }

 private:
  int64_t patches_size() const { return windows_ * cpu::kPatchTaps * cpu::kPatchPlaces; }

  void fill_offsets() {
    const Conv2dGeometry& conv = planes_.g.conv;
    for (int64_t tap = 0; tap < taps_; ++tap) {
      const int64_t s = tap % conv.S, r = tap / conv.S % conv.R, c = tap / (conv.S * conv.R);
      tap_offsets_[tap] = (r * conv.dilation.height * planes_.width + s * conv.dilation.width) * conv.C + c;
    }
    place_offsets_.fill(0);
    for (int64_t place = 0; place < planes_.g.places(); ++place)
      place_offsets_[place] = planes_.offset(place / planes_.g.pool.S, place % planes_.g.pool.S);
    places_are_pairs_ = place_offsets_[1] == 1 && place_offsets_[3] == place_offsets_[2] + 1;
  }

  void add_slice(int64_t slice, int64_t thread) const {
    float* sums = sums_ + slice * sums_size_;
    float* plane = plane_scratch_ + thread * planes_.size;
    float* patches = patch_scratch_ + thread * patches_size();
    std::fill_n(sums, sums_size_, 0.0f);
    std::fill_n(plane, planes_.size, 0.0f);
    if (taps_ < cpu::kPatchTaps) std::fill_n(patches, patches_size(), 0.0f);
    const Range images = slices_[slice];
    const int64_t K = planes_.g.conv.K, image = windows_ * K;
    for (int64_t n = images.begin; n < images.end; ++n) {
      planes_.gather(planes_.block(0, 0), n, x_, plane);
      lay_out_patches(plane, patches);
      cpu::add_patches({windows_, K, planes_.g.places(), dy_ + n * image, choice_ + n * image, patches}, sums,
                       sums + cpu::kPatchTaps * K);
    }
  }

  void lay_out_patches(const float* plane, float* patches) const {
    const Pool2dGeometry& pool = planes_.g.pool;
    for (int64_t p = 0; p < pool.P; ++p)
      for (int64_t q = 0; q < pool.Q; ++q, patches += cpu::kPatchTaps * cpu::kPatchPlaces) {
        const float* window = plane + planes_.offset(pool.row(p, 0), pool.column(q, 0));
        if (places_are_pairs_)
          lay_out_pairs(window, patches);
        else
          lay_out(window, patches);
      }
  }

  void lay_out(const float* window, float* patch) const {
    for (int64_t tap = 0; tap < taps_; ++tap)
      for (int64_t place = 0; place < cpu::kPatchPlaces; ++place)
        *patch++ = window[tap_offsets_[tap] + place_offsets_[place]];
  }

  /// The same, two places at a time.
  void lay_out_pairs(const float* window, float* patch) const {
    const int64_t second = place_offsets_[2];
    for (int64_t tap = 0; tap < taps_; ++tap, patch += 4) {
      std::memcpy(patch, window + tap_offsets_[tap], 2 * sizeof(float));
      std::memcpy(patch + 2, window + tap_offsets_[tap] + second, 2 * sizeof(float));
    }
  }

  const Planes& planes_;
  const float *x_, *dy_;
  const uint8_t* choice_;
  float *dw_, *db_;
  int threads_;
  int64_t taps_, windows_;
  Cut slices_;         ///< of the batch
  int64_t sums_size_;  ///< of a slice: [taps][K], and the gradients' sums [K]
  float *sums_, *plane_scratch_, *patch_scratch_;
  std::array<int64_t, cpu::kPatchTaps> tap_offsets_;
  std::array<int64_t, cpu::kPatchPlaces> place_offsets_;
  bool places_are_pairs_;
};

Conv2dMaxPool2dGeometry geometry_of(const Call& call) {
  return make_conv2d_max_pool2d_geometry(call.input(0), call.output(), call.input(1),
                                         call.options<Conv2dMaxPool2dWeightGradientOptions>());
}

void run(const Call& call) {
  const Planes planes(geometry_of(call));
  PatchGradient(call, planes).run();
}

/// Few taps and places, at least a vector of filters side by side, and windows that lie inside.
bool takes(const Call& call) {
  if (call.input(0).dtype != DType::f32 || !is_row_major_or_channels_last(call.input(0)) ||
      !call.input(1).channels_last() || !call.input(2).channels_last())
    return false;
  auto& options = call.options<Conv2dMaxPool2dWeightGradientOptions>();
  const auto g = geometry_of(call);
  return fits_planes(call.input(0), options) && !has_no_products(g) && options.groups == 1 &&
         g.conv.taps() <= cpu::kPatchTaps && g.places() <= cpu::kPatchPlaces &&
         g.conv.K >= cpu::vector_floats() && windows_lie_inside(g.pool) && Planes(g).blocks == 1;
}

}  // namespace

namespace ops {

void register_conv2d_max_pool2d_cpu_patches(Registry& registry) {
  add_variant(registry, "conv2d_max_pool2d_weight_gradient",
              {.name = "patches", .device = DeviceKind::cpu, .run = run, .when = takes, .preference = 20});
}

}  // namespace ops
}  // namespace treadle

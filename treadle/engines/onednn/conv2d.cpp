/// conv2d and its gradients by oneDNN, in f32 and bf16: the batch is cut into slices, one single-threaded
/// call each.
#include <algorithm>

#include "treadle/core/half.h"
#include "treadle/core/parallel_for.h"
#include "treadle/engines/onednn/onednn.h"
#include "treadle/graph/variant.h"
#include "treadle/ops/conv2d/conv2d_options.h"

namespace treadle::onednn {
namespace {

TreadleOnednnConv2d options_for_plugin(const Conv2dOptions& o) {
  return {{o.stride.height, o.stride.width},
          {o.padding.top, o.padding.left},
          {o.padding.bottom, o.padding.right},
          {o.dilation.height, o.dilation.width},
          o.groups,
          TREADLE_ONEDNN_LAYOUT_AUTOMATIC};
}

/// Images [begin, end) of a batch.
TreadleOnednnTensor images(const TensorView& batch, int64_t begin, int64_t end) {
  TreadleOnednnTensor slice = describe(batch);
  slice.data = static_cast<char*>(batch.data) + begin * batch.strides[0] * int64_t(size_of(batch.dtype));
  slice.shape[0] = end - begin;
  return slice;
}

/// Slices of a batch of N images: one for each thread, whether or not they are free, so that sums over slices
/// always add up in the same way.
Cut slices_of(int64_t N) { return Cut(N, num_threads()); }

/// Calls f(slice, first image, end) for every slice, spread over threads.
template <class F>
void for_each_slice(const Cut& slices, F f) {
  parallel_for_parts(slices, [&](int64_t slice, Range images) { f(slice, images.begin, images.end); });
}

/// Makes images [begin, end) of y and returns where they begin; they lie densely.
void* convolve(const Call& call, int64_t begin, int64_t end) {
  const TensorView &x = call.input(0), &y = call.output();
  const auto options = options_for_plugin(call.options<Conv2dOptions>());
  const TreadleOnednnTensor w = describe(call.input(1));
  const TreadleOnednnTensor b = call.has_input(2) ? describe(call.input(2)) : TreadleOnednnTensor{};
  const auto part_x = images(x, begin, end), part_y = images(y, begin, end);
  call_plugin("conv2d", [&](char* message, size_t size) {
    return api()->conv2d_forward(&options, &part_x, &w, b.data ? &b : nullptr, &part_y, message, size);
  });
  return part_y.data;
}

void run_forward(const Call& call) {
  for_each_slice(slices_of(call.input(0).shape[0]),
                 [&](int64_t, int64_t begin, int64_t end) { convolve(call, begin, end); });
}

template <class T>
void apply_relu(T* values, int64_t count) {
  for (int64_t k = 0; k < count; ++k) values[k] = float(values[k]) <= 0 ? T(0.0f) : values[k];
}

/// ReLU follows a few images at a time, while they are in L2. oneDNN's own ReLU would turn NaN into 0.
void run_forward_relu(const Call& call) {
  constexpr int64_t kInCache = 64 * 1024;  // elements
  const TensorView& y = call.output();
  const int64_t step = std::max<int64_t>(kInCache * y.shape[0] / y.numel(), 1);
  for_each_slice(slices_of(y.shape[0]), [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += step) {
      const int64_t last = std::min(i + step, end), count = (last - i) * y.numel() / y.shape[0];
      void* const values = convolve(call, i, last);
      y.dtype == DType::f32 ? apply_relu(static_cast<float*>(values), count)
                            : apply_relu(static_cast<BFloat16*>(values), count);
    }
  });
}

void run_input_gradient(const Call& call) {
  const TensorView &dy = call.input(0), &dx = call.output();
  const auto options = options_for_plugin(call.options<Conv2dInputGradientOptions>());
  const TreadleOnednnTensor w = describe(call.input(1));
  for_each_slice(slices_of(dy.shape[0]), [&](int64_t, int64_t begin, int64_t end) {
    const auto part_dy = images(dy, begin, end), part_dx = images(dx, begin, end);
    call_plugin("conv2d_input_gradient", [&](char* message, size_t size) {
      return api()->conv2d_input_gradient(&options, &part_dy, &w, &part_dx, message, size);
    });
  });
}

/// dw = Σ over slices of the row-major `partial` [slices, numel of dw], in order and rounded once; changes
/// the first slice.
template <class T>
void add_slices(float* partial, int64_t slices, const TensorView& dw) {
  constexpr Nanoseconds kElement{0.25};
  const int64_t count = dw.numel();
  T* sums = dw.as<T>();
  parallel_for(count, kElement, [&](int64_t begin, int64_t end) {
    for (int64_t slice = 1; slice < slices; ++slice)
      for (int64_t i = begin; i < end; ++i) partial[i] += partial[slice * count + i];
    for (int64_t i = begin; i < end; ++i) sums[i] = T(partial[i]);
  });
}

/// Each slice sums into a dw of its own, in f32.
void run_weight_gradient(const Call& call) {
  const TensorView &x = call.input(0), &dy = call.input(1), &dw = call.output();
  const auto options = options_for_plugin(call.options<Conv2dWeightGradientOptions>());
  const Cut slices = slices_of(x.shape[0]);
  const bool adds = slices.parts() > 1;
  float* partial = adds ? call.workspace<float>(slices.parts() * dw.numel()) : nullptr;
  for_each_slice(slices, [&](int64_t slice, int64_t begin, int64_t end) {
    const auto part_x = images(x, begin, end), part_dy = images(dy, begin, end);
    TreadleOnednnTensor part_dw = describe(dw);
    if (adds) part_dw.data = partial + slice * dw.numel(), part_dw.dtype = TREADLE_ONEDNN_F32;
    call_plugin("conv2d_weight_gradient", [&](char* message, size_t size) {
      return api()->conv2d_weight_gradient(&options, &part_x, &part_dy, &part_dw, nullptr, message, size);
    });
  });
  if (!adds) return;
  dw.dtype == DType::f32 ? add_slices<float>(partial, slices.parts(), dw)
                         : add_slices<BFloat16>(partial, slices.parts(), dw);
}

bool takes_call(const Call& call) {
  const TensorView &a = call.input(0), &b = call.input(1);
  return takes({&a, &b, &call.output()}) && nests(a) && nests(b) &&
         (!call.has_input(2) || nests(call.input(2)));
}

}  // namespace

void register_conv2d(Registry& registry) {
  auto add = [&](const char* op, void (*run)(const Call&)) {
    add_variant(registry, op,
                {.name = "onednn",
                 .device = DeviceKind::cpu,
                 .run = run,
                 .when = takes_call,
                 .preference = 20,
                 .engine = Engine::onednn});
  };
  add("conv2d", run_forward);
  add("conv2d_relu", run_forward_relu);
  add("conv2d_input_gradient", run_input_gradient);
  add("conv2d_weight_gradient", run_weight_gradient);
}

}  // namespace treadle::onednn

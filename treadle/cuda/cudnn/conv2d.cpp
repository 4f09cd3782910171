// conv2d and its gradients by cuDNN's convolution functions. Descriptors and the chosen algorithm are kept
// for the next call of the same kind.
#include "treadle/cuda/cudnn/functions.h"
#include "treadle/graph/variant.h"

#if __has_include(<cudnn.h>)
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "treadle/ops/conv2d/conv2d_options.h"
#include "treadle/ops/conv2d/cuda/conv2d_bias.h"

namespace treadle::cudnn {
namespace {

enum class Direction : uint8_t { forward, input_gradient, weight_gradient };

/// The tensors of a convolution under their forward names; the direction says which one is computed.
struct Convolution {
  Direction direction;
  TensorView x, w, y;
  Conv2dOptions options;
  void* stream;
};

Convolution forward_of(const Call& call) {
  return {Direction::forward, call.input(0), call.input(1), call.output(), call.options<Conv2dOptions>(),
          call.stream};
}

Convolution input_gradient_of(const Call& call) {
  return {Direction::input_gradient,
          call.output(),
          call.input(1),
          call.input(0),
          call.options<Conv2dInputGradientOptions>(),
          call.stream};
}

Convolution weight_gradient_of(const Call& call) {
  return {Direction::weight_gradient,
          call.input(0),
          call.output(),
          call.input(1),
          call.options<Conv2dWeightGradientOptions>(),
          call.stream};
}

template <class Descriptor>
using Owned = std::unique_ptr<std::remove_pointer_t<Descriptor>, cudnnStatus_t (*)(Descriptor)>;

template <class Descriptor>
Owned<Descriptor> made(cudnnStatus_t (*create)(Descriptor*), cudnnStatus_t (*destroy)(Descriptor)) {
  Descriptor descriptor = nullptr;
  check(create(&descriptor), "a descriptor");
  return {descriptor, destroy};
}

cudnnDataType_t data_type(DType dtype) {
  return dtype == DType::f16    ? CUDNN_DATA_HALF
         : dtype == DType::bf16 ? CUDNN_DATA_BFLOAT16
                                : CUDNN_DATA_FLOAT;
}

bool is_row_major_or_channels_last(const TensorView& view) {
  return view.contiguous() || view.channels_last();
}

/// The strides of the layout rather than the view's own: those along extents of 1 may be anything there.
Owned<cudnnTensorDescriptor_t> describe_tensor(const TensorView& view) {
  const Functions& f = *functions();
  auto descriptor = made(f.create_tensor, f.destroy_tensor);
  const Shape& n = view.shape;
  const Strides s = view.contiguous() ? contiguous_strides(n) : channels_last_strides(n);
  check(f.set_tensor(descriptor.get(), data_type(view.dtype), int(n[0]), int(n[1]), int(n[2]), int(n[3]),
                     int(s[0]), int(s[1]), int(s[2]), int(s[3])),
        "cudnnSetTensor4dDescriptorEx");
  return descriptor;
}

Owned<cudnnFilterDescriptor_t> describe_filter(const TensorView& w) {
  const Functions& f = *functions();
  auto descriptor = made(f.create_filter, f.destroy_filter);
  check(f.set_filter(descriptor.get(), data_type(w.dtype),
                     w.contiguous() ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC, int(w.shape[0]), int(w.shape[1]),
                     int(w.shape[2]), int(w.shape[3])),
        "cudnnSetFilter4dDescriptor");
  return descriptor;
}

/// Sums are kept in f32. Tensor cores serve the half types only: with f32 they would round the operands to
/// TF32.
Owned<cudnnConvolutionDescriptor_t> describe_convolution(const Conv2dOptions& o, DType dtype) {
  const Functions& f = *functions();
  auto descriptor = made(f.create_convolution, f.destroy_convolution);
  check(f.set_convolution(descriptor.get(), int(o.padding.top), int(o.padding.left), int(o.stride.height),
                          int(o.stride.width), int(o.dilation.height), int(o.dilation.width),
                          CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
        "cudnnSetConvolution2dDescriptor");
  check(f.set_group_count(descriptor.get(), int(o.groups)), "cudnnSetConvolutionGroupCount");
  check(f.set_math_type(descriptor.get(), dtype == DType::f32 ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH),
        "cudnnSetConvolutionMathType");
  return descriptor;
}

/// How an algorithm rounds: directly, in Winograd's transformed tiles, or in a Fourier transform of the whole
/// image.
enum class Arithmetic : uint8_t { direct, winograd, fourier };

Arithmetic arithmetic_of(cudnnConvolutionFwdAlgo_t algorithm) {
  switch (algorithm) {
    case CUDNN_CONVOLUTION_FWD_ALGO_FFT:
    case CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING:
      return Arithmetic::fourier;
    case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD:
    case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED:
      return Arithmetic::winograd;
    default:
      return Arithmetic::direct;
  }
}

Arithmetic arithmetic_of(cudnnConvolutionBwdDataAlgo_t algorithm) {
  switch (algorithm) {
    case CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT:
    case CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING:
      return Arithmetic::fourier;
    case CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD:
    case CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED:
      return Arithmetic::winograd;
    default:
      return Arithmetic::direct;
  }
}

Arithmetic arithmetic_of(cudnnConvolutionBwdFilterAlgo_t algorithm) {
  switch (algorithm) {
    case CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT:
    case CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING:
      return Arithmetic::fourier;
    case CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD:
    case CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED:
      return Arithmetic::winograd;
    default:
      return Arithmetic::direct;
  }
}

constexpr size_t kLargestWorkspace = size_t(1) << 30;

/// Deterministic, without TF32, and with errors that the variant's bound covers: a Fourier transform's grow
/// with the image, and Winograd's transforms lose too much of a half type.
template <class Performance>
bool is_acceptable(const Performance& offer, DType dtype) {
  const Arithmetic arithmetic = arithmetic_of(offer.algo);
  const bool plain_math = offer.mathType == CUDNN_FMA_MATH || offer.mathType == CUDNN_DEFAULT_MATH;
  return offer.status == CUDNN_STATUS_SUCCESS && offer.determinism == CUDNN_DETERMINISTIC &&
         offer.memory <= kLargestWorkspace && arithmetic != Arithmetic::fourier &&
         (dtype == DType::f32 ? plain_math : arithmetic == Arithmetic::direct);
}

struct Choice {
  int algorithm = -1;  ///< -1: cuDNN has none that is acceptable
  size_t workspace_bytes = 0;
};

/// The first acceptable algorithm in the order that cuDNN's rules expect them to be fast in. No measurement:
/// the same call always gets the same algorithm.
template <class Performance, class List, class WorkspaceSize>
Choice choose(cudnnConvolutionDescriptor_t convolution, DType dtype, List list,
              WorkspaceSize workspace_size) {
  std::array<Performance, 16> offers{};
  int count = 0;
  if (list(int(offers.size()), &count, offers.data()) != CUDNN_STATUS_SUCCESS) return {};
  for (int i = 0; i < count; ++i) {
    if (!is_acceptable(offers[i], dtype)) continue;
    // An offer holds for its own kind of arithmetic; for f32 the default one would mean TF32.
    if (dtype != DType::f32)
      check(functions()->set_math_type(convolution, offers[i].mathType), "the math type");
    size_t bytes = 0;
    if (workspace_size(offers[i].algo, &bytes) == CUDNN_STATUS_SUCCESS && bytes <= kLargestWorkspace)
      return {int(offers[i].algo), bytes};
  }
  return {};
}

struct Plan {
  Owned<cudnnTensorDescriptor_t> x, y;
  Owned<cudnnFilterDescriptor_t> w;
  Owned<cudnnConvolutionDescriptor_t> convolution;
  Choice choice;

  explicit Plan(const Convolution& call)
      : x(describe_tensor(call.x)),
        y(describe_tensor(call.y)),
        w(describe_filter(call.w)),
        convolution(describe_convolution(call.options, call.x.dtype)),
        choice(choose_for(call)) {}

  Choice choose_for(const Convolution& call) const {
    switch (call.direction) {
      case Direction::forward:
        return choose_forward(call);
      case Direction::input_gradient:
        return choose_input_gradient(call);
      default:
        return choose_weight_gradient(call);
    }
  }

  Choice choose_forward(const Convolution& call) const {
    const auto handle = cudnn::handle();
    return choose<cudnnConvolutionFwdAlgoPerf_t>(
        convolution.get(), call.x.dtype,
        [&](int room, int* count, auto* offers) {
          return functions()->forward_algorithms(handle, x.get(), w.get(), convolution.get(), y.get(), room,
                                                 count, offers);
        },
        [&](auto algorithm, size_t* bytes) {
          return functions()->forward_workspace(handle, x.get(), w.get(), convolution.get(), y.get(),
                                                algorithm, bytes);
        });
  }

  Choice choose_input_gradient(const Convolution& call) const {
    const auto handle = cudnn::handle();
    return choose<cudnnConvolutionBwdDataAlgoPerf_t>(
        convolution.get(), call.x.dtype,
        [&](int room, int* count, auto* offers) {
          return functions()->input_gradient_algorithms(handle, w.get(), y.get(), convolution.get(), x.get(),
                                                        room, count, offers);
        },
        [&](auto algorithm, size_t* bytes) {
          return functions()->input_gradient_workspace(handle, w.get(), y.get(), convolution.get(), x.get(),
                                                       algorithm, bytes);
        });
  }

  Choice choose_weight_gradient(const Convolution& call) const {
    const auto handle = cudnn::handle();
    return choose<cudnnConvolutionBwdFilterAlgoPerf_t>(
        convolution.get(), call.x.dtype,
        [&](int room, int* count, auto* offers) {
          return functions()->weight_gradient_algorithms(handle, x.get(), y.get(), convolution.get(), w.get(),
                                                         room, count, offers);
        },
        [&](auto algorithm, size_t* bytes) {
          return functions()->weight_gradient_workspace(handle, x.get(), y.get(), convolution.get(), w.get(),
                                                        algorithm, bytes);
        });
  }
};

using Key = std::vector<int64_t>;

/// All that a plan depends on.
Key key_of(const Convolution& call) {
  const Conv2dOptions& o = call.options;
  Key key{int64_t(call.direction), int64_t(call.x.dtype), current_device(),  o.stride.height,  o.stride.width,
          o.padding.top,           o.padding.left,        o.dilation.height, o.dilation.width, o.groups};
  for (const TensorView* view : {&call.x, &call.w, &call.y}) {
    key.insert(key.end(), view->shape.begin(), view->shape.end());
    key.push_back(view->contiguous());
  }
  return key;
}

/// Guards the handles and the plans.
std::mutex& mutex() {
  static std::mutex one;
  return one;
}

/// The plan of a call, made at the first of its kind. Call with the mutex held. Never destroyed: at the end
/// of the process cuDNN may be gone before.
const Plan& plan_of(const Convolution& call) {
  constexpr size_t kMostPlans = 1024;
  static auto& plans = *new std::map<Key, std::unique_ptr<Plan>>;
  Key key = key_of(call);
  if (auto found = plans.find(key); found != plans.end()) return *found->second;
  if (plans.size() >= kMostPlans) plans.clear();
  return *plans.emplace(std::move(key), std::make_unique<Plan>(call)).first->second;
}

/// What is common to the three functions.
struct Launch {
  std::lock_guard<std::mutex> guard{mutex()};
  const Plan& plan;
  cudnnHandle_t handle;
  void* workspace;
  float one = 1, zero = 0;

  Launch(const Convolution& convolution, const Call& call)
      : plan(plan_of(convolution)),
        handle(handle_on(convolution.stream)),
        workspace(plan.choice.workspace_bytes > 0 ? call.workspace<char>(int64_t(plan.choice.workspace_bytes))
                                                  : nullptr) {}
};

/// The bias is there first: added by a function of its own it would cost the half types a second rounding.
void run_forward(const Call& call) {
  const bool biased = call.has_input(2);
  if (biased) cuda::start_with_filter_bias(call);
  const Launch l(forward_of(call), call);
  const Plan& p = l.plan;
  check(functions()->forward(l.handle, &l.one, p.x.get(), call.input(0).data, p.w.get(), call.input(1).data,
                             p.convolution.get(), cudnnConvolutionFwdAlgo_t(p.choice.algorithm), l.workspace,
                             p.choice.workspace_bytes, biased ? &l.one : &l.zero, p.y.get(),
                             call.output().data),
        "cudnnConvolutionForward");
}

void run_input_gradient(const Call& call) {
  const Launch l(input_gradient_of(call), call);
  const Plan& p = l.plan;
  check(functions()->input_gradient(l.handle, &l.one, p.w.get(), call.input(1).data, p.y.get(),
                                    call.input(0).data, p.convolution.get(),
                                    cudnnConvolutionBwdDataAlgo_t(p.choice.algorithm), l.workspace,
                                    p.choice.workspace_bytes, &l.zero, p.x.get(), call.output().data),
        "cudnnConvolutionBackwardData");
}

void run_weight_gradient(const Call& call) {
  const Launch l(weight_gradient_of(call), call);
  const Plan& p = l.plan;
  check(functions()->weight_gradient(l.handle, &l.one, p.x.get(), call.input(0).data, p.y.get(),
                                     call.input(1).data, p.convolution.get(),
                                     cudnnConvolutionBwdFilterAlgo_t(p.choice.algorithm), l.workspace,
                                     p.choice.workspace_bytes, &l.zero, p.w.get(), call.output().data),
        "cudnnConvolutionBackwardFilter");
}

/// Tensor cores read 16 bytes at a time.
bool is_aligned(const TensorView& view) { return reinterpret_cast<uintptr_t>(view.data) % 16 == 0; }

bool is_describable(const TensorView& view) {
  return view.numel() > 0 && view.numel() <= std::numeric_limits<int>::max() && is_aligned(view) &&
         is_row_major_or_channels_last(view);
}

/// Tensors and options that cuDNN's descriptors can say: dense, and padded alike at both ends.
bool is_describable(const Convolution& call) {
  const Pads& pads = call.options.padding;
  return call.x.dtype != DType::f64 && pads.top == pads.bottom && pads.left == pads.right &&
         is_describable(call.x) && is_describable(call.w) && is_describable(call.y);
}

template <Convolution (*convolution_of)(const Call&)>
bool suits(const Call& call) {
  if (!functions()) return false;
  const Convolution convolution = convolution_of(call);
  if (!is_describable(convolution)) return false;
  std::lock_guard guard(mutex());
  return plan_of(convolution).choice.algorithm >= 0;
}

/// Winograd's larger tiles (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016) multiply
/// by factors up to 8 before sums cancel; 16 bounds what both transforms add.
Variant variant(void (*run)(const Call&), bool (*when)(const Call&)) {
  return {.name = "cudnn",
          .device = DeviceKind::cuda,
          .run = run,
          .when = when,
          .preference = 100,
          .engine = Engine::cudnn,
          .error_growth = 16};
}

}  // namespace

void register_conv2d(Registry& registry) {
  add_variant(registry, "conv2d", variant(run_forward, suits<forward_of>));
  add_variant(registry, "conv2d_input_gradient", variant(run_input_gradient, suits<input_gradient_of>));
  add_variant(registry, "conv2d_weight_gradient", variant(run_weight_gradient, suits<weight_gradient_of>));
}

}  // namespace treadle::cudnn

#else

namespace treadle::cudnn {

/// Built without cuDNN's headers: nothing to register.
void register_conv2d(Registry&) {}

}  // namespace treadle::cudnn

#endif

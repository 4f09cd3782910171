/// index_select and its gradient on a device.
#include "treadle/ops/data_check.cuh"
#include "treadle/ops/layout/cuda/copy_elements.cuh"
#include "treadle/ops/layout/index_select_options.h"
#include "treadle/ops/strided_operands.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// The vector of indices: i64, or i32 where `narrow`.
struct Indices {
  const void* data;
  bool narrow;
  int64_t stride, count, extent;
  DataCheck check;

  /// An index out of range is refused; a kernel that goes on reads -1.
  __device__ int64_t operator[](int64_t i) const {
    const int64_t index = narrow ? int64_t(static_cast<const int32_t*>(data)[i * stride])
                                 : static_cast<const int64_t*>(data)[i * stride];
    return check.checked(index, i, extent);
  }
};

Indices indices_of(const TensorView& view, int64_t extent) {
  return {view.data, view.dtype == DType::i32,   view.strides[0], view.numel(),
          extent,    DataCheck(kIndexOutOfRange)};
}

/// One thread per element of y. The nest walks y, x without its indexed axis, and the places along the axis.
template <class Word>
__global__ void index_select_naive(Strided<3> nest, Indices indices, int64_t step, const Word* x, Word* y) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[3];
  nest.offsets(i, o);
  const int64_t index = indices[o[2]];
  y[o[0]] = index < 0 ? Word() : x[o[1] + index * step];
}

/// One thread per element of dx: it reads all indices and adds what points to it, in order. The nest walks
/// dx, dy without its indexed axis, and the position along the axis.
template <class T>
__global__ void index_select_gradient_naive(Strided<3> nest, Indices indices, int64_t step, const T* dy,
                                            T* dx) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[3];
  nest.offsets(i, o);
  Sum<T> sum = 0;
  for (int64_t place = 0; place < indices.count; ++place)
    if (indices[place] == o[2]) sum += Compute<T>(dy[o[1] + place * step]);
  dx[o[0]] = T(sum);
}

/// One thread per place: links it to the next place of the same index (-1 for none), and says in `head`
/// whether it is the first of them.
__global__ void index_select_gradient_links(Indices indices, int64_t* next, bool* head) {
  int64_t place = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (place >= indices.count) return;
  const int64_t index = indices[place];
  bool first = true;
  for (int64_t i = 0; i < place && first; ++i) first = indices[i] != index;
  head[place] = first;
  int64_t i = place + 1;
  while (i < indices.count && indices[i] != index) ++i;
  next[place] = i < indices.count ? i : -1;
}

/// One thread per element of dy: those at the first place of an index follow the links, add in order and
/// write dx, which is zero elsewhere. The nest walks dy, dx without its indexed axis, and the places along
/// the axis.
template <class T>
__global__ void index_select_gradient_linked(Strided<3> nest, Indices indices, const int64_t* next,
                                             const bool* head, int64_t dy_step, int64_t dx_step, const T* dy,
                                             T* dx) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[3];
  nest.offsets(i, o);
  const int64_t place = o[2];
  const int64_t index = indices[place];
  if (!head[place] || index < 0) return;
  Sum<T> sum = 0;
  const T* column = dy + (o[0] - place * dy_step);
  for (int64_t p = place; p >= 0; p = next[p]) sum += Compute<T>(column[p * dy_step]);
  dx[o[1] + index * dx_step] = T(sum);
}

/// One thread per element of dy adds it to dx, which starts at zero; in any order.
template <class T>
__global__ void index_select_gradient_atomic(Strided<3> nest, Indices indices, int64_t step, const T* dy,
                                             T* dx) {
  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= nest.numel) return;
  int64_t o[3];
  nest.offsets(i, o);
  const int64_t index = indices[o[2]];
  if (index >= 0) atomicAdd(&dx[o[1] + index * step], dy[o[0]]);
}

/// A nest over `outer`'s elements, `other` without its axis, and the number along the axis.
Strided<3> nest_along(const TensorView& outer, const TensorView& other, int axis) {
  return make_strided<3>(outer.shape, {outer.strides, without_axis(other.strides, axis),
                                       along_axis(outer.shape.rank(), axis, 1)});
}

void run_select(const Call& call) {
  const TensorView &x = call.input(0), &y = call.output();
  int axis = normalize_axis(call.options<IndexSelectOptions>().axis, x.shape.rank(), "index_select");
  Indices indices = indices_of(call.input(1), x.shape[axis]);
  with_word_type(x.dtype, [&](auto tag) {
    using Word = typename decltype(tag)::type;
    launch<index_select_naive<Word>, independent>(stream_of(call), blocks_for(y.numel()), kThreads, 0,
                                                  nest_along(y, x, axis), indices, x.strides[axis],
                                                  x.as<const Word>(), y.as<Word>());
  });
}

/// What the gradient's variants share.
struct GradientCall {
  const TensorView &dy, &dx;
  int axis;
  Indices indices;

  explicit GradientCall(const Call& call)
      : dy(call.input(0)),
        dx(call.output()),
        axis(normalize_axis(call.options<IndexSelectGradientOptions>().axis, dx.shape.rank(),
                            "index_select_gradient")),
        indices(indices_of(call.input(1), dx.shape[axis])) {}
};

void run_gradient_naive(const Call& call) {
  GradientCall g(call);
  with_floating_device_type(g.dy.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<index_select_gradient_naive<T>, independent>(
        stream_of(call), blocks_for(g.dx.numel()), kThreads, 0, nest_along(g.dx, g.dy, g.axis), g.indices,
        g.dy.strides[g.axis], g.dy.as<const T>(), g.dx.as<T>());
  });
}

void run_gradient_linked(const Call& call) {
  GradientCall g(call);
  fill_elements(stream_of(call), g.dx, 0);
  if (g.dy.numel() == 0) return;
  auto* next = call.workspace<int64_t>(g.indices.count);
  auto* head = call.workspace<bool>(g.indices.count);
  launch<index_select_gradient_links, independent>(stream_of(call), blocks_for(g.indices.count), kThreads, 0,
                                                   g.indices, next, head);
  with_floating_device_type(g.dy.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch<index_select_gradient_linked<T>, independent>(
        stream_of(call), blocks_for(g.dy.numel()), kThreads, 0, nest_along(g.dy, g.dx, g.axis), g.indices,
        next, head, g.dy.strides[g.axis], g.dx.strides[g.axis], g.dy.as<const T>(), g.dx.as<T>());
  });
}

template <class T>
void launch_atomic(const Call& call, const GradientCall& g) {
  launch<index_select_gradient_atomic<T>, independent>(
      stream_of(call), blocks_for(g.dy.numel()), kThreads, 0, nest_along(g.dy, g.dx, g.axis), g.indices,
      g.dx.strides[g.axis], g.dy.as<const T>(), g.dx.as<T>());
}

void run_gradient_atomic(const Call& call) {
  GradientCall g(call);
  fill_elements(stream_of(call), g.dx, 0);
  if (g.dy.numel() == 0) return;
  if (g.dy.dtype == DType::f64)
    launch_atomic<double>(call, g);
  else
    launch_atomic<float>(call, g);
}

/// Sums in the half types would be rounded at every step.
bool sums_in_own_type(const Call& call) {
  return call.input(0).dtype == DType::f32 || call.input(0).dtype == DType::f64;
}

}  // namespace

void register_layout_cuda_index_select(Registry& registry) {
  const char* gradient = "index_select_gradient";
  add_variant(registry, "index_select", {.name = "naive", .device = kDevice, .run = run_select});
  add_variant(registry, gradient,
              {.name = "linked", .device = kDevice, .run = run_gradient_linked, .preference = 1});
  add_variant(registry, gradient, {.name = "naive", .device = kDevice, .run = run_gradient_naive});
  add_variant(registry, gradient,
              {.name = "atomic",
               .device = kDevice,
               .run = run_gradient_atomic,
               .when = sums_in_own_type,
               .preference = -1,
               .deterministic = false});
}

}  // namespace treadle::TREADLE_TARGET

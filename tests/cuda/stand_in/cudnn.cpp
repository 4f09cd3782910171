// cuDNN for the stand-in: convolutions in plain loops, each with a workspace that it overwrites.
#include <cudnn.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/cuda/stand_in/elements.h"
#include "tests/cuda/stand_in/stand_in.h"

namespace {

using namespace treadle;
using namespace treadle::stand_in;

/// Extents and strides of a tensor or filter.
struct Layout {
  Element type = Element::f32;
  int64_t extent[4] = {}, stride[4] = {};

  int64_t at(int64_t n, int64_t c, int64_t h, int64_t w) const {
    return n * stride[0] + c * stride[1] + h * stride[2] + w * stride[3];
  }
  size_t bytes() const {
    return size_t(at(extent[0] - 1, extent[1] - 1, extent[2] - 1, extent[3] - 1) + 1) * bytes_of(type);
  }
  void set(cudnnDataType_t data, const int (&extents)[4], const int (&strides)[4]) {
    type = data == CUDNN_DATA_HALF       ? Element::f16
           : data == CUDNN_DATA_BFLOAT16 ? Element::bf16
                                         : Element::f32;
    for (int i = 0; i < 4; ++i) extent[i] = extents[i], stride[i] = strides[i];
  }
};

constexpr size_t kWorkspace = 1000;

}  // namespace

struct cudnnContext {
  int device = 0;
  cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct : Layout {};
struct cudnnFilterStruct : Layout {};
struct cudnnConvolutionStruct {
  int pad[2], stride[2], dilation[2], groups = 1;
};

namespace {

/// One convolution: y[n,k,p,q] = Σ x[n,c,h,w]·w[k,c,r,s].
struct Convolution {
  Layout x, w, y;
  cudnnConvolutionStruct options;

  /// Calls visit(index of x, index of w, index of y) for each product.
  template <class Visit>
  void each(Visit visit) const {
    const int64_t of_group = y.extent[1] / options.groups;
    for (int64_t n = 0; n < y.extent[0]; ++n)
      for (int64_t k = 0; k < y.extent[1]; ++k)
        for (int64_t p = 0; p < y.extent[2]; ++p)
          for (int64_t q = 0; q < y.extent[3]; ++q) each_tap(n, k, p, q, k / of_group * w.extent[1], visit);
  }

 private:
  template <class Visit>
  void each_tap(int64_t n, int64_t k, int64_t p, int64_t q, int64_t first_channel, Visit& visit) const {
    for (int64_t c = 0; c < w.extent[1]; ++c)
      for (int64_t r = 0; r < w.extent[2]; ++r)
        for (int64_t s = 0; s < w.extent[3]; ++s) {
          const int64_t h = p * options.stride[0] - options.pad[0] + r * options.dilation[0];
          const int64_t v = q * options.stride[1] - options.pad[1] + s * options.dilation[1];
          if (h < 0 || v < 0 || h >= x.extent[2] || v >= x.extent[3]) continue;
          visit(x.at(n, first_channel + c, h, v), w.at(k, c, r, s), y.at(n, k, p, q));
        }
  }
};

/// target = Σ left·right + beta·target, over the products that `place` names, summed in f32.
template <class Place>
void accumulate(const Convolution& convolution, const Layout& target_layout, void* target, double beta,
                Place place) {
  std::vector<float> sums(target_layout.bytes() / bytes_of(target_layout.type));
  convolution.each([&](int64_t x, int64_t w, int64_t y) { place(sums, x, w, y); });
  const int64_t(&n)[4] = target_layout.extent;
  for (int64_t a = 0; a < n[0]; ++a)
    for (int64_t b = 0; b < n[1]; ++b)
      for (int64_t c = 0; c < n[2]; ++c)
        for (int64_t d = 0; d < n[3]; ++d) {
          const int64_t i = target_layout.at(a, b, c, d);
          const double before = beta == 0 ? 0 : beta * load(target, target_layout.type, i);
          store(target, target_layout.type, i, double(sums[size_t(i)]) + before);
        }
}

template <class Algorithm, class Offer>
cudnnStatus_t offer_one(Algorithm algorithm, int room, int* count, Offer* offers) {
  *count = room > 0;
  if (room > 0) {
    offers[0] = {};
    offers[0].algo = algorithm;
    offers[0].status = CUDNN_STATUS_SUCCESS;
    offers[0].memory = kWorkspace;
    offers[0].determinism = CUDNN_DETERMINISTIC;
    offers[0].mathType = CUDNN_FMA_MATH;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t run(cudnnHandle_t handle, const Convolution& c, const void* x, const void* w, const void* y,
                  void* workspace, size_t workspace_bytes, std::function<void()> work) {
  if (!is_device_memory(handle->stream, x, c.x.bytes()) ||
      !is_device_memory(handle->stream, w, c.w.bytes()) ||
      !is_device_memory(handle->stream, y, c.y.bytes()) || workspace_bytes < kWorkspace ||
      !is_device_memory(handle->stream, workspace, workspace_bytes))
    return CUDNN_STATUS_BAD_PARAM;
  const cudaError_t status = enqueue(handle->stream, [=, work = std::move(work)] {
    std::memset(workspace, 0x7F, kWorkspace);
    work();
  });
  return status == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

double single(const void* factor) { return *static_cast<const float*>(factor); }

}  // namespace

extern "C" {

TREADLE_STAND_IN const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_BAD_PARAM ? "CUDNN_STATUS_BAD_PARAM" : "another status";
}

TREADLE_STAND_IN cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  void* own = nullptr;
  if (cudaMalloc(&own, 4096) != cudaSuccess) return CUDNN_STATUS_INTERNAL_ERROR;
  *handle = new cudnnContext;
  cudaGetDevice(&(*handle)->device);
  return CUDNN_STATUS_SUCCESS;
}

TREADLE_STAND_IN cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (device_of(stream) != handle->device) return CUDNN_STATUS_BAD_PARAM;
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

TREADLE_STAND_IN cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* descriptor) {
  *descriptor = new cudnnTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}
TREADLE_STAND_IN cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}
TREADLE_STAND_IN cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t descriptor,
                                                            cudnnDataType_t type, int n, int c, int h, int w,
                                                            int of_n, int of_c, int of_h, int of_w) {
  descriptor->set(type, {n, c, h, w}, {of_n, of_c, of_h, of_w});
  return CUDNN_STATUS_SUCCESS;
}

TREADLE_STAND_IN cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* descriptor) {
  *descriptor = new cudnnFilterStruct;
  return CUDNN_STATUS_SUCCESS;
}
TREADLE_STAND_IN cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}
TREADLE_STAND_IN cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t descriptor,
                                                          cudnnDataType_t type, cudnnTensorFormat_t format,
                                                          int k, int c, int h, int w) {
  if (format == CUDNN_TENSOR_NCHW)
    descriptor->set(type, {k, c, h, w}, {c * h * w, h * w, w, 1});
  else
    descriptor->set(type, {k, c, h, w}, {c * h * w, 1, w * c, c});
  return CUDNN_STATUS_SUCCESS;
}

TREADLE_STAND_IN cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* descriptor) {
  *descriptor = new cudnnConvolutionStruct;
  return CUDNN_STATUS_SUCCESS;
}
TREADLE_STAND_IN cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}
TREADLE_STAND_IN cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t descriptor,
                                                               int pad_h, int pad_w, int stride_h,
                                                               int stride_w, int dilation_h, int dilation_w,
                                                               cudnnConvolutionMode_t mode, cudnnDataType_t) {
  if (mode != CUDNN_CROSS_CORRELATION) return CUDNN_STATUS_BAD_PARAM;
  *descriptor = {{pad_h, pad_w}, {stride_h, stride_w}, {dilation_h, dilation_w}};
  return CUDNN_STATUS_SUCCESS;
}
TREADLE_STAND_IN cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t descriptor,
                                                             int groups) {
  descriptor->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
TREADLE_STAND_IN cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t) {
  return CUDNN_STATUS_SUCCESS;
}

TREADLE_STAND_IN cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, int room, int* count, cudnnConvolutionFwdAlgoPerf_t* offers) {
  return offer_one(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, room, count, offers);
}
TREADLE_STAND_IN cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionFwdAlgo_t, size_t* bytes) {
  *bytes = kWorkspace;
  return CUDNN_STATUS_SUCCESS;
}
TREADLE_STAND_IN cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void*,
                                                       cudnnTensorDescriptor_t of_x, const void* x,
                                                       cudnnFilterDescriptor_t of_w, const void* w,
                                                       cudnnConvolutionDescriptor_t options,
                                                       cudnnConvolutionFwdAlgo_t, void* workspace,
                                                       size_t workspace_bytes, const void* beta,
                                                       cudnnTensorDescriptor_t of_y, void* y) {
  const Convolution c{*of_x, *of_w, *of_y, *options};
  return run(handle, c, x, w, y, workspace, workspace_bytes, [=, kept = single(beta)] {
    accumulate(c, c.y, y, kept, [&](auto& sums, int64_t i, int64_t j, int64_t k) {
      sums[size_t(k)] = std::fma(float(load(x, c.x.type, i)), float(load(w, c.w.type, j)), sums[size_t(k)]);
    });
  });
}

TREADLE_STAND_IN cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, int room, int* count, cudnnConvolutionBwdDataAlgoPerf_t* offers) {
  return offer_one(CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, room, count, offers);
}
TREADLE_STAND_IN cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionBwdDataAlgo_t, size_t* bytes) {
  *bytes = kWorkspace;
  return CUDNN_STATUS_SUCCESS;
}
TREADLE_STAND_IN cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void*,
                                                            cudnnFilterDescriptor_t of_w, const void* w,
                                                            cudnnTensorDescriptor_t of_dy, const void* dy,
                                                            cudnnConvolutionDescriptor_t options,
                                                            cudnnConvolutionBwdDataAlgo_t, void* workspace,
                                                            size_t workspace_bytes, const void* beta,
                                                            cudnnTensorDescriptor_t of_dx, void* dx) {
  const Convolution c{*of_dx, *of_w, *of_dy, *options};
  return run(handle, c, dx, w, dy, workspace, workspace_bytes, [=, kept = single(beta)] {
    accumulate(c, c.x, dx, kept, [&](auto& sums, int64_t i, int64_t j, int64_t k) {
      sums[size_t(i)] = std::fma(float(load(dy, c.y.type, k)), float(load(w, c.w.type, j)), sums[size_t(i)]);
    });
  });
}

TREADLE_STAND_IN cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnFilterDescriptor_t, int room, int* count, cudnnConvolutionBwdFilterAlgoPerf_t* offers) {
  return offer_one(CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, room, count, offers);
}
TREADLE_STAND_IN cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnFilterDescriptor_t, cudnnConvolutionBwdFilterAlgo_t, size_t* bytes) {
  *bytes = kWorkspace;
  return CUDNN_STATUS_SUCCESS;
}
TREADLE_STAND_IN cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t of_x, const void* x,
    cudnnTensorDescriptor_t of_dy, const void* dy, cudnnConvolutionDescriptor_t options,
    cudnnConvolutionBwdFilterAlgo_t, void* workspace, size_t workspace_bytes, const void* beta,
    cudnnFilterDescriptor_t of_dw, void* dw) {
  const Convolution c{*of_x, *of_dw, *of_dy, *options};
  return run(handle, c, x, dw, dy, workspace, workspace_bytes, [=, kept = single(beta)] {
    accumulate(c, c.w, dw, kept, [&](auto& sums, int64_t i, int64_t j, int64_t k) {
      sums[size_t(j)] = std::fma(float(load(dy, c.y.type, k)), float(load(x, c.x.type, i)), sums[size_t(j)]);
    });
  });
}

}  // extern "C"

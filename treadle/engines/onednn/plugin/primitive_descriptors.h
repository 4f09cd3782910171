// oneDNN 2 and 3 describe a primitive differently (2 has an operation descriptor in between); only this file
// knows.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "treadle/engines/onednn/plugin/api.h"

namespace treadle::onednn {

inline dnnl::memory::data_type type_of(const TreadleOnednnTensor& tensor) {
  return tensor.dtype == TREADLE_ONEDNN_BF16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

/// Whether oneDNN may use the instructions of `wanted`.
inline bool has_isa(dnnl::cpu_isa wanted) {
  const auto used = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto needed = static_cast<unsigned>(wanted);
  return (used & needed) == needed;
}

/// Pairs are (height, width). Dilation counts as oneDNN does: 0 is a dense filter.
struct Conv2dGeometry {
  dnnl::memory::dims stride, dilation, pad_begin, pad_end;
};

/// The memory of a convolution and its gradients; `bias` is an empty descriptor when there is none. Where the
/// gradient of w is f32 and all else bf16, `forward_w` is what the forward pass would read.
struct Conv2dMemory {
  dnnl::memory::desc x, w, bias, y;
  dnnl::memory::desc forward_w = w;

  Conv2dMemory of_forward_pass() const { return {x, forward_w, bias, y}; }
};

using ConvForward = dnnl::convolution_forward;
using ConvInputGradient = dnnl::convolution_backward_data;
using ConvWeightGradient = dnnl::convolution_backward_weights;

constexpr dnnl::algorithm kDirect = dnnl::algorithm::convolution_direct;
constexpr dnnl::prop_kind kTraining = dnnl::prop_kind::forward_training;

#if DNNL_VERSION_MAJOR >= 3

inline ConvForward::primitive_desc describe_forward(const dnnl::engine& engine, const Conv2dMemory& m,
                                                    const Conv2dGeometry& g,
                                                    const dnnl::primitive_attr& attr) {
  return {engine, kTraining, kDirect,    m.x,         m.w,       m.bias,
          m.y,    g.stride,  g.dilation, g.pad_begin, g.pad_end, attr};
}

inline ConvInputGradient::primitive_desc describe_input_gradient(const dnnl::engine& engine,
                                                                 const Conv2dMemory& m,
                                                                 const Conv2dGeometry& g,
                                                                 const dnnl::primitive_attr& attr) {
  return {engine,   kDirect,    m.x,         m.w,       m.y,
          g.stride, g.dilation, g.pad_begin, g.pad_end, describe_forward(engine, m, g, attr),
          attr};
}

inline ConvWeightGradient::primitive_desc describe_weight_gradient(const dnnl::engine& engine,
                                                                   const Conv2dMemory& m,
                                                                   const Conv2dGeometry& g,
                                                                   const dnnl::primitive_attr& attr) {
  return {engine,
          kDirect,
          m.x,
          m.w,
          m.bias,
          m.y,
          g.stride,
          g.dilation,
          g.pad_begin,
          g.pad_end,
          describe_forward(engine, m.of_forward_pass(), g, attr),
          attr};
}

inline dnnl::matmul::primitive_desc describe_matmul(const dnnl::engine& engine, const dnnl::memory::desc& a,
                                                    const dnnl::memory::desc& b,
                                                    const dnnl::memory::desc& bias,
                                                    const dnnl::memory::desc& c,
                                                    const dnnl::primitive_attr& attr) {
  return {engine, a, b, bias, c, attr};
}

#else

inline ConvForward::primitive_desc describe_forward(const dnnl::engine& engine, const Conv2dMemory& m,
                                                    const Conv2dGeometry& g,
                                                    const dnnl::primitive_attr& attr) {
  return {ConvForward::desc(kTraining, kDirect, m.x, m.w, m.bias, m.y, g.stride, g.dilation, g.pad_begin,
                            g.pad_end),
          attr, engine};
}

inline ConvInputGradient::primitive_desc describe_input_gradient(const dnnl::engine& engine,
                                                                 const Conv2dMemory& m,
                                                                 const Conv2dGeometry& g,
                                                                 const dnnl::primitive_attr& attr) {
  return {ConvInputGradient::desc(kDirect, m.x, m.w, m.y, g.stride, g.dilation, g.pad_begin, g.pad_end), attr,
          engine, describe_forward(engine, m, g, attr)};
}

inline ConvWeightGradient::primitive_desc describe_weight_gradient(const dnnl::engine& engine,
                                                                   const Conv2dMemory& m,
                                                                   const Conv2dGeometry& g,
                                                                   const dnnl::primitive_attr& attr) {
  return {
      ConvWeightGradient::desc(kDirect, m.x, m.w, m.bias, m.y, g.stride, g.dilation, g.pad_begin, g.pad_end),
      attr, engine, describe_forward(engine, m.of_forward_pass(), g, attr)};
}

inline dnnl::matmul::primitive_desc describe_matmul(const dnnl::engine& engine, const dnnl::memory::desc& a,
                                                    const dnnl::memory::desc& b,
                                                    const dnnl::memory::desc& bias,
                                                    const dnnl::memory::desc& c,
                                                    const dnnl::primitive_attr& attr) {
  return {dnnl::matmul::desc(a, b, bias, c), attr, engine};
}

#endif

}  // namespace treadle::onednn

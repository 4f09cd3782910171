// The plugin's functions as C++: they throw std::invalid_argument or dnnl::error instead of returning a code.
#pragma once

#include "treadle/engines/onednn/plugin/api.h"

namespace treadle::onednn {

using Tensor = TreadleOnednnTensor;

void conv2d_forward(const TreadleOnednnConv2d& options, const Tensor& x, const Tensor& w, const Tensor* b,
                    const Tensor& y);
void conv2d_input_gradient(const TreadleOnednnConv2d& options, const Tensor& dy, const Tensor& w,
                           const Tensor& dx);
void conv2d_weight_gradient(const TreadleOnednnConv2d& options, const Tensor& x, const Tensor& dy,
                            const Tensor& dw, const Tensor* db);
void matmul(const Tensor& a, const Tensor& b, const Tensor* bias, float beta, const Tensor& c);

/// Whether oneDNN may use instructions for products of bf16.
bool multiplies_bf16();

/// Throws std::invalid_argument unless `tensor` is f32 or bf16, of a rank up to TREADLE_ONEDNN_MAX_RANK, has
/// data and no extent below 1.
void require_valid(const Tensor& tensor, const char* name);
/// Throws std::invalid_argument saying `sentence` unless `condition` holds.
void require(bool condition, const char* sentence);

}  // namespace treadle::onednn

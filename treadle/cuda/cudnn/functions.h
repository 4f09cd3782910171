/// The functions of cuDNN that are used, and a handle for each device. Empty where cuDNN's headers are not
/// installed.
#pragma once

#if __has_include(<cudnn.h>)
#include <cudnn.h>

namespace treadle::cudnn {

struct Functions {
  decltype(&::cudnnGetErrorString) error_string;
  decltype(&::cudnnCreate) create;
  decltype(&::cudnnSetStream) set_stream;
  decltype(&::cudnnCreateTensorDescriptor) create_tensor;
  decltype(&::cudnnDestroyTensorDescriptor) destroy_tensor;
  decltype(&::cudnnSetTensor4dDescriptorEx) set_tensor;
  decltype(&::cudnnCreateFilterDescriptor) create_filter;
  decltype(&::cudnnDestroyFilterDescriptor) destroy_filter;
  decltype(&::cudnnSetFilter4dDescriptor) set_filter;
  decltype(&::cudnnCreateConvolutionDescriptor) create_convolution;
  decltype(&::cudnnDestroyConvolutionDescriptor) destroy_convolution;
  decltype(&::cudnnSetConvolution2dDescriptor) set_convolution;
  decltype(&::cudnnSetConvolutionGroupCount) set_group_count;
  decltype(&::cudnnSetConvolutionMathType) set_math_type;
  decltype(&::cudnnGetConvolutionForwardAlgorithm_v7) forward_algorithms;
  decltype(&::cudnnGetConvolutionForwardWorkspaceSize) forward_workspace;
  decltype(&::cudnnConvolutionForward) forward;
  decltype(&::cudnnGetConvolutionBackwardDataAlgorithm_v7) input_gradient_algorithms;
  decltype(&::cudnnGetConvolutionBackwardDataWorkspaceSize) input_gradient_workspace;
  decltype(&::cudnnConvolutionBackwardData) input_gradient;
  decltype(&::cudnnGetConvolutionBackwardFilterAlgorithm_v7) weight_gradient_algorithms;
  decltype(&::cudnnGetConvolutionBackwardFilterWorkspaceSize) weight_gradient_workspace;
  decltype(&::cudnnConvolutionBackwardFilter) weight_gradient;
};

/// Null when cuDNN is absent. The library is opened at the first call.
const Functions* functions();

/// The ordinal of the device that this thread's calls go to. Throws DeviceError.
int current_device();

/// The current device's handle, for questions. The caller sees to it that no two threads use it at once. The
/// first call on a device allocates, so it must not come while a graph is captured. Throws DeviceError.
cudnnHandle_t handle();

/// The same, set to one of the device's streams, for work.
cudnnHandle_t handle_on(void* stream);

/// Throws DeviceError naming `what` unless `status` is success.
void check(cudnnStatus_t status, const char* what);

}  // namespace treadle::cudnn
#endif

#include "treadle/cuda/cudnn/cudnn.h"

#include <map>

#include "treadle/core/error.h"
#include "treadle/core/shared_library.h"
#include "treadle/cuda/cudnn/functions.h"
#include "treadle/graph/registry.h"

#if __has_include(<cudnn.h>)

namespace treadle::cudnn {
namespace {

struct Library {
  SharedLibrary file;
  Functions functions{};
};

Library open_library() {
  Library library{SharedLibrary::open({"libcudnn.so.9"}, {"/usr/local/cuda"})};
  Functions& f = library.functions;
  SharedLibrary& file = library.file;
  file.find(f.error_string, "cudnnGetErrorString");
  file.find(f.create, "cudnnCreate");
  file.find(f.set_stream, "cudnnSetStream");
  file.find(f.create_tensor, "cudnnCreateTensorDescriptor");
  file.find(f.destroy_tensor, "cudnnDestroyTensorDescriptor");
  file.find(f.set_tensor, "cudnnSetTensor4dDescriptorEx");
  file.find(f.create_filter, "cudnnCreateFilterDescriptor");
  file.find(f.destroy_filter, "cudnnDestroyFilterDescriptor");
  file.find(f.set_filter, "cudnnSetFilter4dDescriptor");
  file.find(f.create_convolution, "cudnnCreateConvolutionDescriptor");
  file.find(f.destroy_convolution, "cudnnDestroyConvolutionDescriptor");
  file.find(f.set_convolution, "cudnnSetConvolution2dDescriptor");
  file.find(f.set_group_count, "cudnnSetConvolutionGroupCount");
  file.find(f.set_math_type, "cudnnSetConvolutionMathType");
  file.find(f.forward_algorithms, "cudnnGetConvolutionForwardAlgorithm_v7");
  file.find(f.forward_workspace, "cudnnGetConvolutionForwardWorkspaceSize");
  file.find(f.forward, "cudnnConvolutionForward");
  file.find(f.input_gradient_algorithms, "cudnnGetConvolutionBackwardDataAlgorithm_v7");
  file.find(f.input_gradient_workspace, "cudnnGetConvolutionBackwardDataWorkspaceSize");
  file.find(f.input_gradient, "cudnnConvolutionBackwardData");
  file.find(f.weight_gradient_algorithms, "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
  file.find(f.weight_gradient_workspace, "cudnnGetConvolutionBackwardFilterWorkspaceSize");
  file.find(f.weight_gradient, "cudnnConvolutionBackwardFilter");
  return library;
}

const Library& library() {
  static const Library& opened = *new Library(open_library());
  return opened;
}

/// One for each device; what it needs is allocated when it is made.
struct Handle {
  cudnnHandle_t value = nullptr;
  void* stream = nullptr;
};

Handle& current_handle() {
  static auto& handles = *new std::map<int, Handle>;  // at the end of the process cuDNN may be gone before
  Handle& handle = handles[current_device()];
  if (!handle.value) check(functions()->create(&handle.value), "cudnnCreate");
  return handle;
}

}  // namespace

const Functions* functions() { return library().file.is_open() ? &library().functions : nullptr; }

int current_device() {
  int ordinal = 0;
  const cudaError_t status = cudaGetDevice(&ordinal);
  require<DeviceError>(status == cudaSuccess, "cuDNN: cudaGetDevice: {}", cudaGetErrorString(status));
  return ordinal;
}

cudnnHandle_t handle() { return current_handle().value; }

cudnnHandle_t handle_on(void* stream) {
  Handle& handle = current_handle();
  if (handle.stream != stream)
    check(functions()->set_stream(handle.value, static_cast<cudaStream_t>(stream)), "cudnnSetStream");
  handle.stream = stream;
  return handle.value;
}

void check(cudnnStatus_t status, const char* what) {
  require<DeviceError>(status == CUDNN_STATUS_SUCCESS, "cuDNN: {}: {}", what,
                       functions()->error_string(status));
}

}  // namespace treadle::cudnn

std::string treadle::cudnn_absence() { return cudnn::library().file.absence(); }

#else

std::string treadle::cudnn_absence() { return "this program was built without cuDNN's headers"; }

#endif

namespace treadle::cudnn {

void register_cudnn(Registry& registry) { add_engine(registry, Engine::cudnn, cudnn_absence); }

}  // namespace treadle::cudnn

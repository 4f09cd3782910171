#include "treadle/cuda/cublas/cublas.h"

#include <cuda_runtime_api.h>

#include <map>

#include "treadle/core/error.h"
#include "treadle/core/shared_library.h"
#include "treadle/cuda/cublas/functions.h"
#include "treadle/graph/registry.h"

namespace treadle::cublas {
namespace {

struct Library {
  SharedLibrary file;
  Functions functions{};
};

Library open_library() {
  Library library{SharedLibrary::open({"libcublas.so.13", "libcublas.so.12"}, {"/usr/local/cuda"})};
  Functions& f = library.functions;
  library.file.find(f.create, "cublasCreate_v2");
  library.file.find(f.set_stream, "cublasSetStream_v2");
  library.file.find(f.set_workspace, "cublasSetWorkspace_v2");
  library.file.find(f.set_math_mode, "cublasSetMathMode");
  library.file.find(f.status_string, "cublasGetStatusString");
  library.file.find(f.gemm_strided_batched, "cublasGemmStridedBatchedEx");
  return library;
}

const Library& library() {
  static const Library& opened = *new Library(open_library());
  return opened;
}

void check_runtime(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // a passing error must not be reported again by the next call
  throw DeviceError(fmt::format("cuBLAS: {}: {}", what, cudaGetErrorString(status)));
}

/// What cuBLAS recommends: 32 MiB for Hopper and later cards.
size_t workspace_bytes(int ordinal) {
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal);
  return size_t(major >= 9 ? 32 : 8) << 20;
}

/// One for each device. All that it needs is allocated when it is made: a stream that is being captured
/// allows no allocation. The workspace may serve every stream, because captured graphs are launched on the
/// device's one stream, where each call comes after the one before.
class Handle {
 public:
  explicit Handle(int ordinal) : workspace_bytes_(workspace_bytes(ordinal)) {
    const Functions& f = *functions();
    check_runtime(cudaMalloc(&workspace_, workspace_bytes_), "the workspace");
    check(f.create(&handle_), "cublasCreate");
    check(f.set_math_mode(
              handle_, cublasMath_t(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
          "cublasSetMathMode");
  }

  cublasHandle_t on(cudaStream_t stream) {
    if (stream == stream_) return handle_;
    stream_ = nullptr;  // until both calls have succeeded
    check(functions()->set_stream(handle_, stream), "cublasSetStream");
    // A new stream takes the workspace away.
    check(functions()->set_workspace(handle_, workspace_, workspace_bytes_), "cublasSetWorkspace");
    stream_ = stream;
    return handle_;
  }

 private:
  size_t workspace_bytes_;
  void* workspace_ = nullptr;
  cublasHandle_t handle_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

const Functions* functions() { return library().file.is_open() ? &library().functions : nullptr; }

cublasHandle_t handle_on(cudaStream_t stream) {
  static auto& handles = *new std::map<int, Handle>;  // at the end of the process cuBLAS may be gone before
  int ordinal = 0;
  check_runtime(cudaGetDevice(&ordinal), "cudaGetDevice");
  return handles.try_emplace(ordinal, ordinal).first->second.on(stream);
}

void check(cublasStatus_t status, const char* what) {
  require<DeviceError>(status == CUBLAS_STATUS_SUCCESS, "cuBLAS: {}: {}", what,
                       functions()->status_string(status));
}

void register_cublas(Registry& registry) { add_engine(registry, Engine::cublas, cublas_absence); }

}  // namespace treadle::cublas

std::string treadle::cublas_absence() { return cublas::library().file.absence(); }

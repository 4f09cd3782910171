#include "treadle/engines/cublas/cublas.h"

#include <map>
#include <mutex>

#include "treadle/core/error.h"
#include "treadle/core/shared_library.h"
#include "treadle/engines/cublas/functions.h"
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
  library.file.find(f.set_math_mode, "cublasSetMathMode");
  library.file.find(f.status_string, "cublasGetStatusString");
  library.file.find(f.gemm_strided_batched, "cublasGemmStridedBatchedEx");
  return library;
}

const Library& library() {
  static const Library& opened = *new Library(open_library());
  return opened;
}

cublasHandle_t make_handle(cudaStream_t stream) {
  const Functions& f = *functions();
  cublasHandle_t handle = nullptr;
  check(f.create(&handle), "cublasCreate");
  check(f.set_stream(handle, stream), "cublasSetStream");
  check(f.set_math_mode(handle,
                        cublasMath_t(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
        "cublasSetMathMode");
  return handle;
}

}  // namespace

const Functions* functions() { return library().file.is_open() ? &library().functions : nullptr; }

cublasHandle_t handle_of(cudaStream_t stream) {
  static std::mutex mutex;
  static auto& handles = *new std::map<cudaStream_t, cublasHandle_t>;
  std::lock_guard lock(mutex);
  auto& handle = handles[stream];
  if (!handle) handle = make_handle(stream);
  return handle;
}

void check(cublasStatus_t status, const char* what) {
  require<DeviceError>(status == CUBLAS_STATUS_SUCCESS, "cuBLAS: {}: {}", what,
                       functions()->status_string(status));
}

void register_cublas(Registry& registry) { registry.add_engine(Engine::cublas, cublas_absence); }

}  // namespace treadle::cublas

std::string treadle::cublas_absence() { return cublas::library().file.absence(); }

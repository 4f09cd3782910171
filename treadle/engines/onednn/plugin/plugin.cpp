// The exported table: each entry runs one function with one thread and turns exceptions into codes and
// sentences.
#include <omp.h>

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "treadle/engines/onednn/plugin/functions.h"
#include "treadle/engines/onednn/plugin/primitive_descriptors.h"
#include "treadle/engines/onednn/plugin/thread_state.h"

#if DNNL_CPU_THREADING_RUNTIME != DNNL_RUNTIME_OMP && DNNL_CPU_THREADING_RUNTIME != DNNL_RUNTIME_SEQ
#error \
    "Treadle's plugin needs a oneDNN built for OpenMP or for one thread: it must compute on the calling thread"
#endif

namespace treadle::onednn {

void require(bool condition, const char* sentence) {
  if (!condition) throw std::invalid_argument(sentence);
}

void require_valid(const Tensor& tensor, const char* name) {
  const auto check = [&](bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(std::string(name) + what);
  };
  check(tensor.data != nullptr, " has no data");
  check(tensor.dtype == TREADLE_ONEDNN_F32 || tensor.dtype == TREADLE_ONEDNN_BF16,
        " has a dtype other than f32 and bf16");
  check(tensor.rank >= 1 && tensor.rank <= TREADLE_ONEDNN_MAX_RANK, " has a rank outside 1 to 6");
  for (int i = 0; i < tensor.rank; ++i) check(tensor.shape[i] >= 1, " has an extent below 1");
}

bool multiplies_bf16() { return has_isa(dnnl::cpu_isa::avx512_core_bf16); }

namespace {

/// One OpenMP thread for the calling thread while this lives: then oneDNN opens no parallel region. The
/// caller's own setting, which may belong to another library of the process, comes back.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

int report(TreadleOnednnStatus status, const char* sentence, char* message, size_t message_size) {
  if (message && message_size > 0) std::snprintf(message, message_size, "%s", sentence);
  return status;
}

template <class Call>
int guarded(Call call, char* message, size_t message_size) {
  try {
    const OneThread one_thread;
    call();
    return TREADLE_ONEDNN_OK;
  } catch (const std::invalid_argument& error) {
    return report(TREADLE_ONEDNN_INVALID_ARGUMENT, error.what(), message, message_size);
  } catch (const std::bad_alloc&) {
    return report(TREADLE_ONEDNN_FAILED, "out of memory", message, message_size);
  } catch (const std::exception& error) {
    return report(TREADLE_ONEDNN_FAILED, error.what(), message, message_size);
  }
}

const char* onednn_version() {
  static const std::string version = [] {
    const dnnl_version_t* v = dnnl_version();
    return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  }();
  return version.c_str();
}

int conv2d_forward_entry(const TreadleOnednnConv2d* options, const Tensor* x, const Tensor* w,
                         const Tensor* b, const Tensor* y, char* message, size_t message_size) {
  return guarded([&] { conv2d_forward(*options, *x, *w, b, *y); }, message, message_size);
}

int conv2d_input_gradient_entry(const TreadleOnednnConv2d* options, const Tensor* dy, const Tensor* w,
                                const Tensor* dx, char* message, size_t message_size) {
  return guarded([&] { conv2d_input_gradient(*options, *dy, *w, *dx); }, message, message_size);
}

int conv2d_weight_gradient_entry(const TreadleOnednnConv2d* options, const Tensor* x, const Tensor* dy,
                                 const Tensor* dw, const Tensor* db, char* message, size_t message_size) {
  return guarded([&] { conv2d_weight_gradient(*options, *x, *dy, *dw, db); }, message, message_size);
}

int matmul_entry(const Tensor* a, const Tensor* b, const Tensor* bias, float beta, const Tensor* c,
                 char* message, size_t message_size) {
  return guarded([&] { matmul(*a, *b, bias, beta, *c); }, message, message_size);
}

int multiplies_bf16_entry() { return multiplies_bf16() ? 1 : 0; }

const char* last_implementation() { return ThreadState::current().last_implementation().c_str(); }

constexpr TreadleOnednnApi kApi{
    TREADLE_ONEDNN_ABI_VERSION,   onednn_version, conv2d_forward_entry, conv2d_input_gradient_entry,
    conv2d_weight_gradient_entry, matmul_entry,   last_implementation,  multiplies_bf16_entry};

}  // namespace

}  // namespace treadle::onednn

const TreadleOnednnApi* treadle_onednn_api(int abi_version) {
  return abi_version == TREADLE_ONEDNN_ABI_VERSION ? &treadle::onednn::kApi : nullptr;
}

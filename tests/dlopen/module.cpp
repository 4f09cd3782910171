/// A module that a host program opens, as an interpreter's extension: a C interface over the public headers.
#include <exception>

#include "treadle/core/error.h"
#include "treadle/core/runtime.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/reduce/reduce.h"
#include "treadle/ops/softmax/softmax.h"

#define TREADLE_MODULE extern "C" __attribute__((visibility("default")))

namespace {

/// Ones of [n, n] times ones, and the softmax of a row of n zeros: n and 1/n, in each of n·n and n places. On
/// simt both are kernels with `__shared__` memory and barriers.
double sum_of_both(const char* device, int64_t n) {
  using namespace treadle;
  const Device where = device_named(device);
  const Tensor ones = full({n, n}, 1.0, DType::f32, where);
  const Tensor product = matmul(ones, ones), row = softmax(Tensor::zeros({1, n}, DType::f32, where), 1);
  return sum(product).item() + sum(row).item();
}

}  // namespace

/// n³ + 1, or -1 after an exception.
TREADLE_MODULE double module_compute(const char* device, long long n) {
  try {
    return sum_of_both(device, n);
  } catch (const std::exception&) {
    return -1;
  }
}

/// Whether an exception of the library arrives as what it is.
TREADLE_MODULE int module_refuses_an_unknown_device() {
  try {
    treadle::device_named("no such device");
  } catch (const treadle::ValueError&) {
    return 1;
  }
  return 0;
}

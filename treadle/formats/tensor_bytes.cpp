#include "treadle/formats/tensor_bytes.h"

#include <algorithm>
#include <vector>

#include "treadle/core/runtime.h"

namespace treadle {
namespace {

using Sink = std::function<void(std::span<const std::byte>)>;

template <class T>
void visit_strided(const Tensor& tensor, const Sink& sink) {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<bool> flags = tensor.to_bools();
    std::vector<uint8_t> bytes(flags.begin(), flags.end());
    sink(std::as_bytes(std::span(bytes)));
  } else {
    std::vector<T> values = tensor.to_vector<T>();
    sink(std::as_bytes(std::span(values)));
  }
}

void visit_contiguous(const Tensor& tensor, const Sink& sink) {
  size_t count = size_t(tensor.numel()) * size_of(tensor.dtype());
  Runtime& device = runtime(tensor.device());
  if (count == 0) return;
  if (device.host_accessible()) {
    device.synchronize();
    return sink(std::span(static_cast<const std::byte*>(tensor.raw()), count));
  }
  std::vector<std::byte> bytes(count);
  device.copy_to_host(bytes.data(), tensor.raw(), count);
  sink(bytes);
}

}  // namespace

void visit_row_major_bytes(const Tensor& tensor, const Sink& sink) {
  if (tensor.is_contiguous()) return visit_contiguous(tensor, sink);
  with_type(tensor.dtype(), [&](auto tag) { visit_strided<typename decltype(tag)::type>(tensor, sink); });
}

int64_t first_that_is_no_bool(std::span<const std::byte> bytes) {
  auto wrong = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte(1); });
  return wrong == bytes.end() ? -1 : wrong - bytes.begin();
}

}  // namespace treadle

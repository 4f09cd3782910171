// The cuda devices' Runtime: one for each usable GPU, with one stream, over the CUDA runtime that is linked
// statically.
#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/core/runtime.h"

namespace treadle::cuda {
namespace {

/// Kernels are compiled for this compute capability and later ones.
constexpr int kLeastMajor = 7, kLeastMinor = 5;

class CudaRuntime final : public Runtime {
 public:
  CudaRuntime(int index, int ordinal) : index_(index), ordinal_(ordinal) {
    activate();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }

  void* allocate(size_t bytes) override {
    activate();
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) throw_out_of_memory(bytes);
    check(status, "cudaMalloc");
    return memory;
  }
  /// Errors are ignored: at the end of the process the driver may be gone before the last tensor.
  void free(void* memory) noexcept override {
    cudaSetDevice(ordinal_);
    cudaFree(memory);
    cudaGetLastError();
  }
  /// Waits, so that the caller may change `source` at once.
  void copy_from_host(void* target, const void* source, size_t bytes) override {
    copy(target, source, bytes, cudaMemcpyHostToDevice);
    synchronize();
  }
  void copy_to_host(void* target, const void* source, size_t bytes) override {
    copy(target, source, bytes, cudaMemcpyDeviceToHost);
    synchronize();
  }
  void copy_within(void* target, const void* source, size_t bytes) override {
    copy(target, source, bytes, cudaMemcpyDeviceToDevice);
  }
  void fill_bytes(void* target, int value, size_t bytes) override {
    if (bytes == 0) return;
    activate();
    check(cudaMemsetAsync(target, value, bytes, stream_), "cudaMemset");
  }
  /// Errors inside kernels come out here.
  void synchronize() override {
    activate();
    check(cudaStreamSynchronize(stream_), "the work on the stream failed");
  }
  /// Makes the device current in this thread too: a kernel may only be launched on the current device's
  /// stream.
  void* stream() override {
    activate();
    return stream_;
  }
  bool host_accessible() const override { return false; }
  std::string description() const override;

 private:
  void check(cudaError_t status, const char* what) const {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // a passing error must not be reported again by the next call
    throw DeviceError(fmt::format("cuda:{}: {}: {}", index_, what, cudaGetErrorString(status)));
  }
  void activate() const { check(cudaSetDevice(ordinal_), "cudaSetDevice"); }
  void copy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return;
    activate();
    check(cudaMemcpyAsync(target, source, bytes, kind, stream_), "cudaMemcpy");
  }
  [[noreturn]] void throw_out_of_memory(size_t bytes) const {
    cudaGetLastError();
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    throw DeviceError(fmt::format("cuda:{}: out of memory for {} bytes; {} of {} bytes are free", index_,
                                  bytes, free, total));
  }

  int index_, ordinal_;
  cudaStream_t stream_ = nullptr;
};

/// "13.0" for 13000.
std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// The newest CUDA version that the driver serves; 0 when there is no driver.
int driver_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

std::string CudaRuntime::description() const {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal_), "cudaGetDeviceProperties");
  return fmt::format("{}, compute capability {}.{}, {:.0f} GiB, driver for CUDA {}", properties.name,
                     properties.major, properties.minor, double(properties.totalGlobalMem) / (1 << 30),
                     version_text(driver_version()));
}

/// The GPUs found at the first question, and the reason when there are none.
struct Inventory {
  std::vector<int> ordinals;
  std::string absence;
  std::vector<std::unique_ptr<CudaRuntime>> runtimes;
};

std::string reason_of(cudaError_t status) {
  const int version = driver_version();
  if (version == 0) return "no NVIDIA driver is installed";
  if (status == cudaErrorInsufficientDriver)
    return fmt::format("the NVIDIA driver is too old: it serves CUDA {}, this program needs {}",
                       version_text(version), version_text(CUDART_VERSION));
  if (status == cudaErrorNoDevice) return "the NVIDIA driver finds no GPU";
  return fmt::format("the NVIDIA driver fails: {}", cudaGetErrorString(status));
}

bool is_usable(int ordinal) {
  int major = 0, minor = 0;
  return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal) == cudaSuccess &&
         cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal) == cudaSuccess &&
         (major > kLeastMajor || (major == kLeastMajor && minor >= kLeastMinor));
}

void find_devices(Inventory& inventory) {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    cudaGetLastError();
    inventory.absence = reason_of(status);
    return;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal)
    if (is_usable(ordinal)) inventory.ordinals.push_back(ordinal);
  if (inventory.ordinals.empty())
    inventory.absence =
        count == 0 ? "the NVIDIA driver finds no GPU"
                   : fmt::format("no GPU has compute capability {}.{} or later", kLeastMajor, kLeastMinor);
}

/// Never destroyed: tensors may outlive main().
Inventory& inventory() {
  static Inventory& found = *[] {
    auto* fresh = new Inventory;
    find_devices(*fresh);
    fresh->runtimes.resize(fresh->ordinals.size());
    return fresh;
  }();
  return found;
}

Runtime& get(int index) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  Inventory& found = inventory();
  auto& runtime = found.runtimes.at(size_t(index));
  if (!runtime) runtime = std::make_unique<CudaRuntime>(index, found.ordinals[size_t(index)]);
  return *runtime;
}

}  // namespace

/// Makes the GPUs known. Without a driver there are none, and that is no error.
void register_device() {
  treadle::register_device(DeviceKind::cuda, {[] { return int(inventory().ordinals.size()); },
                                              [] { return inventory().absence; }, get});
}

}  // namespace treadle::cuda

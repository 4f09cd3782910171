// The cuda devices' Runtime: one for each usable GPU, with one stream, and graphs, over the CUDA runtime that
// is linked statically.
#include <cuda_runtime_api.h>

#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "treadle/core/data_mistake.h"
#include "treadle/core/error.h"
#include "treadle/core/runtime.h"

namespace treadle::cuda {
namespace {

/// Kernels are compiled for this compute capability and later ones.
constexpr int kLeastMajor = 7, kLeastMinor = 5;

class CudaRuntime;

/// The capture that a thread is in the middle of. It has a stream of its own, so that other threads' work on
/// the device's stream does not get into the graph.
struct Capture {
  CudaRuntime& runtime;
  cudaStream_t stream;
  std::vector<void*> freed;  ///< given back at the end: cudaFree would break the capture off

  explicit Capture(CudaRuntime& runtime);
  Capture(const Capture&) = delete;
  ~Capture();
};
thread_local Capture* this_threads_capture = nullptr;

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using Graph = std::unique_ptr<CUgraph_st, DestroyGraph>;

class CudaRuntime final : public Runtime {
 public:
  CudaRuntime(int index, int ordinal) : index_(index), ordinal_(ordinal) {
    activate();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    void* shared = nullptr;
    check(cudaHostAlloc(&shared, sizeof(DataMistake), cudaHostAllocDefault), "cudaHostAlloc");
    data_mistake_ = new (shared) DataMistake;
  }

  void* allocate(size_t bytes) override {
    refuse_while_capturing("allocates device memory");
    activate();
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) throw_out_of_memory(bytes);
    check(status, "cudaMalloc");
    return memory;
  }
  /// Errors are ignored: at the end of the process the driver may be gone before the last tensor.
  void free(void* memory) noexcept override {
    if (this_threads_capture) return this_threads_capture->freed.push_back(memory);
    cudaSetDevice(ordinal_);
    cudaFree(memory);
    cudaGetLastError();
  }
  /// Waits, so that the caller may change `source` at once.
  void copy_from_host(void* target, const void* source, size_t bytes) override {
    refuse_while_capturing("copies from the host");
    copy(target, source, bytes, cudaMemcpyHostToDevice);
    synchronize();
  }
  void copy_to_host(void* target, const void* source, size_t bytes) override {
    refuse_while_capturing("copies to the host");
    copy(target, source, bytes, cudaMemcpyDeviceToHost);
    synchronize();
  }
  void copy_within(void* target, const void* source, size_t bytes) override {
    copy(target, source, bytes, cudaMemcpyDeviceToDevice);
  }
  void fill_bytes(void* target, int value, size_t bytes) override {
    if (bytes == 0) return;
    activate();
    check(cudaMemsetAsync(target, value, bytes, current_stream()), "cudaMemset");
  }
  /// Errors inside kernels come out here, and values out of range that kernels have met.
  void synchronize() override {
    refuse_while_capturing("waits for the device");
    activate();
    check(cudaStreamSynchronize(stream_), "the work on the stream failed");
    throw_if_noted(*data_mistake_);
  }
  int ordinal() const { return ordinal_; }
  DataMistake* data_mistake() const { return data_mistake_; }
  /// Makes the device current in this thread too: a kernel may only be launched on the current device's
  /// stream.
  void* stream() override {
    activate();
    return current_stream();
  }
  std::unique_ptr<CapturedGraph> capture(const std::function<void()>& work) override;
  bool host_accessible() const override { return false; }
  std::string description() const override;

 private:
  friend struct Capture;
  friend class CudaGraph;
  void check(cudaError_t status, const char* what) const {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // a passing error must not be reported again by the next call
    throw DeviceError(fmt::format("cuda:{}: {}: {}", index_, what, cudaGetErrorString(status)));
  }
  void activate() const { check(cudaSetDevice(ordinal_), "cudaSetDevice"); }
  void copy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return;
    activate();
    check(cudaMemcpyAsync(target, source, bytes, kind, current_stream()), "cudaMemcpy");
  }
  /// Where this thread's work goes.
  cudaStream_t current_stream() const {
    return this_threads_capture && &this_threads_capture->runtime == this ? this_threads_capture->stream
                                                                          : stream_;
  }
  void refuse_while_capturing(const char* what) const {
    require<DeviceError>(!this_threads_capture, "cuda:{}: a graph is being captured, and the work {}", index_,
                         what);
  }
  Graph record(const std::function<void()>& work);
  [[noreturn]] void throw_out_of_memory(size_t bytes) const {
    cudaGetLastError();
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    throw DeviceError(fmt::format("cuda:{}: out of memory for {} bytes; {} of {} bytes are free", index_,
                                  bytes, free, total));
  }

  int index_, ordinal_;
  cudaStream_t stream_ = nullptr;
  DataMistake* data_mistake_ = nullptr;  ///< pinned: kernels write to it, the host reads
  std::mutex capture_mutex_;
  /// Kept for the next capture: a library's handle may still name one.
  std::vector<cudaStream_t> idle_capture_streams_;
};

/// A graph made ready to be launched.
class CudaGraph final : public CapturedGraph {
 public:
  CudaGraph(CudaRuntime& runtime, cudaGraph_t graph) : runtime_(runtime) {
    runtime.check(cudaGraphInstantiate(&graph_, graph, 0), "cudaGraphInstantiate");
  }
  /// Errors are ignored, as in free().
  ~CudaGraph() override {
    cudaSetDevice(runtime_.ordinal_);
    cudaGraphExecDestroy(graph_);
    cudaGetLastError();
  }
  void launch() override {
    runtime_.refuse_while_capturing("launches a graph");
    runtime_.activate();
    runtime_.check(cudaGraphLaunch(graph_, runtime_.stream_), "cudaGraphLaunch");
  }

 private:
  CudaRuntime& runtime_;
  cudaGraphExec_t graph_ = nullptr;
};

Capture::Capture(CudaRuntime& runtime) : runtime(runtime) {
  const std::lock_guard lock(runtime.capture_mutex_);
  auto& idle = runtime.idle_capture_streams_;
  if (!idle.empty()) {
    stream = idle.back();
    idle.pop_back();
  } else {
    runtime.check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
}

Capture::~Capture() {
  for (void* memory : freed) runtime.free(memory);
  const std::lock_guard lock(runtime.capture_mutex_);
  runtime.idle_capture_streams_.push_back(stream);
}

/// Calls `work` as part of a capture that has begun; returns what it throws.
std::exception_ptr run_captured(Capture& capture, const std::function<void()>& work) {
  std::exception_ptr failure;
  this_threads_capture = &capture;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  this_threads_capture = nullptr;
  return failure;
}

Graph CudaRuntime::record(const std::function<void()>& work) {
  Capture capture(*this);
  // Thread-local: calls that would disturb a capture are refused to this thread only.
  check(cudaStreamBeginCapture(capture.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  const std::exception_ptr failure = run_captured(capture, work);
  cudaSetDevice(ordinal_);
  cudaGraph_t recorded = nullptr;
  const cudaError_t status = cudaStreamEndCapture(capture.stream, &recorded);
  Graph graph(recorded);
  if (failure) {
    cudaGetLastError();
    std::rethrow_exception(failure);
  }
  check(status, "the work cannot be captured as a graph");
  require<DeviceError>(capture.freed.empty(),
                       "cuda:{}: a graph is being captured, and the work frees device memory", index_);
  return graph;
}

std::unique_ptr<CapturedGraph> CudaRuntime::capture(const std::function<void()>& work) {
  refuse_while_capturing("captures another graph");
  activate();
  return std::make_unique<CudaGraph>(*this, record(work).get());
}

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

/// The current device's, for the arguments of a kernel: see ops/data_check.cuh. Null where no runtime has
/// made a device current.
DataMistake* data_mistake() {
  int current = 0;
  if (cudaGetDevice(&current) != cudaSuccess) return nullptr;
  for (const auto& runtime : inventory().runtimes)
    if (runtime && runtime->ordinal() == current) return runtime->data_mistake();
  return nullptr;
}

/// Makes the GPUs known. Without a driver there are none, and that is no error.
void register_device() {
  treadle::register_device(DeviceKind::cuda, {[] { return int(inventory().ordinals.size()); },
                                              [] { return inventory().absence; }, get});
}

}  // namespace treadle::cuda

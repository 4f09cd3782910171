/// Runtime: what a kind of device must be able to do with memory. Each device folder provides one.
#pragma once  // public

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "treadle/core/device.h"
#include "treadle/core/export.h"

namespace treadle {

/// Work of a device that was recorded once and can be done again: the same kernels with the same arguments.
class TREADLE_API CapturedGraph {
 public:
  CapturedGraph() = default;
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  virtual ~CapturedGraph() = default;
  /// Does the work, behind the work already launched; returns without waiting for it. Throws DeviceError
  /// while a graph is captured on this thread.
  virtual void launch() = 0;
};

/// Memory and ordering of one device. All copies are ordered behind the work already launched.
class TREADLE_API Runtime {
 public:
  virtual ~Runtime() = default;
  /// At least 64-byte aligned memory of `bytes` > 0. Throws DeviceError when there is none.
  virtual void* allocate(size_t bytes) = 0;
  virtual void free(void* memory) noexcept = 0;
  virtual void copy_from_host(void* target, const void* source, size_t bytes) = 0;
  virtual void copy_to_host(void* target, const void* source, size_t bytes) = 0;
  virtual void copy_within(void* target, const void* source, size_t bytes) = 0;
  virtual void fill_bytes(void* target, int value, size_t bytes) = 0;
  virtual void synchronize() = 0;
  /// The stream kernels are launched on: null on cpu, the device's stream type otherwise.
  virtual void* stream() = 0;
  /// Records the kernels, copies within the device and fills that `work` launches from this thread, instead
  /// of doing them. Their addresses and scalars are kept as they are: the memory must stay, and must not
  /// serve anything else, as long as the graph is launched. Null, without calling `work`, where a device has
  /// no graphs (cpu).
  ///
  /// While capturing, allocating device memory, copies from or to the host, synchronize(), launching a graph
  /// and another capture throw DeviceError; after device memory was freed, capture() throws it at the end. So
  /// `work` should have run once before: libraries allocate at their first call. Other threads may go on
  /// using the device. What `work` throws passes through, and nothing is recorded.
  virtual std::unique_ptr<CapturedGraph> capture(const std::function<void()>& /*work*/) { return nullptr; }
  /// Whether freed blocks may be kept and handed out again.
  virtual bool caches() const { return true; }
  /// Whether the host can read this device's memory directly.
  virtual bool host_accessible() const { return true; }
  /// One line for `treadle info`: the name of the processor or card.
  virtual std::string description() const = 0;
};

/// The runtime of a device. Throws DeviceError saying why when it is absent.
TREADLE_API Runtime& runtime(Device device);

/// Empty when the device is usable, else the reason why not.
TREADLE_API std::string absence_of(Device device);

/// How many devices of a kind can be used.
TREADLE_API int device_count(DeviceKind kind);

/// One kind of device: made known by register_everything(), asked once, on first use.
struct DeviceProvider {
  int (*count)() = nullptr;
  std::function<std::string()> why_absent;
  Runtime& (*get)(int index) = nullptr;
};
TREADLE_API void register_device(DeviceKind kind, DeviceProvider provider);
/// Whether a kind of device has been made known, be it only as absent.
bool is_registered(DeviceKind kind);

/// Registers every op, variant, engine and device that was linked; generated from the folders. Runs once.
TREADLE_API void register_everything();

}  // namespace treadle

/// Runtime: what a kind of device must be able to do with memory. Each device folder provides one.
#pragma once

#include <cstddef>
#include <string>

#include "treadle/core/device.h"
#include "treadle/core/export.h"

namespace treadle {

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
  std::string (*why_absent)() = nullptr;
  Runtime& (*get)(int index) = nullptr;
};
TREADLE_API void register_device(DeviceKind kind, DeviceProvider provider);

/// Registers every op, variant, engine and device that was linked; generated from the folders. Runs once.
TREADLE_API void register_everything();

}  // namespace treadle

/// Device: where a tensor lives and an op runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "treadle/core/export.h"

namespace treadle {

enum class DeviceKind : uint8_t { cpu, simt, cuda };

/// The names of all kinds, in their order, and all that anybody but a device's own folder knows of it.
struct DeviceName {
  DeviceKind kind;
  std::string_view name;
  bool numbered;  ///< there may be several: "cuda:1"
};
inline constexpr DeviceName kDeviceNames[] = {
    {DeviceKind::cpu, "cpu", false}, {DeviceKind::simt, "simt", false}, {DeviceKind::cuda, "cuda", true}};

/// `cpu`, `simt` (the CUDA kernels on the CPU) or `cuda:N`. Of cpu and simt there is one each, with index 0.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  constexpr bool operator==(const Device&) const = default;
};

inline constexpr Device kCpu{DeviceKind::cpu, 0};
inline constexpr Device kSimt{DeviceKind::simt, 0};

constexpr std::string_view name_of(DeviceKind kind) { return kDeviceNames[int(kind)].name; }

/// What may be asked for: "auto, cpu, simt, cuda or cuda:N".
TREADLE_API std::string device_names();

/// "cpu", "simt", "cuda:0"; an index that no device has stands behind cpu and simt too: "cpu:3".
TREADLE_API std::string to_string(Device device);

/// Parses these; auto is the first device of a numbered kind that is there, else cpu. Throws ValueError for
/// other names.
TREADLE_API Device device_named(std::string_view name);

}  // namespace treadle

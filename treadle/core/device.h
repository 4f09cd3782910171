/// Device: where a tensor lives and an op runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "treadle/core/export.h"

namespace treadle {

enum class DeviceKind : uint8_t { cpu, simt, cuda };
inline constexpr DeviceKind kAllDeviceKinds[] = {DeviceKind::cpu, DeviceKind::simt, DeviceKind::cuda};

/// `cpu`, `simt` (the CUDA kernels on the CPU) or `cuda:N`. Of cpu and simt there is one each, with index 0.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  constexpr bool operator==(const Device&) const = default;
};

inline constexpr Device kCpu{DeviceKind::cpu, 0};
inline constexpr Device kSimt{DeviceKind::simt, 0};

constexpr std::string_view name_of(DeviceKind kind) {
  return kind == DeviceKind::cpu ? "cpu" : kind == DeviceKind::simt ? "simt" : "cuda";
}

/// "cpu", "simt", "cuda:0"; an index that no device has stands behind cpu and simt too: "cpu:3".
TREADLE_API std::string to_string(Device device);

/// Parses cpu, simt, cuda, cuda:N and auto (a usable GPU, else cpu). Throws ValueError for other names.
TREADLE_API Device device_named(std::string_view name);

}  // namespace treadle

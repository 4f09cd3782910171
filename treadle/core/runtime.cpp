#include "treadle/core/runtime.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "treadle/core/error.h"
#include "treadle/core/large_pages.h"
#include "treadle/core/simd_limit.h"

namespace treadle {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "CPU";
}

class CpuRuntime final : public Runtime {
 public:
  void* allocate(size_t bytes) override {
    void* memory = allocate_aligned(bytes);
    require<DeviceError>(memory != nullptr, "cpu: out of memory for {} bytes", bytes);
    return memory;
  }
  void free(void* memory) noexcept override { std::free(memory); }
  // Nothing may be copied from or to null: an empty vector has no address.
  void copy_from_host(void* target, const void* source, size_t bytes) override {
    if (bytes > 0) std::memcpy(target, source, bytes);
  }
  void copy_to_host(void* target, const void* source, size_t bytes) override {
    if (bytes > 0) std::memcpy(target, source, bytes);
  }
  void copy_within(void* target, const void* source, size_t bytes) override {
    std::memmove(target, source, bytes);
  }
  void fill_bytes(void* target, int value, size_t bytes) override { std::memset(target, value, bytes); }
  void synchronize() override {}
  void* stream() override { return nullptr; }
  std::string description() const override {
    const std::string limit = name_of(simd_limit());
    return fmt::format("{}, {} cores{}", processor_name(), std::thread::hardware_concurrency(),
                       limit.empty() ? "" : ", at most " + limit);
  }
};

DeviceProvider& provider(DeviceKind kind) {
  static DeviceProvider providers[std::size(kDeviceNames)] = {{[] { return 1; }, [] { return std::string(); },
                                                               [](int) -> Runtime& {
                                                                 static auto& cpu = *new CpuRuntime;
                                                                 return cpu;
                                                               }}};
  return providers[int(kind)];
}

}  // namespace

void register_device(DeviceKind kind, DeviceProvider new_provider) {
  provider(kind) = std::move(new_provider);
}

bool is_registered(DeviceKind kind) { return provider(kind).count != nullptr; }

int device_count(DeviceKind kind) {
  if (kind != DeviceKind::cpu) register_everything();
  auto& p = provider(kind);
  return p.count ? p.count() : 0;
}

std::string absence_of(Device device) {
  if (device == kCpu) return "";
  if (device.kind == DeviceKind::cpu) return "there is one cpu";
  register_everything();
  auto& p = provider(device.kind);
  if (!p.count) return fmt::format("this build has no {} support", name_of(device.kind));
  if (device.index >= 0 && device.index < p.count()) return "";
  std::string reason = p.why_absent();
  const int count = p.count();
  return !reason.empty() ? reason
                         : fmt::format("there {} {} {}", count == 1 ? "is" : "are",
                                       count == 1 ? "one" : std::to_string(count), name_of(device.kind));
}

Runtime& runtime(Device device) {
  std::string reason = absence_of(device);
  require<DeviceAbsent>(reason.empty(), "device {} is not available: {}", device, reason);
  return provider(device.kind).get(device.index);
}

std::string to_string(Device device) {
  if (device.kind != DeviceKind::cuda && device.index == 0) return std::string(name_of(device.kind));
  return fmt::format("{}:{}", name_of(device.kind), device.index);
}

std::string device_names() {
  std::string text = "auto";
  for (const DeviceName& known : kDeviceNames) {
    const bool last = &known == std::end(kDeviceNames) - 1;
    text += fmt::format("{}{}", last && !known.numbered ? " or " : ", ", known.name);
    if (known.numbered) text += fmt::format("{}{}:N", last ? " or " : ", ", known.name);
  }
  return text;
}

namespace {

Device usable_device() {
  for (const DeviceName& known : kDeviceNames)
    if (known.numbered && device_count(known.kind) > 0) return {known.kind, 0};
  return kCpu;
}

/// The number behind the name of a kind and a colon; -1: there is none.
int number_behind(std::string_view name, const DeviceName& known) {
  if (!known.numbered || !name.starts_with(std::string(known.name) + ":")) return -1;
  const char *const begin = name.data() + known.name.size() + 1, *const all = name.data() + name.size();
  int index = -1;
  const auto [end, code] = std::from_chars(begin, all, index);
  return code == std::errc() && end == all ? index : -1;
}

}  // namespace

Device device_named(std::string_view name) {
  if (name == "auto") return usable_device();
  for (const DeviceName& known : kDeviceNames) {
    if (name == known.name) return {known.kind, 0};
    if (const int index = number_behind(name, known); index >= 0) return {known.kind, index};
  }
  throw ValueError(fmt::format("no device is called '{}'; use {}", name, device_names()));
}

}  // namespace treadle

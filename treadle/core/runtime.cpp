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
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
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
  static DeviceProvider providers[std::size(kAllDeviceKinds)] = {
      {[] { return 1; }, [] { return std::string(); },
       [](int) -> Runtime& {
         static auto& cpu = *new CpuRuntime;
         return cpu;
       }},
      {},
      {}};
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

Device device_named(std::string_view name) {
  if (name == "cpu") return kCpu;
  if (name == "simt") return kSimt;
  if (name == "auto") return device_count(DeviceKind::cuda) > 0 ? Device{DeviceKind::cuda, 0} : kCpu;
  if (name == "cuda") return {DeviceKind::cuda, 0};
  if (name.starts_with("cuda:")) {
    int index = -1;
    auto [end, code] = std::from_chars(name.data() + 5, name.data() + name.size(), index);
    if (code == std::errc() && end == name.data() + name.size() && index >= 0)
      return {DeviceKind::cuda, index};
  }
  throw ValueError(fmt::format("no device is called '{}'; use auto, cpu, simt, cuda or cuda:N", name));
}

}  // namespace treadle

// The simt device's Runtime: host memory behind guard zones, work done at once.
#include <cstring>

#include "treadle/core/error.h"
#include "treadle/core/log.h"
#include "treadle/core/runtime.h"
#include "treadle/simt/executor.h"
#include "treadle/simt/memory.h"
#include "treadle/simt/stream.h"

namespace treadle::simt {
namespace {

class SimtRuntime final : public Runtime {
 public:
  void* allocate(size_t bytes) override { return simt_allocate(bytes); }
  /// A kernel wrote beside its block: this must not throw, so it is logged; tests ask check_guards().
  void free(void* memory) noexcept override {
    try {
      simt_free(memory);
    } catch (const Error& error) {
      log(LogLevel::warning, error.what());
    }
  }
  void copy_from_host(void* target, const void* source, size_t bytes) override {
    std::memcpy(target, source, bytes);
  }
  void copy_to_host(void* target, const void* source, size_t bytes) override {
    std::memcpy(target, source, bytes);
  }
  void copy_within(void* target, const void* source, size_t bytes) override {
    std::memmove(target, source, bytes);
  }
  void fill_bytes(void* target, int value, size_t bytes) override { std::memset(target, value, bytes); }
  void synchronize() override { Stream::default_stream().synchronize(); }
  void* stream() override { return &Stream::default_stream(); }
  /// Each block is the arena's own, so that a freed one is poisoned and its guards are checked.
  bool caches() const override { return false; }
  std::string description() const override {
    return fmt::format("CUDA kernels on the CPU, {} worker{}", workers(), workers() == 1 ? "" : "s");
  }
};

Runtime& get(int) {
  static auto& simt = *new SimtRuntime;
  return simt;
}

}  // namespace

/// Makes the device known; it is always there.
void register_device() {
  treadle::register_device(DeviceKind::simt, {[] { return 1; }, [] { return std::string(); }, get});
}

}  // namespace treadle::simt

// What the host's side of other people's programs tells the checker.
#include "treadle/core/error.h"
#include "treadle/simt/check/runtime/block.h"
#include "treadle/simt/check/runtime/device_memory.h"
#include "treadle/simt/check/runtime/findings.h"
#include "treadle/simt/hooks.h"

namespace treadle::checked::hooks {

void api_mistake(const char* function, const char* message, const void* caller) {
  const uint32_t place = checker::place_in_program(reinterpret_cast<uintptr_t>(caller));
  if (!checker::Findings::all().is_new("api", place, 0, 0)) return;
  simt::Report report;
  report.kind = "api";
  report.message = fmt::format("{}: {}", function, message);
  report.place = checker::place_of(place);
  checker::Findings::all().add(std::move(report), place, 0);
}

void host_memory_registered(const void* memory, size_t bytes) {
  checker::allow_host_memory(reinterpret_cast<uintptr_t>(memory), bytes);
}

void host_memory_unregistered(const void* memory, size_t) {
  checker::forbid_host_memory(reinterpret_cast<uintptr_t>(memory));
}

}  // namespace treadle::checked::hooks

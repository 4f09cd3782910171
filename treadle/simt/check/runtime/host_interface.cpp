// What the host's side of programs (toolkit/) tells: mistakes in calls of CUDA's host interface.
#include "treadle/simt/check/runtime/block.h"
#include "treadle/simt/check/runtime/findings.h"
#include "treadle/simt/hooks.h"

namespace treadle::checked::hooks {

void api_mistake(const char* function, const char* message, const void* caller) {
  const auto place = reinterpret_cast<uintptr_t>(caller);
  auto& findings = checker::Findings::all();
  if (!findings.is_new("api", place, 0)) return;
  simt::Report report;
  report.kind = "api";
  report.message = std::string(function) + ": " + message;
  report.kernel = "-";
  report.place = checker::place_of(checker::place_in_program(place));
  findings.add(std::move(report), place, 0);
}

void host_memory_registered(const void*, size_t) {}
void host_memory_unregistered(const void*, size_t) {}

}  // namespace treadle::checked::hooks

#include "treadle/simt/driver/dynamic_shared.h"

#include <fmt/core.h>

#include "treadle/simt/driver/objects.h"
#include "treadle/simt/driver/red_zones.h"

namespace treadle::simt::driver {
namespace {

constexpr size_t kBytes = 227 * 1024, kAlignment = 128;
constexpr const char* kOwnName = "treadle_dynamic_shared";

/// The executor's own variables.
bool is_ours(const std::string& name) { return name.starts_with("_ZN7treadle") || name == kOwnName; }

}  // namespace

std::string dynamic_shared_assembly(const std::vector<std::string>& objects) {
  ThreadLocals names;
  for (const std::string& object : objects) read_thread_locals(object, names);
  std::string text =
      fmt::format(".section .tbss,\"awT\",@nobits\n.balign {}\n.zero {}\n.globl {}\n.type {}, @object\n",
                  kAlignment, kRedZoneBytes, kOwnName, kOwnName);
  for (const std::string& name : names.undefined)
    if (!is_ours(name) && names.defined.count(name) == 0)  // weak: a library may define it
      text += fmt::format(".weak \"{0}\"\n.type \"{0}\", @object\n\"{0}\":\n", name);
  return text + fmt::format("{}:\n.zero {}\n.section .note.GNU-stack,\"\",@progbits\n", kOwnName, kBytes);
}

}  // namespace treadle::simt::driver

/// The cores that this process may use: its affinity mask, and the processor time that control groups grant.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// The cores in the affinity mask that the calling thread had when this was first asked, in rising order; all
/// of the machine's where the system does not say. Binding threads later does not change them.
TREADLE_API const std::vector<int>& usable_cores();

/// Processor time that control groups grant this process, in cores: the least quota of its own groups and all
/// above them, of both versions (cpu.max; cpu.cfs_quota_us over cpu.cfs_period_us). Infinite without a quota.
/// The files are looked for below `root`: proc/self/cgroup, proc/self/mountinfo and what these name.
TREADLE_API double cgroup_quota(const std::filesystem::path& root = "/");

/// As many threads as can run at once, and what limits them.
struct ThreadLimit {
  int threads = 1;
  std::string reason;  ///< such as "2 cores" or "affinity mask: 1 of 2 cores"
  bool whole_machine = true;
};

/// The number of usable cores or, where it is less, the quota, rounded up. At least 1. Asked once.
TREADLE_API const ThreadLimit& thread_limit();

namespace detail {

/// Binds a thread of this process, by its kernel id, to one core or to all usable ones; whether it worked.
bool bind_thread(int id, int core);
bool unbind_thread(int id);
/// Lets the calling thread run on all usable cores. A thread is born on the cores of the one that starts it,
/// which may be bound to one: whoever starts a thread that is to work beside it has this called there.
TREADLE_API void use_all_cores();
/// The cores a thread is bound to.
TREADLE_API std::vector<int> cores_of_thread(int id);

/// The calling thread's kernel id.
int this_thread_id();

/// Nanoseconds that a thread of this process was ready to run and waited for a core; −1 where the system does
/// not say.
long long waited_for_core(int id);

}  // namespace detail
}  // namespace treadle

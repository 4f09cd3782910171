#include "cli/thread_binding.h"

#include <sched.h>

#include <atomic>
#include <vector>

#include "treadle/core/parallel_for.h"

namespace treadle::cli {
namespace {

std::vector<int> list_of_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

bool bind_this_thread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

int usable_cores() { return int(list_of_cores().size()); }

int bind_threads() {
  const std::vector<int> cores = list_of_cores();
  if (cores.empty()) return 0;
  // One item per thread: item i runs on thread i, and the pool is made before the caller is bound.
  parallel_for(num_threads(), 1, [](int64_t, int64_t) {});
  std::atomic<int> bound = 0;
  parallel_for(num_threads(), 1,
               [&](int64_t i, int64_t) { bound += bind_this_thread(cores[size_t(i) % cores.size()]); });
  return bound;
}

}  // namespace treadle::cli

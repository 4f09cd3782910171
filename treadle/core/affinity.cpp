#include "treadle/core/affinity.h"

#include <fmt/core.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include "treadle/core/split.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

int cores_of_machine() { return std::max(1, int(std::thread::hardware_concurrency())); }

// ---- affinity ---------------------------------------------------------------------------------------------

/// A set of cores that is large enough for any kernel.
class CoreSet {
 public:
  static constexpr int kMost = 1 << 16;

  CoreSet() : bits_(CPU_ALLOC(kMost)) { CPU_ZERO_S(bytes(), bits_.get()); }
  static size_t bytes() { return CPU_ALLOC_SIZE(kMost); }
  cpu_set_t* get() const { return bits_.get(); }
  void add(int core) { CPU_SET_S(size_t(core), bytes(), bits_.get()); }
  bool has(int core) const { return CPU_ISSET_S(size_t(core), bytes(), bits_.get()); }

 private:
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  std::unique_ptr<cpu_set_t, Free> bits_;
};

std::vector<int> cores_at_first() {
  std::vector<int> cores = detail::cores_of_thread(0);
  if (cores.empty())
    for (int core = 0; core < cores_of_machine(); ++core) cores.push_back(core);
  return cores;
}

bool set_affinity(int id, const std::vector<int>& cores) {
  CoreSet set;
  for (int core : cores) set.add(core);
  return sched_setaffinity(id, CoreSet::bytes(), set.get()) == 0;
}

// ---- control groups ---------------------------------------------------------------------------------------

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// The group of a hierarchy that this process is in, and where the hierarchy is mounted.
struct Hierarchy {
  fs::path group, mount_root, mount_point;
};

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A path of mountinfo, where blanks and the like stand as \040.
fs::path unescaped(const std::string& text) {
  std::string path;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string digits = text.substr(i + 1, 3);
    if (text[i] == '\\' && digits.size() == 3 && digits.find_first_not_of("01234567") == std::string::npos)
      path += char(std::stoi(digits, nullptr, 8)), i += 3;
    else
      path += text[i];
  }
  return path;
}

/// The process's group out of /proc/self/cgroup: "0::/group" of version 2, or "4:cpu,cpuacct:/group" of
/// version 1's controller cpu.
std::optional<fs::path> group_of(const fs::path& root, bool version_2) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool wanted =
        version_2 ? line.starts_with("0:") && controllers.empty() : contains(split(controllers, ','), "cpu");
    if (wanted) return fs::path(line.substr(second + 1));
  }
  return {};
}

/// Adds where the hierarchy is mounted, out of /proc/self/mountinfo:
/// "ID PARENT DEVICE ROOT POINT OPTIONS… - TYPE SOURCE OPTIONS".
std::optional<Hierarchy> hierarchy_of(const fs::path& root, bool version_2) {
  const auto group = group_of(root, version_2);
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; group && std::getline(file, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto before = split(line.substr(0, dash), ' '), after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    const bool wanted =
        version_2 ? after[0] == "cgroup2" : after[0] == "cgroup" && contains(split(after[2], ','), "cpu");
    if (wanted) return Hierarchy{*group, unescaped(before[3]), unescaped(before[4])};
  }
  return {};
}

/// Cores granted by one group, out of the files in its folder.
double quota_in(const fs::path& folder, bool version_2) {
  long long quota = 0, period = 0;  // microseconds
  if (version_2)
    std::ifstream(folder / "cpu.max") >> quota >> period;  // "max 100000" leaves both at 0
  else if (std::ifstream(folder / "cpu.cfs_quota_us") >> quota)
    std::ifstream(folder / "cpu.cfs_period_us") >> period;
  return quota > 0 && period > 0 ? double(quota) / double(period) : kUnlimited;
}

/// The least quota of the process's group and of those above it, as far as they are mounted.
double quota_of(const fs::path& root, bool version_2) {
  const auto hierarchy = hierarchy_of(root, version_2);
  if (!hierarchy) return kUnlimited;
  // In a container the mount may begin at its own group, or the group may not be visible ("/..").
  fs::path below = hierarchy->group.lexically_relative(hierarchy->mount_root);
  if (below.empty() || *below.begin() == "..") below = ".";
  const fs::path top = root / hierarchy->mount_point.relative_path();
  double quota = quota_in(top, version_2);
  fs::path folder = top;
  for (const fs::path& name : below.lexically_normal()) {
    folder /= name;
    quota = std::min(quota, quota_in(folder, version_2));
  }
  return quota;
}

ThreadLimit find_thread_limit() {
  const int machine = cores_of_machine(), mask = int(usable_cores().size());
  const double quota = cgroup_quota();
  if (quota < mask)
    return {std::max(1, int(std::ceil(quota))), fmt::format("cgroup quota: {:.3g} of {} cores", quota, mask),
            false};
  if (mask < machine) return {mask, fmt::format("affinity mask: {} of {} cores", mask, machine), false};
  return {mask, fmt::format("{} core{}", mask, mask == 1 ? "" : "s"), true};
}

}  // namespace

const std::vector<int>& usable_cores() {
  static const auto& cores = *new std::vector<int>(cores_at_first());
  return cores;
}

double cgroup_quota(const fs::path& root) { return std::min(quota_of(root, true), quota_of(root, false)); }

const ThreadLimit& thread_limit() {
  static const auto& limit = *new ThreadLimit(find_thread_limit());
  return limit;
}

namespace detail {

bool bind_thread(int id, int core) { return set_affinity(id, {core}); }
bool unbind_thread(int id) { return set_affinity(id, usable_cores()); }

void use_all_cores() { unbind_thread(this_thread_id()); }

std::vector<int> cores_of_thread(int id) {
  std::vector<int> cores;
  CoreSet set;
  if (sched_getaffinity(id, CoreSet::bytes(), set.get()) == 0)
    for (int core = 0; core < CoreSet::kMost; ++core)
      if (set.has(core)) cores.push_back(core);
  return cores;
}

int this_thread_id() { return int(syscall(SYS_gettid)); }

long long waited_for_core(int id) {
  long long ran = 0, waited = -1;
  std::ifstream(fmt::format("/proc/self/task/{}/schedstat", id)) >> ran >> waited;
  return waited;
}

}  // namespace detail
}  // namespace treadle

/// Processor time granted by control groups, read from folders laid out as Linux lays them out.
#include "treadle/core/affinity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <thread>

namespace treadle {
namespace {

namespace fs = std::filesystem;

/// A folder in the place of "/".
class CgroupQuota : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(testing::TempDir()) / "treadle-cgroups" / test->name();
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }
  void mount(const std::string& cgroup, const std::string& mountinfo) {
    write("proc/self/cgroup", cgroup);
    write("proc/self/mountinfo", "21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n" + mountinfo);
  }
  void mount_version_2(const std::string& group) {
    mount("0::" + group, "30 21 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate");
  }
  double quota() const { return cgroup_quota(root_); }

  fs::path root_;
};

TEST_F(CgroupQuota, IsInfiniteWhereThereAreNoGroups) {
  EXPECT_TRUE(std::isinf(quota()));
  mount_version_2("/a");
  EXPECT_TRUE(std::isinf(quota()));
}

TEST_F(CgroupQuota, ReadsVersion2) {
  mount_version_2("/a/b");
  write("sys/fs/cgroup/a/b/cpu.max", "150000 100000");
  EXPECT_EQ(quota(), 1.5);
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000");
  EXPECT_TRUE(std::isinf(quota()));
}

TEST_F(CgroupQuota, IsTheLeastOfAllGroupsAbove) {
  mount_version_2("/a/b/c");
  write("sys/fs/cgroup/a/cpu.max", "200000 100000");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000");
  write("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000");
  EXPECT_EQ(quota(), 2);
  write("sys/fs/cgroup/a/b/c/cpu.max", "50000 100000");
  EXPECT_EQ(quota(), 0.5);
}

/// In a container whose group is the root of what it sees.
TEST_F(CgroupQuota, ReadsTheRootOfTheMount) {
  for (const char* group : {"/", "/../../elsewhere"}) {
    mount_version_2(group);
    write("sys/fs/cgroup/cpu.max", "300000 100000");
    EXPECT_EQ(quota(), 3) << group;
  }
}

TEST_F(CgroupQuota, ReadsVersion1) {
  mount("5:devices:/x\n4:cpuacct,cpu:/a/b\n3:cpuset:/y",
        "31 21 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "32 21 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpuacct,cpu");
  write("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000");
  EXPECT_TRUE(std::isinf(quota()));
  write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "250000");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 2.5);
}

/// Containers of version 1 see the mount begin at their own group, and the group's full name.
TEST_F(CgroupQuota, FollowsAMountThatBeginsAtTheGroup) {
  mount("4:cpu,cpuacct:/docker/1f",
        "32 21 0:28 /docker/1f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000");
  EXPECT_EQ(quota(), 2);
  write("proc/self/cgroup", "4:cpu,cpuacct:/docker/1f/inner");
  write("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "50000");
  write("sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "50000");
  EXPECT_EQ(quota(), 1);
}

TEST_F(CgroupQuota, TakesTheLesserOfBothVersions) {
  mount("4:cpu:/a\n0::/b",
        "32 21 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "33 21 0:29 / /sys/fs/cgroup/my\\040groups rw - cgroup2 cgroup2 rw");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "400000");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 4);
  write("sys/fs/cgroup/my groups/b/cpu.max", "300000 100000");
  EXPECT_EQ(quota(), 3);
}

TEST_F(CgroupQuota, ReadsWhatIsNoQuotaAsNone) {
  mount_version_2("/a");
  for (const char* text : {"", "0 100000", "-5 100000", "100000", "100000 0", "much 100000", "1e999 1"}) {
    write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_TRUE(std::isinf(quota())) << text;
  }
  write("proc/self/cgroup", "nonsense\n0:\n:::\n");
  write("proc/self/mountinfo", "1 2 3\n - \n1 2 3 4 5 - cgroup2");
  EXPECT_TRUE(std::isinf(quota()));
}

TEST(ThreadLimit, IsNoMoreThanTheCoresOfTheMask) {
  EXPECT_GE(thread_limit().threads, 1);
  EXPECT_LE(thread_limit().threads, int(usable_cores().size()));
  EXPECT_FALSE(thread_limit().reason.empty());
}

TEST(ThreadLimit, OutlastsBinding) {
  const auto before = usable_cores();
  std::thread([&] {
    const int id = detail::this_thread_id();
    EXPECT_TRUE(detail::bind_thread(id, before[0]));
    EXPECT_EQ(usable_cores(), before);
    EXPECT_TRUE(detail::unbind_thread(id));
  }).join();
}

}  // namespace
}  // namespace treadle

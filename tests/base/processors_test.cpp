// What systems and containers say about processors, in folders that look like theirs.
#include "strata/base/processors.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "strata/base/cgroup.hpp"

namespace strata {
namespace {

namespace fs = std::filesystem;

class SystemFolder : public testing::Test {
 protected:
  SystemFolder() {
    std::string name = (fs::temp_directory_path() / "strata-system-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    root_ = name;
  }
  ~SystemFolder() override { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  fs::path root_;
};

TEST_F(SystemFolder, ProcessorsAreThoseOfAllThreads) {
  EXPECT_EQ(processors_of_threads(root_), 0);
  write("proc/self/task/10/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t2\n");
  EXPECT_EQ(processors_of_threads(root_), 1);
  write("proc/self/task/11/status", "Cpus_allowed_list:\t0-3,8\n");
  write("proc/self/task/12/status", "Cpus_allowed_list:\t8-9\n");
  EXPECT_EQ(processors_of_threads(root_), 6);
}

TEST_F(SystemFolder, ListsThatMakeNoSenseEndThere) {
  write("proc/self/task/1/status", "Cpus_allowed_list:\n");
  EXPECT_EQ(processors_of_threads(root_), 0);
  write("proc/self/task/1/status", "Cpus_allowed_list:\t1,x,5\n");
  EXPECT_EQ(processors_of_threads(root_), 1);
  write("proc/self/task/1/status", "Cpus_allowed_list:\t3-\n");
  EXPECT_EQ(processors_of_threads(root_), 0);
}

TEST_F(SystemFolder, WithoutControlGroupsNothingIsLimited) {
  EXPECT_EQ(cgroup_limits(root_), CgroupLimits{});
  write("proc/self/cgroup", "junk\n0::/\n");
  EXPECT_EQ(cgroup_limits(root_), CgroupLimits{});
  EXPECT_EQ(cgroup_memory_left(root_), std::numeric_limits<Offset>::max());
}

TEST_F(SystemFolder, TheSecondVersionOfControlGroups) {
  write("proc/self/cgroup", "0::/slice/job\n");
  write("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/slice/job/memory.max", "max\n");
  EXPECT_EQ(cgroup_limits(root_), CgroupLimits{});
  // The group around it counts as well.
  write("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_limits(root_).processors, 1.5);
  write("sys/fs/cgroup/slice/job/cpu.max", "400000 100000\n");
  EXPECT_EQ(cgroup_limits(root_).processors, 1.5);
  write("sys/fs/cgroup/slice/job/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_limits(root_).processors, 0.5);
  write("sys/fs/cgroup/slice/memory.max", "1000000\n");
  write("sys/fs/cgroup/slice/memory.current", "400000\n");
  EXPECT_EQ(cgroup_limits(root_).memory_bytes, 1000000);
  EXPECT_EQ(cgroup_memory_left(root_), 600000);
  write("sys/fs/cgroup/slice/memory.current", "1400000\n");
  EXPECT_EQ(cgroup_memory_left(root_), 0);
}

// A container's group has a name of the machine outside, and is the root of what it sees.
TEST_F(SystemFolder, TheFirstVersionOfControlGroupsInAContainer) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/docker/0123\n4:memory:/docker/0123\n0::/\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(cgroup_limits(root_), CgroupLimits{});
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "8192\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "4096\n");
  EXPECT_EQ(cgroup_limits(root_), (CgroupLimits{.processors = 2.5, .memory_bytes = 8192}));
  EXPECT_EQ(cgroup_memory_left(root_), 4096);
}

TEST(ProcessorBudget, IsWhatRunsAtOnce) {
  EXPECT_EQ((ProcessorBudget{.usable = 4, .quota = 0}.affordable_threads()), 4);
  EXPECT_EQ((ProcessorBudget{.usable = 4, .quota = 8}.affordable_threads()), 4);
  EXPECT_EQ((ProcessorBudget{.usable = 4, .quota = 1.5}.affordable_threads()), 2);
  EXPECT_EQ((ProcessorBudget{.usable = 4, .quota = 0.1}.affordable_threads()), 1);
  EXPECT_EQ(ProcessorBudget{}.affordable_threads(), 1);
}

TEST(ProcessorBudget, AffordsWhatIsNeverStopped) {
  const ProcessorBudget budget{.usable = 4, .quota = 1.5};
  EXPECT_TRUE(budget.affords(1));
  EXPECT_FALSE(budget.affords(2));
  EXPECT_TRUE((ProcessorBudget{.usable = 4, .quota = 0}.affords(4)));
  EXPECT_FALSE((ProcessorBudget{.usable = 4, .quota = 0}.affords(5)));
}

TEST(ProcessorBudget, OfThisMachineHasAProcessor) {
  EXPECT_GE(processor_budget().usable, 1);
  EXPECT_GE(processor_budget().quota, 0);
}

}  // namespace
}  // namespace strata

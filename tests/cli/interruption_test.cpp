// Ctrl-C: no partial files, valid JSON of what is done.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "tests/cli/command.hpp"

namespace strata::test {
namespace {

class Interruption : public CommandTest {
 protected:
  // The memory of a process is more than that of its program when it is at work on a matrix.
  static void wait_for_work(pid_t process) {
    constexpr long kBytes = 128L << 20;
    long resident = 0;
    while (resident * sysconf(_SC_PAGESIZE) < kBytes) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      long size = 0;
      std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
      ASSERT_TRUE(statm >> size >> resident && size > 0) << "it has ended";
    }
  }
};

TEST_F(Interruption, WritingLeavesNoFileBehind) {
  const pid_t process = start({"gen", "stencil27:60x60x60", "-o", file("a.mtx.gz")});
  while (files() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(process, SIGINT);
  expect_one_line_error(wait_for(process), 5, "interrupted: ");
  EXPECT_EQ(files(), 0);
}

TEST_F(Interruption, WorkThatDoesNotAskIsEndedAndLeavesValidJson) {
  const pid_t process = start({"info", "mesh:4000000,dim=3,nnzr=15", "--json", file("r.json")});
  wait_for_work(process);
  kill(process, SIGTERM);
  expect_one_line_error(wait_for(process), 5, "interrupted: ");
  const auto document = nlohmann::json::parse(contents_of(file("r.json")));
  EXPECT_EQ(document["interrupted"], true);
  EXPECT_EQ(document["matrix"]["name"], "mesh:4000000,dim=3,nnzr=15");
  EXPECT_TRUE(document["results"].is_array());
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace strata::test

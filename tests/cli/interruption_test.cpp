// Ctrl-C: no partial files, valid JSON of what is done.

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <ios>
#include <string>
#include <thread>

#include "tests/cli/command.hpp"

namespace strata::test {
namespace {

class Interruption : public CommandTest {
 protected:
  // Until the process looks out for signals and has more memory than its program needs: it is at
  // work on a matrix.
  static void wait_for_work(pid_t process) {
    constexpr long kKibibytes = 128L << 10;
    constexpr std::uint64_t kBlocked = std::uint64_t{1} << (SIGTERM - 1);
    long resident = 0;
    std::uint64_t blocked = 0;
    while (resident < kKibibytes || (blocked & kBlocked) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::ifstream status("/proc/" + std::to_string(process) + "/status");
      resident = 0;
      for (std::string word; status >> word;) {
        if (word == "VmRSS:") status >> resident;
        if (word == "SigBlk:") status >> std::hex >> blocked >> std::dec;
      }
      ASSERT_GT(resident, 0) << "it has ended";
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

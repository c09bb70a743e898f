// Tests of commands that measure: quickly, and on a machine whose profile is cached already.
#pragma once

#include <cstdlib>

#include "strata/machine/cached_profile.hpp"
#include "tests/cli/command.hpp"
#include "tests/machine/support.hpp"

namespace strata::test {

class BenchmarkTest : public CommandTest {
 protected:
  BenchmarkTest() {
    setenv("STRATA_CACHE_DIR", file("cache").c_str(), 1);
    save_profile(imaginary_machine(), profile_path());
  }
  ~BenchmarkTest() override { unsetenv("STRATA_CACHE_DIR"); }

  static Words quick(Words words) {
    words.insert(words.end(), {"--min-time", "0.001"});
    return words;
  }

  // Whatever this build is, one of the two backends of GPUs is not in it. Asking the command for
  // it, alone or in a list, is status 4 for the reason that `strata machine` gives.
  void expect_missing_gpus_to_be_status_4(const Words& words, const Words& lists) {
    int unavailable = 0;
    for (const std::string backend : {"cuda", "hip"}) {
      const Outcome machine = run({"machine", "--backend", backend});
      if (machine.status == 0) continue;
      const std::string why = machine.err.substr(std::string("strata: machine: ").size());
      for (const std::string& list : lists) {
        Words all = words;
        all.insert(all.end(), {"--backend", list + backend});
        const Outcome outcome = run(all);
        expect_one_line_error(outcome, 4, "GPU");
        EXPECT_EQ(outcome.err, "strata: " + words.front() + ": " + why);
        EXPECT_EQ(outcome.out, "");
      }
      ++unavailable;
    }
    EXPECT_GE(unavailable, 1);
  }
};

}  // namespace strata::test

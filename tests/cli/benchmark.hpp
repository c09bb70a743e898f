// Tests of commands that measure: quickly, and on a machine whose facts are known already.
#pragma once

#include <cstdlib>

#include "strata/machine/stored_facts.hpp"
#include "tests/cli/command.hpp"
#include "tests/machine/support.hpp"

namespace strata::test {

class BenchmarkTest : public CommandTest {
 protected:
  BenchmarkTest() {
    setenv("STRATA_CACHE_DIR", file("cache").c_str(), 1);
    save_facts(imaginary_machine(), facts_path());
  }
  ~BenchmarkTest() override { unsetenv("STRATA_CACHE_DIR"); }

  static Words quick(Words words) {
    words.insert(words.end(), {"--min-time", "0.001"});
    return words;
  }
};

}  // namespace strata::test

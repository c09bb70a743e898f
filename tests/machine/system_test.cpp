#include "strata/machine/system.hpp"

#include <gtest/gtest.h>

#include "strata/base/processors.hpp"

namespace strata {
namespace {

TEST(System, ListsOfProcessorsAreCounted) {
  EXPECT_EQ(count_of_list("0"), 1);
  EXPECT_EQ(count_of_list("0-3"), 4);
  EXPECT_EQ(count_of_list("0-3,8,10-11"), 7);
  EXPECT_EQ(count_of_list(""), 0);
  EXPECT_EQ(count_of_list("junk"), 1);
}

TEST(System, WhatIsNotThereIsEmpty) {
  EXPECT_EQ(value_in_file("/no/such/file", "key", ':'), "");
}

TEST(System, ThereIsAProcessorAndMemory) {
  EXPECT_GT(available_memory(), 0);
  for (const ReportedCache& cache : reported_caches()) {
    EXPECT_GE(cache.level, 1);
    EXPECT_GT(cache.bytes, 0);
  }
}

TEST(System, TheFingerprintSaysWhatProfileDependOn) {
  const MachineFingerprint fingerprint = machine_fingerprint();
  EXPECT_NE(fingerprint.host, "");
  EXPECT_NE(fingerprint.kernel, "");
  EXPECT_GT(fingerprint.memory_bytes, 0);
  EXPECT_EQ(fingerprint.processors, usable_processors());
  EXPECT_EQ(fingerprint, machine_fingerprint());
}

}  // namespace
}  // namespace strata

#include "strata/machine/system.hpp"

#include <gtest/gtest.h>

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
  EXPECT_GE(usable_processors(), 1);
  EXPECT_GT(available_memory(), 0);
  for (const ReportedCache& cache : reported_caches()) {
    EXPECT_GE(cache.level, 1);
    EXPECT_GT(cache.bytes, 0);
  }
}

}  // namespace
}  // namespace strata

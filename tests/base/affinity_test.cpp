#include "strata/base/affinity.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"

namespace strata {
namespace {

std::vector<int> usable() {
  cpu_set_t mask;
  EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<std::size_t>(i), &mask)) processors.push_back(i);
  }
  return processors;
}

// The processors that each thread of a team may run on.
std::vector<std::vector<int>> places_of(int threads) {
  std::vector<std::vector<int>> places(static_cast<std::size_t>(threads));
  run_on_threads(threads, [&](int thread, int) { places[thread] = usable(); });
  return places;
}

TEST(Affinity, ThreadsRunWhereTheyAreTold) {
  const std::vector<int> here = usable();
  const std::vector<int> chosen{here.back(), here.front()};
  {
    const AffinityScope scope(chosen);
    const auto places = places_of(3);
    EXPECT_EQ(places[0], std::vector{here.back()});
    EXPECT_EQ(places[1], std::vector{here.front()});
    EXPECT_EQ(places[2], std::vector{here.back()});
    EXPECT_EQ(places_of(1)[0], std::vector{here.back()});
  }
  EXPECT_EQ(usable(), here);
  for (const auto& place : places_of(3)) EXPECT_EQ(place, here);
}

TEST(Affinity, ScopesNestAndNoneChangesNothing) {
  const std::vector<int> here = usable();
  const std::vector<int> first{here.front()};
  const AffinityScope outer(first);
  {
    const AffinityScope inner(std::span<const int>{});
    EXPECT_EQ(places_of(2)[1], first);
  }
  EXPECT_EQ(places_of(2)[0], first);
}

TEST(Affinity, ProcessorsThatThereAreNotAreRefused) {
  const std::vector<int> here = usable();
  for (const int processor : {-1, CPU_SETSIZE - 1, CPU_SETSIZE}) {
    const std::vector<int> chosen{processor};
    const AffinityScope scope(chosen);
    EXPECT_THROW(run_on_threads(2, [](int, int) {}), InvalidArgument);
  }
  EXPECT_EQ(usable(), here);
}

}  // namespace
}  // namespace strata

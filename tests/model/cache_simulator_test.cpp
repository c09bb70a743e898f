#include "strata/model/cache_simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"

namespace strata {
namespace {

// The obvious cache: a list per set, the most recently used line in front.
class ListCache {
 public:
  explicit ListCache(const CacheShape& shape)
      : ways_(shape.ways == 0 ? shape.bytes / shape.line_bytes : shape.ways),
        sets_(shape.bytes / shape.line_bytes / ways_) {}

  // Returns whether the line was there; counts a write-back if a dirty one had to go.
  bool touch(std::uint64_t line, bool write) {
    auto& set = sets_[line % sets_.size()];
    const auto place = std::ranges::find(set, line, &Line::number);
    const bool found = place != set.end();
    const bool dirty = write || (found && place->dirty);
    if (found) set.erase(place);
    set.push_front({line, dirty});
    if (static_cast<Offset>(set.size()) > ways_) {
      write_backs += set.back().dirty ? 1 : 0;
      set.pop_back();
    }
    return found;
  }

  Offset write_backs = 0;

 private:
  struct Line {
    std::uint64_t number;
    bool dirty;
  };
  Offset ways_;
  std::vector<std::list<Line>> sets_;
};

TEST(CacheSimulator, AStreamMissesOncePerLine) {
  CacheSimulator cache({.bytes = 4096, .ways = 4});
  for (std::uint64_t address = 0; address < 1 << 16; address += 8) cache.read(address, 8);
  EXPECT_EQ(cache.counts(), (CacheCounts{.hits = 7 * 1024, .read_misses = 1024}));
}

TEST(CacheSimulator, WhatFitsMissesOnlyTheFirstTime) {
  for (const Offset ways : {0, 1, 4, 16}) {
    CacheSimulator cache({.bytes = 4096, .ways = ways});
    for (int round = 0; round < 5; ++round) {
      for (std::uint64_t line = 0; line < 64; ++line) cache.read(line * 64, 64);
    }
    EXPECT_EQ(cache.counts(), (CacheCounts{.hits = 4 * 64, .read_misses = 64}));
  }
}

TEST(CacheSimulator, ACycleOneLineTooLongAlwaysMisses) {
  CacheSimulator cache({.bytes = 4096});
  for (int round = 0; round < 5; ++round) {
    for (std::uint64_t line = 0; line < 65; ++line) cache.read(line * 64, 1);
  }
  EXPECT_EQ(cache.counts(), (CacheCounts{.read_misses = 5 * 65}));
}

TEST(CacheSimulator, LinesOfOneSetDriveEachOtherOut) {
  // 16 sets of 4 ways: addresses 1024 apart share a set.
  for (const std::uint64_t lines : {4, 5}) {
    CacheSimulator cache({.bytes = 4096, .ways = 4});
    for (int round = 0; round < 10; ++round) {
      for (std::uint64_t i = 0; i < lines; ++i) cache.read(i * 1024, 8);
    }
    EXPECT_EQ(cache.counts().misses(), lines == 4 ? 4 : 50);
  }
}

TEST(CacheSimulator, SetsNeedNotBeAPowerOfTwo) {
  CacheSimulator cache({.bytes = 3 * 4 * 64, .ways = 4});
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t line = 0; line < 12; ++line) cache.read(line * 64, 8);
  }
  EXPECT_EQ(cache.counts().misses(), 12);
}

TEST(CacheSimulator, DirtyLinesAreWrittenBackOnce) {
  CacheSimulator cache({.bytes = 4096, .ways = 4});
  for (std::uint64_t address = 0; address < 4096; address += 8) cache.write(address, 8);
  for (std::uint64_t address = 0; address < 4096; address += 8) cache.read(address, 8);
  EXPECT_EQ(cache.counts().write_misses, 64);
  EXPECT_EQ(cache.counts().write_backs, 0);
  for (std::uint64_t address = 4096; address < 3 * 4096; address += 8) cache.read(address, 8);
  EXPECT_EQ(cache.counts().write_backs, 64);
  cache.flush();
  EXPECT_EQ(cache.counts().write_backs, 64);
}

TEST(CacheSimulator, FlushingEmptiesTheCache) {
  CacheSimulator cache({.bytes = 1024, .ways = 2}, {.bytes = 4096, .ways = 4});
  cache.write(0, 128);
  cache.read(128, 128);
  cache.flush();
  EXPECT_EQ(cache.counts(), (CacheCounts{.read_misses = 2, .write_misses = 2, .write_backs = 2}));
  EXPECT_EQ(cache.read(0, 256), 4);
}

TEST(CacheSimulator, AnAccessTouchesEveryLineItSpans) {
  CacheSimulator cache({.bytes = 4096});
  EXPECT_EQ(cache.read(60, 8), 2);
  EXPECT_EQ(cache.read(64, 64), 0);
  EXPECT_EQ(cache.read(64, 65), 1);
  EXPECT_EQ(cache.read(1000, 0), 0);
  EXPECT_EQ(cache.counts().accesses(), 5);
}

TEST(CacheSimulator, AFirstLevelHidesItsHitsFromTheLast) {
  CacheSimulator cache({.bytes = 64}, {.bytes = 128});
  cache.read(0, 8);
  cache.read(64, 8);  // drives line 0 out of the first level
  for (int i = 0; i < 10; ++i) cache.read(64, 8);
  EXPECT_EQ(cache.counts(), (CacheCounts{.read_misses = 2}));
  // Line 1, used all the time, is the older one in the last level after this hit.
  cache.read(0, 8);
  cache.read(128, 8);
  EXPECT_EQ(cache.counts(), (CacheCounts{.hits = 1, .read_misses = 3}));
  EXPECT_EQ(cache.read(64, 8), 1);
}

TEST(CacheSimulator, AgreesWithTheObviousCacheOnRandomTraces) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Random random(seed);
    const Offset ways = Offset{1} << random.below(0, 5);
    const auto sets = static_cast<Offset>(1 + random.below(1, 12));
    const CacheShape shape{
        .bytes = ways * sets * 32, .ways = seed % 7 == 0 ? 0 : ways, .line_bytes = 32};
    CacheSimulator cache(shape);
    ListCache expected(shape);
    CacheCounts counts;
    for (std::uint64_t i = 0; i < 5000; ++i) {
      // Half of the accesses fall on a few lines.
      const std::uint64_t line = random.below(3 * i + 2, i % 2 == 0 ? 3 * ways * sets : ways);
      const bool write = random.below(3 * i + 3, 3) == 0;
      const std::uint64_t address = line * 32 + random.below(3 * i + 4, 25);
      const bool found = expected.touch(line, write);
      ASSERT_EQ(write ? cache.write(address, 8) : cache.read(address, 8), found ? 0 : 1);
      ++(found ? counts.hits : write ? counts.write_misses : counts.read_misses);
    }
    counts.write_backs = expected.write_backs;
    EXPECT_EQ(cache.counts(), counts);
  }
}

TEST(CacheSimulator, TwoLevelsAgreeWithTwoObviousCaches) {
  const CacheShape first{.bytes = 8 * 64, .ways = 2};
  const CacheShape last{.bytes = 48 * 64, .ways = 4};
  CacheSimulator cache(first, last);
  ListCache expected_first(first);
  ListCache expected_last(last);
  const Random random(3);
  for (std::uint64_t i = 0; i < 50000; ++i) {
    const std::uint64_t line = random.below(i, i % 2 == 0 ? 100 : 12);
    const bool found = expected_first.touch(line, false) || expected_last.touch(line, false);
    ASSERT_EQ(cache.read(line * 64, 8), found ? 0 : 1);
  }
}

TEST(CacheSimulator, ImpossibleCachesAreRefused) {
  EXPECT_THROW(CacheSimulator({.bytes = 0}), InvalidArgument);
  EXPECT_THROW(CacheSimulator({.bytes = 4096, .ways = -1}), InvalidArgument);
  EXPECT_THROW(CacheSimulator({.bytes = 4096, .ways = 3}), InvalidArgument);
  EXPECT_THROW(CacheSimulator({.bytes = 4096, .ways = 4, .line_bytes = 48}), InvalidArgument);
  EXPECT_THROW(CacheSimulator({.bytes = 4096, .line_bytes = 0}), InvalidArgument);
  EXPECT_THROW(CacheSimulator({.bytes = 1024, .line_bytes = 32}, {.bytes = 4096}), InvalidArgument);
}

}  // namespace
}  // namespace strata

// CacheSimulator: which accesses miss in a set-associative cache that replaces the least recently
// used line of a set. Every line of memory belongs to the set (line number mod number of sets).
//
// With two levels the first one filters: only accesses that missed in the first level reach the
// last one and update its recency. Stores are write-allocate: they load their line like a load.
// This is what cachegrind simulates (Nethercote: Dynamic Binary Analysis and Instrumentation,
// Cambridge 2004), and write-backs besides: a line evicted from the first level makes the last
// level's copy dirty, or goes to memory if there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "strata/base/types.hpp"

namespace strata {

struct CacheShape {
  Offset bytes = 0;
  Offset ways = 0;  // lines of a set; 0: all lines in one set, any line anywhere
  Offset line_bytes = 64;
};

// Of one level, in lines: an access that spans several lines counts for each.
struct CacheCounts {
  Offset hits = 0;
  Offset read_misses = 0;
  Offset write_misses = 0;
  Offset write_backs = 0;  // dirty lines evicted to memory

  Offset misses() const { return read_misses + write_misses; }
  Offset accesses() const { return hits + misses(); }
  bool operator==(const CacheCounts&) const = default;
};

class CacheSimulator {
 public:
  // Throws InvalidArgument unless lines are a power of two, sets come out even and both levels have
  // lines of the same size. The time of an access grows with the number of ways.
  explicit CacheSimulator(const CacheShape& last_level);
  CacheSimulator(const CacheShape& first_level, const CacheShape& last_level);

  // Touches the lines of [address, address + bytes); returns how many missed in the last level.
  Offset read(std::uint64_t address, Offset bytes) { return access(address, bytes, false); }
  Offset write(std::uint64_t address, Offset bytes) { return access(address, bytes, true); }

  // Of the last level: accesses are those that the first level let through.
  const CacheCounts& counts() const { return counts_; }
  Offset line_bytes() const { return Offset{1} << line_shift_; }
  // Empties the cache, writing back what is dirty.
  void flush();

 private:
  // The lines of one level. Those of a set stand together, the most recently used first.
  class Level {
   public:
    explicit Level(const CacheShape& shape);
    // Makes the line the most recent one of its set; true if the set had it. Otherwise `evicted` is
    // the dirty line it replaced, if there was one.
    bool touch(std::uint64_t line, bool write, std::optional<std::uint64_t>& evicted);
    // True if the level holds the line.
    bool make_dirty(std::uint64_t line);
    std::vector<std::uint64_t> take_dirty_lines();

   private:
    // A way holds 2·line + dirty.
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
    std::uint64_t* set_of(std::uint64_t line) { return &ways_[line % sets_ * ways_per_set_]; }

    std::uint64_t sets_;
    std::uint64_t ways_per_set_;
    std::vector<std::uint64_t> ways_;
  };

  Offset access(std::uint64_t address, Offset bytes, bool write);
  bool hits(std::uint64_t line, bool write);
  void write_back_from_first(std::uint64_t line);

  int line_shift_;
  std::optional<Level> first_;
  Level last_;
  CacheCounts counts_;
};

}  // namespace strata

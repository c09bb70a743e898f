// ReadMeter: how fast a team of threads reads its memory.
#pragma once

#include <vector>

#include "strata/machine/internal/team_memory.hpp"

namespace strata::detail {

class ReadMeter {
 public:
  explicit ReadMeter(TeamMemory& memory);

  // Bytes per second of reading a working set of `bytes` of all threads again and again, on a
  // machine without other work; from samples that take about `seconds` together. The threads start
  // each sample at the same time.
  double bandwidth(Offset bytes, double seconds);

  // Of every call of bandwidth() so far: how many times as long as the fastest decile of the
  // samples all of them took on average. Other work takes whole time slices, so that it delays few
  // samples and each of them much: the median would not show it.
  const std::vector<double>& spreads() const { return spreads_; }

  // Seconds of a parallel read of the next `bytes` of the memory, waking and joining the threads
  // included; the best over about `seconds`. From memory, if that is larger than the caches.
  double time_of_read(Offset bytes, double seconds);

 private:
  struct alignas(kCacheLine) Reader {
    std::span<const double> data;
    Offset position = 0;  // where the next read begins
    double sum = 0;       // keeps the reads alive
  };

  int team() const { return static_cast<int>(readers_.size()); }
  // What each thread reads of `bytes`: whole blocks of the kernel, at most its share.
  Offset elements_per_thread(Offset bytes) const;
  // Reads `length` elements from where the last read ended, going round within the first
  // `working_set` of the share.
  static void read(Reader& reader, Offset working_set, Offset length);

  std::vector<Reader> readers_;  // of each thread
  std::vector<double> spreads_;
};

}  // namespace strata::detail

// TeamMemory: memory that a team of threads works on. Every thread touches its share first and
// keeps to it, so that on a machine with several memories it uses the near one.
#pragma once

#include <algorithm>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/parallel.hpp"
#include "strata/machine/internal/stream_kernels.hpp"

namespace strata::detail {

class TeamMemory {
 public:
  // At least one block of the kernels per thread, about `bytes` in all.
  TeamMemory(int threads, Offset bytes)
      : length_(std::max<Offset>(bytes / (Offset{sizeof(double)} * kLanes * threads), 1) * kLanes),
        memory_(static_cast<std::size_t>(length_ * threads)) {
    run_on_threads(threads, [&](int thread, int team) {
      if (thread == 0) team_ = team;
      const std::span<double> mine = share(thread);
      for (Offset i = 0; i < length_; ++i) mine[i] = 1.0 + static_cast<double>(i % 8);
    });
  }

  // The threads there really are; fewer than asked for inside another parallel region.
  int team() const { return team_; }
  // Elements of each thread, a multiple of kLanes.
  Offset length() const { return length_; }
  std::span<double> share(int thread) {
    return std::span(memory_).subspan(thread * length_, length_);
  }

 private:
  Offset length_;
  int team_ = 1;
  Array<double> memory_;
};

}  // namespace strata::detail

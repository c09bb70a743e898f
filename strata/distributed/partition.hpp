// Partition: rows, columns or elements of vectors in contiguous ranges, one for every rank in the
// order of the ranks. Ranges may be empty.
#pragma once

#include <algorithm>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"

namespace strata::distributed {

class Partition {
 public:
  Partition() = default;
  // Part i is [offsets[i], offsets[i + 1]). Throws InvalidArgument unless they start at 0 and do
  // not decrease.
  explicit Partition(std::vector<Offset> offsets);
  // In parts that differ by one element at most.
  static Partition even(Offset elements, int parts);

  int parts() const { return static_cast<int>(offsets_.size()) - 1; }
  Offset elements() const { return offsets_.back(); }
  Offset begin(int part) const { return offsets_[static_cast<std::size_t>(part)]; }
  Offset end(int part) const { return offsets_[static_cast<std::size_t>(part) + 1]; }
  Offset size(int part) const { return end(part) - begin(part); }
  bool contains(int part, Offset element) const {
    return begin(part) <= element && element < end(part);
  }
  // The part that has the element.
  int owner(Offset element) const {
    return static_cast<int>(std::ranges::upper_bound(offsets_, element) - offsets_.begin()) - 1;
  }

  bool operator==(const Partition&) const = default;

 private:
  std::vector<Offset> offsets_ = {0};
};

}  // namespace strata::distributed

#include "strata/distributed/partition.hpp"

#include <utility>

namespace strata::distributed {

Partition::Partition(std::vector<Offset> offsets) : offsets_(std::move(offsets)) {
  if (offsets_.empty() || offsets_.front() != 0 || !std::ranges::is_sorted(offsets_)) {
    throw InvalidArgument("parts follow one another from element 0 on");
  }
}

Partition Partition::even(Offset elements, int parts) {
  if (elements < 0 || parts < 1) throw InvalidArgument("a partition of nothing, or into nothing");
  std::vector<Offset> offsets;
  for (int part = 0; part <= parts; ++part) {
    offsets.push_back(part < parts ? chunk_of(elements, part, parts).begin : elements);
  }
  return Partition(std::move(offsets));
}

}  // namespace strata::distributed

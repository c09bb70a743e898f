#include "strata/kernels/gpu/group_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"

namespace strata::gpu {

int row_threads(Offset entries, Offset rows, int most) {
  constexpr Offset kGathers = 4;
  const Offset mean = entries / std::max<Offset>(1, rows);
  const auto threads = std::bit_ceil(static_cast<std::uint64_t>(ceil_div(mean, kGathers)));
  return static_cast<int>(std::clamp<std::uint64_t>(threads, 1, static_cast<std::uint64_t>(most)));
}

EllGroups ell_groups(Offset width, Offset rows, Offset warps) {
  EllGroups chosen;
  // width / rows > 0.01; a product that cannot overflow.
  if (rows == 0 || width <= rows / 100) return chosen;
  chosen.groups = static_cast<int>(
      std::min<std::uint64_t>(kMostEllGroups, std::bit_ceil(static_cast<std::uint64_t>(width))));
  if (chosen.groups == kMostEllGroups) {
    chosen.blocks_per_row =
        static_cast<int>(std::max<Offset>(1, std::min(width / kMostEllGroups, warps / rows)));
  }
  return chosen;
}

void require_ell_groups(const EllGroups& groups) {
  const bool known = groups.groups >= 1 && groups.groups <= kMostEllGroups &&
                     std::has_single_bit(static_cast<unsigned>(groups.groups));
  if (known && groups.blocks_per_row >= 1) return;
  throw InvalidArgument(
      fmt::format("{} groups and {} blocks per row of ELLPACK: there are kernels for 1, 2, 4, 8 or "
                  "{} groups and at least one block",
                  groups.groups, groups.blocks_per_row, kMostEllGroups));
}

}  // namespace strata::gpu

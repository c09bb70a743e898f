// The presence bits of a padded format (formats/presence.hpp) as kernels on a GPU see them.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/simt.hpp"

namespace strata::gpu {

struct PresenceView {
  const std::uint64_t* words = nullptr;  // null when every stored value is an entry

  STRATA_DEVICE bool has(std::int64_t place) const {
    return words == nullptr || (words[place / 64] >> (place % 64) & 1) != 0;
  }
};

}  // namespace strata::gpu

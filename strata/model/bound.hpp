// Bound: what limits a computation, by a model.
#pragma once

#include <string_view>

namespace strata {

enum class Bound {
  memory,
  shared_cache,  // between memory and the cores' own caches
  cache,
  l2,  // of a GPU
  compute,
  synchronisation,
};

constexpr std::string_view name_of(Bound bound) {
  switch (bound) {
    case Bound::memory: return "dram";
    case Bound::shared_cache: return "shared-cache";
    case Bound::cache: return "cache";
    case Bound::l2: return "l2";
    case Bound::compute: return "compute";
    case Bound::synchronisation: return "sync";
  }
  return {};
}

}  // namespace strata

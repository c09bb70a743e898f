// WindowPlacement: where a sweep keeps what it will need again for the next power.
#pragma once

#include <string_view>

namespace strata {

enum class WindowPlacement {
  none,           // plain products keep nothing
  cache,          // of a processor
  shared_memory,  // of a GPU's multiprocessors: tiles cross the L2 cache once
  l2,             // of a GPU
};

constexpr std::string_view name_of(WindowPlacement placement) {
  switch (placement) {
    case WindowPlacement::none: return "none";
    case WindowPlacement::cache: return "cache";
    case WindowPlacement::shared_memory: return "shared memory";
    case WindowPlacement::l2: return "L2";
  }
  return {};
}

}  // namespace strata

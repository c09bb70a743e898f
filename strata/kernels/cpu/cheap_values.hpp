// Which encodings of values the kernels of a level decode in less time than the bytes that they
// save would take from memory.
#pragma once

#include "strata/formats/stored_values.hpp"
#include "strata/kernels/cpu/levels.hpp"

namespace strata::cpu {

constexpr StoredValues cheap_values(Level level) {
  return level == Level::avx512 ? StoredValues::few : StoredValues::constants;
}

}  // namespace strata::cpu

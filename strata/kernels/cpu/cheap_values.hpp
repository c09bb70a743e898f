// Which encodings of values the kernels of a level decode in less time than the bytes that they
// save would take from memory. bench/value_encoding_bench measures it.
#pragma once

#include "strata/formats/stored_values.hpp"
#include "strata/kernels/cpu/levels.hpp"

namespace strata::cpu {

// Constants cost less than full values everywhere. Up to 16 values are one permute in the registers
// of AVX-512 (on 16 cores of a Xeon 4 times full values), and a look-up for two values at a time
// elsewhere: with four doubles per register that still pays (1.9 times). With 16 bytes per register
// it does for doubles (1.3 times on a Neoverse V1) but not for floats (0.8 times). Larger tables
// take a look-up per value: that pays where many cores share a memory (1.1 to 1.5 times on the
// Xeon) and costs a little where few do (0.93 to 1.0 times on two cores of the Neoverse V1).
constexpr StoredValues cheap_values(Level level) {
  return level == Level::baseline ? StoredValues::constants : StoredValues::few;
}

}  // namespace strata::cpu

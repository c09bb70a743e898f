// StoredValues: how far a format goes to store values in fewer bytes (value_encoding.hpp). Fewer
// bytes are not always less time: decoding costs instructions, more of them the further one goes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace strata {

// Each allows what those before it allow.
enum class StoredValues : std::uint8_t {
  full,       // every value as it is, for those that change often
  constants,  // one value for a column of a slice where all its rows have the same
  few,        // codes for up to 16 distinct values, which fit in registers
  all,        // codes for up to 65536 distinct values
};
inline constexpr std::array kStoredValues{StoredValues::full, StoredValues::constants,
                                          StoredValues::few, StoredValues::all};

constexpr std::string_view name_of(StoredValues values) {
  constexpr std::array<std::string_view, kStoredValues.size()> names{"full", "constants", "few",
                                                                     "all"};
  return names[static_cast<std::size_t>(values)];
}

}  // namespace strata

// StoredValues: how far a format goes to store values in fewer bytes (value_encoding.hpp). Fewer
// bytes are not always less time: decoding costs instructions, more of them the further one goes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "strata/formats/format_parameters.hpp"

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
// In labels of formats.
constexpr std::string_view label_of(StoredValues values) {
  constexpr std::array<std::string_view, kStoredValues.size()> labels{
      "full values", "constants encoded", "few values encoded", "values encoded"};
  return labels[static_cast<std::size_t>(values)];
}
// None for other words.
constexpr std::optional<StoredValues> stored_values_named(std::string_view name) {
  for (const StoredValues values : kStoredValues) {
    if (name == name_of(values)) return values;
  }
  return std::nullopt;
}

// As the parameter of a format.
inline constexpr AllowedNumbers kStoredValueNumbers{
    "0 (full), 1 (constants), 2 (few) or 3 (all)",
    [](Offset number) { return number >= 0 && number < Offset{kStoredValues.size()}; }};
constexpr std::string_view stored_values_label(Offset number) {
  return label_of(static_cast<StoredValues>(number));
}

}  // namespace strata

#include "strata/formats/format.hpp"

#include <fmt/format.h>

namespace strata {

std::optional<Format> format_named(std::string_view name) {
  if (name == name_of(Format::automatic)) return Format::automatic;
  for (const Format format : kFormats) {
    if (name == name_of(format)) return format;
  }
  return std::nullopt;
}

bool StoredFormat::operator==(const StoredFormat& other) const {
  return format == other.format && (!is_sliced(format) || slice_height == other.slice_height) &&
         (format != Format::packed_sell || values == other.values);
}

std::string text_of(const StoredFormat& stored) {
  if (!is_sliced(stored.format)) return std::string(name_of(stored.format));
  std::string text = fmt::format("{} C={}", name_of(stored.format), stored.slice_height);
  if (stored.format == Format::packed_sell && stored.values != StoredValues::all) {
    text += fmt::format(", {}", label_of(stored.values));
  }
  return text;
}

}  // namespace strata

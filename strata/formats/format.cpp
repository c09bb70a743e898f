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

std::string text_of(const StoredFormat& stored) {
  if (!is_sliced(stored.format)) return std::string(name_of(stored.format));
  return fmt::format("{} C={}", name_of(stored.format), stored.slice_height);
}

}  // namespace strata

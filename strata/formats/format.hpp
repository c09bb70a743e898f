// Format: the sparse formats by name. This list is the one place where a format is entered; the
// enum, the names, the variant over all formats (registry.hpp), the specifications that users write
// (format_spec.hpp) and the tests of all formats follow from it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/types.hpp"
#include "strata/formats/stored_values.hpp"

namespace strata {

// apply(enumerator, class, name, label): the class template of strata/formats/ENUMERATOR.hpp, the
// name in files and on the command line, and how tables call it, with parameters in braces.
// clang-format off
#define STRATA_FOR_EACH_FORMAT(apply)                                                        \
  apply(coo, Coo, "coo", "COO")                                                              \
  apply(csr, Csr, "csr", "CSR")                                                              \
  apply(csc, Csc, "csc", "CSC")                                                              \
  apply(symmetric_csr, SymmetricCsr, "symmetric-csr", "symmetric CSR")                       \
  apply(ell, Ell, "ell", "ELL")                                                              \
  apply(hyb, Hyb, "hyb", "HYB")                                                              \
  apply(jds, Jds, "jds", "JDS")                                                              \
  apply(dia, Dia, "dia", "DIA")                                                              \
  apply(bcsr, Bcsr, "bcsr", "BCSR {block_rows}x{block_cols}")                                \
  apply(blocked_coo, BlockedCoo, "blocked-coo", "COO in {block_rows}x{block_cols}")          \
  apply(sell, Sell, "sell", "SELL-{slice_height}-{sort_window}")                             \
  apply(packed_sell, PackedSell, "packed-sell", "packed SELL-{slice_height}")
// clang-format on

enum class Format {
  automatic,  // an option: to be chosen. No matrix is in it
#define STRATA_ENUMERATOR(enumerator, type, name, label) enumerator,
  STRATA_FOR_EACH_FORMAT(STRATA_ENUMERATOR)
#undef STRATA_ENUMERATOR
};

inline constexpr std::array kFormats{
#define STRATA_ENUMERATOR(enumerator, type, name, label) Format::enumerator,
    STRATA_FOR_EACH_FORMAT(STRATA_ENUMERATOR)
#undef STRATA_ENUMERATOR
};

constexpr std::string_view name_of(Format format) {
  switch (format) {
    case Format::automatic: return "auto";
#define STRATA_NAME(enumerator, type, name, label) \
  case Format::enumerator: return name;
      STRATA_FOR_EACH_FORMAT(STRATA_NAME)
#undef STRATA_NAME
  }
  return {};
}

// By name_of, "auto" included; none for other words.
std::optional<Format> format_named(std::string_view name);

// Whether the format stores rows in slices of some height.
constexpr bool is_sliced(Format format) {
  return format == Format::sell || format == Format::packed_sell;
}

// A format and what changes how a kernel goes through it.
struct StoredFormat {
  Format format = Format::packed_sell;
  Offset slice_height = 1;                  // of the sliced formats
  StoredValues values = StoredValues::all;  // of packed SELL

  // Rows come in multiples of this.
  Offset alignment() const { return is_sliced(format) ? slice_height : 1; }
  // Parameters count where the format has them.
  bool operator==(const StoredFormat& other) const;
};
// "packed-sell C=32" or, where values are not encoded as far as they could be, "packed-sell C=32,
// full values"
std::string text_of(const StoredFormat& stored);

}  // namespace strata

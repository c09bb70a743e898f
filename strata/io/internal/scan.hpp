// Words and numbers of a text that ends with a newline: every scan stops there by itself, so the
// hot loops need no end pointer.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "strata/base/error.hpp"
#include "strata/base/types.hpp"

namespace strata::detail {

// What is wrong with a line. The caller, which knows the file and the number of the line, turns it
// into a ParseError.
class LineError : public Error {
 public:
  using Error::Error;
};

// A carriage return counts as a blank: that is all there is to CRLF.
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
constexpr bool ends_word(char c) {
  return is_blank(c) || c == '\n';
}
constexpr bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}

inline const char* skip_blanks(const char* cursor) {
  while (is_blank(*cursor)) ++cursor;
  return cursor;
}

std::string_view word_at(const char* cursor);

// The text for a message: shortened, unprintable bytes as \xNN; in quotes or without.
std::string quoted(std::string_view text);
std::string printable(std::string_view text);

// A comment may hold anything but NUL bytes, which text files do not have.
void require_no_nul(std::string_view comment);

// A size or an index: digits after at most one plus sign, and nothing else. Every one of a file
// goes through here, or through the part of the same grammar that scan_index reads by itself.
struct Natural {
  enum class Kind { number, malformed, too_large };
  Kind kind = Kind::malformed;
  std::int64_t value = 0;  // of a number; too large are those beyond 64 bits with sign
};
Natural parse_natural(std::string_view word);

std::int64_t scan_unusual_index(const char*& cursor, std::int64_t bound, std::string_view what);
template <class Real>
Real scan_unusual_real(const char*& cursor);

// An index in 1 … bound, returned as one in 0 … bound−1. The cursor moves behind it. The bound is
// not negative: as an unsigned number it would let every index pass.
template <Index I>
I scan_index(const char*& cursor, I bound, std::string_view what) {
  cursor = skip_blanks(cursor);
  const char* digit = cursor;
  std::uint64_t number = 0;
  for (; is_digit(*digit); ++digit) number = 10 * number + static_cast<std::uint64_t>(*digit - '0');
  // 19 digits cannot overflow 64 bits; 0 wraps around and is too large as well.
  const bool usual =
      digit - cursor <= 19 && ends_word(*digit) && number - 1 < static_cast<std::uint64_t>(bound);
  if (!usual) [[unlikely]] {
    return static_cast<I>(scan_unusual_index(cursor, bound, what));
  }
  cursor = digit;
  return static_cast<I>(number - 1);
}

// The correctly rounded value of a decimal number, inf or nan. Numbers too small for Real become
// zero, numbers too large are errors.
template <class Real>
Real scan_real(const char*& cursor, const char* end) {
  cursor = skip_blanks(cursor);
  Real value{};
  const auto [stop, problem] = std::from_chars(cursor, end, value);
  if (problem == std::errc{} && ends_word(*stop) && std::isfinite(value)) [[likely]] {
    cursor = stop;
    return value;
  }
  return scan_unusual_real<Real>(cursor);
}

// T is std::int64_t or std::uint64_t.
template <class T>
T scan_integer(const char*& cursor);

[[noreturn]] void throw_unexpected(const char* cursor);

// Nothing but blanks may follow the cursor on its line; returns the start of the next line.
inline const char* finish_line(const char* cursor) {
  cursor = skip_blanks(cursor);
  if (*cursor != '\n') throw_unexpected(cursor);
  return cursor + 1;
}

}  // namespace strata::detail

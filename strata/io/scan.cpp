#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "strata/io/internal/scan.hpp"

namespace strata::detail {

namespace {

constexpr std::size_t kLongestQuote = 40;

// The word without a plus sign, which std::from_chars does not know.
std::string_view without_plus(std::string_view word) {
  const bool plus = word.size() > 1 && word[0] == '+' && word[1] != '-';
  return word.substr(plus ? 1 : 0);
}

template <class T>
struct Number {
  T value{};
  bool whole_word = false;  // nothing is left of the word
  bool out_of_range = false;
};

template <class T>
Number<T> number_from(std::string_view word) {
  Number<T> number;
  const char* const end = word.data() + word.size();
  const auto [stop, problem] = std::from_chars(word.data(), end, number.value);
  number.whole_word = problem != std::errc::invalid_argument && stop == end;
  number.out_of_range = problem == std::errc::result_out_of_range;
  return number;
}

// Whether a decimal number that no Real can hold is too large rather than too small, by the power
// of ten of its first digit that is not zero.
bool is_huge(std::string_view word) {
  const std::size_t exponent_at = std::min(word.find_first_of("eE"), word.size());
  const std::string_view digits = word.substr(0, exponent_at);
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  if (exponent_at == word.size()) return static_cast<std::int64_t>(first) < point;
  const std::string_view exponent = without_plus(word.substr(exponent_at + 1));
  const auto power = number_from<std::int64_t>(exponent);
  if (power.out_of_range) return exponent[0] != '-';
  return power.value > static_cast<std::int64_t>(first) - point;
}

// Fortran writes the exponent of a double as 1.5D+03.
std::string with_c_exponent(std::string_view word) {
  std::string result(word);
  if (result.find_first_not_of("+-.0123456789dD") == std::string::npos) {
    std::ranges::replace_if(result, [](char c) { return c == 'd' || c == 'D'; }, 'e');
  }
  return result;
}

}  // namespace

std::string_view word_at(const char* cursor) {
  const char* end = cursor;
  while (!ends_word(*end)) ++end;
  return {cursor, static_cast<std::size_t>(end - cursor)};
}

std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, kLongestQuote)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return result + (text.size() > kLongestQuote ? "…" : "");
}

std::string quoted(std::string_view text) {
  return fmt::format("'{}'", printable(text));
}

void require_no_nul(std::string_view comment) {
  if (comment.find('\0') != std::string_view::npos) {
    throw LineError("a NUL byte in a comment: this is not a text file");
  }
}

Natural parse_natural(std::string_view word) {
  const std::string_view digits = word.substr(word.starts_with('+') ? 1 : 0);
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) return {};
  const auto number = number_from<std::int64_t>(digits);
  if (number.out_of_range) return {.kind = Natural::Kind::too_large};
  return {.kind = Natural::Kind::number, .value = number.value};
}

std::int64_t scan_unusual_index(const char*& cursor, std::int64_t bound, std::string_view what) {
  const std::string_view word = word_at(cursor);
  if (word.empty()) throw LineError(fmt::format("the {} index is missing", what));
  const auto [kind, value] = parse_natural(word);
  if (kind == Natural::Kind::malformed) {
    throw LineError(fmt::format("{} is not a {} index", quoted(word), what));
  }
  if (kind == Natural::Kind::too_large || value < 1 || value > bound) {
    throw LineError(fmt::format("the {} index {} is outside 1 … {}", what, printable(word), bound));
  }
  cursor += word.size();
  return value - 1;
}

template <class Real>
Real scan_unusual_real(const char*& cursor) {
  const std::string_view word = word_at(cursor);
  if (word.empty()) throw LineError("a value is missing");
  const std::string spelled = with_c_exponent(without_plus(word));
  const auto number = number_from<Real>(spelled);
  if (!number.whole_word) throw LineError(fmt::format("{} is not a number", quoted(word)));
  cursor += word.size();
  const bool rounded_to_infinity =
      std::isinf(number.value) && spelled.find_first_of("0123456789") != std::string::npos;
  if (!number.out_of_range && !rounded_to_infinity) return number.value;
  if (is_huge(spelled)) {
    throw LineError(fmt::format("the value {} is too large for a {}-bit floating-point number",
                                quoted(word), 8 * sizeof(Real)));
  }
  return std::copysign(Real{0}, spelled[0] == '-' ? Real{-1} : Real{1});
}

template <class T>
T scan_integer(const char*& cursor) {
  cursor = skip_blanks(cursor);
  const std::string_view word = word_at(cursor);
  if (word.empty()) throw LineError("a value is missing");
  const auto number = number_from<T>(without_plus(word));
  if (!number.whole_word) {
    throw LineError(fmt::format("{} is not {} integer", quoted(word),
                                std::is_signed_v<T> ? "an" : "an unsigned"));
  }
  if (number.out_of_range) {
    throw LineError(fmt::format("the value {} does not fit in a 64-bit {}integer", quoted(word),
                                std::is_signed_v<T> ? "" : "unsigned "));
  }
  cursor += word.size();
  return number.value;
}

void throw_unexpected(const char* cursor) {
  throw LineError(fmt::format("unexpected {} after the entry", quoted(word_at(cursor))));
}

template float scan_unusual_real(const char*&);
template double scan_unusual_real(const char*&);
template std::int64_t scan_integer(const char*&);
template std::uint64_t scan_integer(const char*&);

}  // namespace strata::detail

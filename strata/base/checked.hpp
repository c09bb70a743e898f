// Integer arithmetic that reports overflow instead of wrapping. Sizes that come from a file, a
// specification or a caller pass through here before they are narrowed, added or multiplied.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "strata/base/error.hpp"

namespace strata {

namespace detail {
[[noreturn]] void throw_narrowing(std::string_view what, std::int64_t value, int bits);
[[noreturn]] void throw_overflow(std::string_view what, std::int64_t a, char operation,
                                 std::int64_t b, int bits);
}  // namespace detail

// `value` as a To; throws OverflowError naming `what` if it does not fit.
template <std::integral To, std::integral From>
constexpr To narrow(From value, std::string_view what) {
  if (!std::in_range<To>(value)) {
    detail::throw_narrowing(what, static_cast<std::int64_t>(value), 8 * sizeof(To));
  }
  return static_cast<To>(value);
}

template <std::signed_integral T>
constexpr T checked_multiply(T a, std::type_identity_t<T> b, std::string_view what) {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) {
    detail::throw_overflow(what, a, '*', b, 8 * sizeof(T));
  }
  return product;
}

template <std::signed_integral T>
constexpr T checked_add(T a, std::type_identity_t<T> b, std::string_view what) {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) {
    detail::throw_overflow(what, a, '+', b, 8 * sizeof(T));
  }
  return sum;
}

// ceil(a / b) for a >= 0, b > 0.
template <std::integral T>
constexpr T ceil_div(T a, std::type_identity_t<T> b) {
  return static_cast<T>(a / b + (a % b != 0));
}

}  // namespace strata

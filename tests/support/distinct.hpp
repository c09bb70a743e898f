// How many different numbers there are, by their bits; compiled once and optimised, for tests ask
// it of millions.
#pragma once

#include <cstddef>
#include <span>

namespace strata::test {

// Of elements of so many bytes, at most 16.
std::size_t count_distinct(std::span<const std::byte> elements, std::size_t size);

template <class T>
std::size_t count_distinct(std::span<const T> numbers) {
  return count_distinct(std::as_bytes(numbers), sizeof(T));
}

}  // namespace strata::test

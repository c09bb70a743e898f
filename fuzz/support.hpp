// What the fuzzers share: bytes as a file, and claims that must hold.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "strata/formats/csr.hpp"
#include "strata/io/internal/source.hpp"

namespace strata::fuzz {

// Nearly all inputs are shorter than this; sanitizers make larger buffers slow.
inline constexpr std::size_t kWholeInput = 1 << 9;
inline constexpr std::size_t kTinyBlock = 5;

inline void require(bool condition, const char* claim, const std::string& detail = {}) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n%s\n", claim, detail.c_str());
  std::abort();
}

inline std::span<const char> text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline std::unique_ptr<detail::ByteSource> source_of(std::span<const char> bytes) {
  return detail::decompressed(detail::from_memory(bytes), "input");
}

// Bit by bit: NaN equals NaN if it is the same.
template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}
template <Value V, Index I>
bool same_bits(const Csr<V, I>& a, const Csr<V, I>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         same_bits(a.row_offsets(), b.row_offsets()) && same_bits(a.columns(), b.columns()) &&
         same_bits(a.values(), b.values());
}

// Whether one of two cuts met corrupt gzip. How much of the text before it is looked at depends on
// the cut, and with it which error comes first.
inline bool met_corrupt_gzip(const std::string& error, const std::string& other) {
  return (error + "\n" + other).find("compressed data") != std::string::npos;
}

}  // namespace strata::fuzz

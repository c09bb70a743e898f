// ValueTable: the distinct values of a matrix, numbered, so that a format can store small numbers
// instead of values (Kourtis, Goumas, Koziris: Optimizing Sparse Matrix-Vector Multiplication Using
// Index and Value Compression, Computing Frontiers 2008). Values are told apart by their bits:
// 0.0 and −0.0 are two, and so are NaNs with different payloads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strata/base/types.hpp"

namespace strata {

// Of a table, at most: its codes have 16 bits.
inline constexpr Offset kLargestValueTable = 65536;

template <Value V>
class ValueTable {
 public:
  ValueTable() = default;
  // The `most` most frequent values or fewer, the most frequent first, whatever the number of
  // threads. All of them if there are no more than kLargestValueTable; else those that a sample of
  // the values has more than once: what occurs but once is not worth a code. V{} is always among
  // them, for holes and padding, and has a code of 8 bits.
  explicit ValueTable(std::span<const V> values, Offset most = kLargestValueTable);

  Offset size() const { return static_cast<Offset>(values_.size()); }
  std::span<const V> values() const { return values_; }
  // The number of distinct values if there are no more than kLargestValueTable, else −1.
  Offset distinct() const { return distinct_; }
  // Of these bits; −1 if they have none.
  std::int32_t code_of(V value) const;

 private:
  std::vector<V> values_;
  std::vector<std::int32_t> slots_;  // by hash: a code, or −1
  Offset distinct_ = 0;
};

// How many distinct values there are, up to kLargestValueTable; −1 if there are more.
template <Value V>
Offset count_distinct(std::span<const V> values);

// Whether values hardly ever repeat, by some of them, or only here and there among others that do
// not: no table, and no constants either, would save anything.
template <Value V>
bool hardly_repeat(std::span<const V> values);

}  // namespace strata

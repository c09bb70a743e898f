// ValueCounter: how often values occur, told apart by their bits. An open hash table, because
// every value of a matrix passes through it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "strata/base/random.hpp"
#include "strata/base/types.hpp"

namespace strata {

template <Value V>
using ValueBits = std::array<std::uint64_t, sizeof(V) <= 8 ? 1 : 2>;

template <Value V>
ValueBits<V> bits_of(V value) {
  ValueBits<V> bits{};
  std::memcpy(bits.data(), &value, sizeof value);
  return bits;
}
template <Value V>
V value_of(const ValueBits<V>& bits) {
  V value;
  std::memcpy(static_cast<void*>(&value), bits.data(), sizeof value);
  return value;
}
template <std::size_t words>
std::uint64_t hash_of(const std::array<std::uint64_t, words>& bits) {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : bits) hash = mix_bits(hash + word);
  return hash;
}

template <Value V>
class ValueCounter {
 public:
  struct Count {
    ValueBits<V> bits;
    Offset times;
  };

  void add(V value, Offset times = 1) { add(bits_of(value), times); }
  void add(const ValueBits<V>& bits, Offset times) {
    // Neighbours are often equal.
    if (!counts_.empty() && counts_[last_].bits == bits) {
      counts_[last_].times += times;
      return;
    }
    if (counts_.size() * 2 >= slots_.size()) grow();
    std::int32_t& slot = slots_[slot_of(bits)];
    if (slot < 0) {
      slot = static_cast<std::int32_t>(counts_.size());
      counts_.push_back({bits, 0});
    }
    last_ = static_cast<std::size_t>(slot);
    counts_[last_].times += times;
  }

  Offset times(const ValueBits<V>& bits) const {
    const std::int32_t place = slots_.empty() ? -1 : slots_[slot_of(bits)];
    return place < 0 ? 0 : counts_[static_cast<std::size_t>(place)].times;
  }
  // In the order in which they came.
  const std::vector<Count>& counts() const { return counts_; }
  Offset distinct() const { return static_cast<Offset>(counts_.size()); }

 private:
  // Where these bits are, or would be.
  std::size_t slot_of(const ValueBits<V>& bits) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash_of(bits) & mask;
    while (slots_[at] >= 0 && counts_[slots_[at]].bits != bits) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, -1);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      slots_[slot_of(counts_[i].bits)] = static_cast<std::int32_t>(i);
    }
  }

  std::vector<Count> counts_;
  std::vector<std::int32_t> slots_;  // by hash: a place in counts_, or −1; a power of two of them
  std::size_t last_ = 0;
};

}  // namespace strata

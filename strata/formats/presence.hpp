// PresenceBits: which stored values of a padded format are entries of the matrix. A hole and an
// explicit zero both hold the value 0; only these bits tell them apart. Bookkeeping for conversions
// and the reference kernels: a product may multiply holes like any other value.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"

namespace strata {

class PresenceBits {
 public:
  // Every stored value is an entry; needs no memory.
  PresenceBits() = default;
  // For `stored` values of which `entries` will be set. No bits are kept if that is all of them.
  PresenceBits(Offset stored, Offset entries)
      : words_(stored == entries ? 0 : ceil_div<Offset>(stored, 64)) {
    parallel_for(std::ssize(words_), [&](Offset word) { words_[word] = 0; });
  }

  bool has(Offset position) const {
    return words_.empty() || (words_[position / 64] >> (position % 64) & 1) != 0;
  }
  // Safe from several threads at once.
  void set(Offset position) {
    if (words_.empty()) return;
    std::atomic_ref(words_[position / 64])
        .fetch_or(std::uint64_t{1} << (position % 64), std::memory_order_relaxed);
  }

  // Sets bits of the word `word`. Safe from several threads at once.
  void set_bits(Offset word, std::uint64_t bits) {
    if (words_.empty() || bits == 0) return;
    std::atomic_ref(words_[word]).fetch_or(bits, std::memory_order_relaxed);
  }

  // Bit p % 64 of word p / 64 stands for position p; empty if every value is an entry.
  std::span<const std::uint64_t> words() const { return words_; }

 private:
  Array<std::uint64_t> words_;
};

// The bits of a run of positions, collected before they go to their place word by word.
class SlicePresence {
 public:
  void start(Offset first, Offset size) {
    first_word_ = first / 64;
    shift_ = first % 64;
    words_.assign(ceil_div<Offset>(shift_ + size, 64), 0);
  }
  // By its distance from the first position.
  void set(Offset distance) {
    const Offset bit = shift_ + distance;
    words_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  // Of a run of up to 32 of them: bit i stands for distance + i.
  void set_bits(Offset distance, std::uint32_t bits) {
    const Offset bit = shift_ + distance;
    const Offset within = bit % 64;
    words_[bit / 64] |= std::uint64_t{bits} << within;
    if (within > 32 && bits >> (64 - within) != 0) {
      words_[bit / 64 + 1] |= std::uint64_t{bits} >> (64 - within);
    }
  }
  // The first so many.
  void set_all(Offset count) {
    Offset bit = shift_;
    for (; bit % 64 != 0 && bit < shift_ + count; ++bit) set(bit - shift_);
    for (; bit + 64 <= shift_ + count; bit += 64) words_[bit / 64] = ~std::uint64_t{0};
    for (; bit < shift_ + count; ++bit) set(bit - shift_);
  }
  void finish(PresenceBits& bits) const {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      bits.set_bits(first_word_ + static_cast<Offset>(word), words_[word]);
    }
  }

 private:
  Offset first_word_ = 0;
  Offset shift_ = 0;
  std::vector<std::uint64_t> words_;
};

// For arrays that a caller brings, where nothing but the values can tell: what is not zero is an
// entry.
template <Value V>
Offset count_nonzeros(std::span<const V> values) {
  return parallel_reduce(
      static_cast<Offset>(values.size()), Offset{0},
      [&](Offset begin, Offset end) {
        return static_cast<Offset>(end - begin -
                                   std::count(values.begin() + begin, values.begin() + end, V{}));
      },
      std::plus<>{});
}

template <Value V>
PresenceBits presence_of_nonzeros(std::span<const V> values, Offset nonzeros) {
  PresenceBits presence(static_cast<Offset>(values.size()), nonzeros);
  parallel_for(static_cast<Offset>(values.size()), [&](Offset position) {
    if (values[position] != V{}) presence.set(position);
  });
  return presence;
}

}  // namespace strata

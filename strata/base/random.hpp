// Random numbers as a pure function of (seed, stream, counter). A generator that asks for "the
// number of row i" gets the same answer on every machine and for every number of threads.
#pragma once

#include <cstdint>

namespace strata {

// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
// OOPSLA 2014): a bijection of 64-bit words whose output bits all depend on all input bits.
constexpr std::uint64_t mix_bits(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

class Random {
 public:
  constexpr explicit Random(std::uint64_t seed, std::uint64_t stream = 0)
      : key_(mix_bits(seed + kGolden) ^ mix_bits(stream * kGolden + 1)) {}

  constexpr std::uint64_t bits(std::uint64_t counter) const {
    return mix_bits(mix_bits(key_ + counter * kGolden) + kGolden);
  }
  // Uniform in [0, 1), with 53 random bits.
  constexpr double uniform(std::uint64_t counter) const {
    return static_cast<double>(bits(counter) >> 11) * 0x1.0p-53;
  }
  // Uniform in [low, high).
  constexpr double uniform(std::uint64_t counter, double low, double high) const {
    return low + (high - low) * uniform(counter);
  }
  // Uniform in {0, …, bound − 1}; bound > 0. The bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t counter, std::uint64_t bound) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(bits(counter)) * bound) >> 64);
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  std::uint64_t key_;
};

}  // namespace strata

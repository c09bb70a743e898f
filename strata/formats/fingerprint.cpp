#include "strata/formats/fingerprint.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"

namespace strata {

namespace {

using Sums = std::array<std::uint64_t, 2>;

// Rows are gone through so many entries at a time, which stay in a cache meanwhile.
constexpr Offset kEntriesAtATime = Offset{1} << 14;

// A random function of two words and their place.
std::uint64_t term(std::uint64_t a, std::uint64_t b, Offset place) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kSeed = mix_bits(1);
  constexpr std::uint64_t kOtherSeed = mix_bits(2);
  const std::uint64_t key = static_cast<std::uint64_t>(place) * 0x9e3779b97f4a7c15ULL;
  const Wide product = static_cast<Wide>(a ^ (key + kSeed)) * (b ^ (key + kOtherSeed));
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Sums of terms of numbers, of which so many make a word. Sums modulo 2^64 do not depend on how
// threads share them.
template <int numbers_per_word, class Number>
class TermSums {
 public:
  explicit TermSums(std::span<const Number> numbers)
      : numbers_(numbers), whole_(std::ssize(numbers) / kEach) {}

  // Of all terms but the last, those that begin with the numbers [begin, end).
  std::uint64_t between(Offset begin, Offset end) const {
    const Offset last = std::min(ceil_div(end, kEach), whole_);
    std::uint64_t sum = 0;
    for (Offset place = ceil_div(begin, kEach); place < last; ++place) {
      sum += term_at(numbers_.data() + place * kEach, place);
    }
    return sum;
  }
  // The last term, of what is left over, and zeros.
  std::uint64_t rest() const {
    std::array<Number, kEach> left{};
    std::ranges::copy(numbers_.subspan(static_cast<std::size_t>(whole_ * kEach)), left.begin());
    return term_at(left.data(), whole_);
  }

 private:
  static constexpr Offset kEach = 2 * numbers_per_word;

  static std::uint64_t term_at(const Number* from, Offset place) {
    return term(word_at(from), word_at(from + numbers_per_word), place);
  }
  // Of numbers that have at most 64 / numbers_per_word bits.
  static std::uint64_t word_at(const Number* from) {
    std::uint64_t word = 0;
    for (int i = 0; i < numbers_per_word; ++i) {
      word |= static_cast<std::uint64_t>(from[i]) << (64 / numbers_per_word * i);
    }
    return word;
  }

  std::span<const Number> numbers_;
  Offset whole_;
};

template <int columns_per_word, Index I>
Sums sums_of(const PatternView<I>& pattern, FunctionRef<void(RowRange<I>)> visit) {
  const TermSums<columns_per_word, I> columns(pattern.columns);
  const TermSums<1, Offset> offsets(pattern.row_offsets);
  const Offset rows_at_a_time =
      std::max<Offset>(kEntriesAtATime * pattern.rows / std::max<Offset>(pattern.entries(), 1), 1);
  const auto of_rows = [&](Offset begin, Offset end) {
    Sums sums{};
    for (Offset next = begin; begin < end; begin = next) {
      next = std::min(begin + rows_at_a_time, end);
      sums[0] += columns.between(pattern.row_offsets[begin], pattern.row_offsets[next]);
      sums[1] += offsets.between(begin, next);
      visit({static_cast<I>(begin), static_cast<I>(next)});
    }
    return sums;
  };
  const Sums sums =
      parallel_reduce(pattern.rows, Sums{}, of_rows,
                      [](const Sums& a, const Sums& b) { return Sums{a[0] + b[0], a[1] + b[1]}; });
  return {sums[0] + columns.rest(), sums[1] + offsets.rest()};
}

}  // namespace

template <Index I>
Fingerprint fingerprint_of(const PatternView<I>& pattern, FunctionRef<void(RowRange<I>)> visit) {
  const bool halves = std::bit_width(static_cast<std::uint64_t>(pattern.cols)) <= 32;
  return {pattern.rows, pattern.cols, pattern.entries(),
          halves ? sums_of<2>(pattern, visit) : sums_of<1>(pattern, visit)};
}

template <Index I>
Fingerprint fingerprint_of(const PatternView<I>& pattern) {
  return fingerprint_of<I>(pattern, [](RowRange<I>) {});
}

#define STRATA_INSTANTIATE(I)                                 \
  template Fingerprint fingerprint_of(const PatternView<I>&); \
  template Fingerprint fingerprint_of(const PatternView<I>&, FunctionRef<void(RowRange<I>)>)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata

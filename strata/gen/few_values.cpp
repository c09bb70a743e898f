// Values rounded to few of them (see coefficients.hpp).
//
// Entries are told apart by kind: on the diagonal or off it, the sign of the real part, whether
// there is an imaginary part. Within a kind a value is a magnitude, and the kind has a sorted list
// of levels to which magnitudes are rounded. A level is a magnitude that occurs in the kind, so it
// rounds to itself and its value occurs afterwards, too. The sign of the imaginary part is put back
// after rounding: conjugate values stay conjugate, at the price of two values for such a level.
// Levels come from a random sample of the entries; the extreme one, without which not all entries
// could be rounded in the direction they must, from all of them.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/coefficients.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

namespace {

constexpr std::uint64_t kSampleStream = ~std::uint64_t{0} - 1;
constexpr Offset kSampledPerLevel = 16;
constexpr Offset kSmallestSample = Offset{1} << 16;

// What of an entry survives the rounding.
enum class Kept { signs_and_diagonal, signs, nothing };

struct Kind {
  bool diagonal = false;  // rounds away from zero
  int sign = 0;           // of the real part
  bool imaginary = false;

  static constexpr std::size_t kCount = 12;
  std::size_t number() const {
    return static_cast<std::size_t>((diagonal ? 6 : 0) + 2 * (sign + 1) + (imaginary ? 1 : 0));
  }
  static Kind numbered(std::size_t number) {
    const auto index = static_cast<int>(number);
    return {index >= 6, index % 6 / 2 - 1, index % 2 == 1};
  }
  // Distinct values that a level stands for.
  Offset values_per_level() const { return imaginary ? 2 : 1; }
};

template <class T>
using PerKind = std::array<T, Kind::kCount>;

template <Value V>
Kind kind_of(V value, bool on_diagonal, Kept kept) {
  if (kept == Kept::nothing) return {.diagonal = true, .sign = 1, .imaginary = false};
  const Kind kind{.diagonal = on_diagonal && kept == Kept::signs_and_diagonal,
                  .sign = (std::real(value) > 0) - (std::real(value) < 0),
                  .imaginary = std::imag(value) != 0};
  return kind.sign == 0 && !kind.imaginary ? Kind{} : kind;
}

// The size that all parts of the value have, rounded in the direction of the kind.
template <Value V>
auto magnitude_of(V value, const Kind& kind) {
  const auto real = std::abs(std::real(value));
  const auto imaginary = std::abs(std::imag(value));
  if (kind.diagonal || real == 0 || imaginary == 0) return std::max(real, imaginary);
  return std::min(real, imaginary);
}

template <Value V, class Real>
V with_magnitude(V value, const Kind& kind, Real magnitude) {
  const Real real = kind.sign == 0 ? Real{0} : static_cast<Real>(kind.sign) * magnitude;
  if constexpr (is_complex<V>) {
    return V(real, kind.imaginary ? std::copysign(magnitude, value.imag()) : Real{0});
  } else {
    return real;
  }
}

template <class Real>
struct Range {
  Real low = std::numeric_limits<Real>::infinity();
  Real high = -std::numeric_limits<Real>::infinity();

  bool empty() const { return low > high; }
  void add(const Range& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

template <Value V, Index I>
class FewValues {
 public:
  using Real = decltype(std::real(V{}));

  FewValues(const Csr<V, I>& matrix, Offset distinct, std::uint64_t seed) : matrix_(matrix) {
    PerKind<Range<Real>> ranges;
    for (const Kept kept : {Kept::signs_and_diagonal, Kept::signs, Kept::nothing}) {
      kept_ = kept;
      ranges = find_ranges();
      if (fewest_values(ranges) <= distinct) break;
    }
    collect_candidates(ranges, distinct, seed);
    thin_out(distinct);
  }

  V rounded(V value, bool on_diagonal) const {
    const Kind kind = kind_of(value, on_diagonal, kept_);
    const Real magnitude = magnitude_of(value, kind);
    const std::vector<Real>& levels = levels_[kind.number()];
    const auto level = kind.diagonal
                           ? std::lower_bound(levels.begin(), levels.end(), magnitude)
                           : std::upper_bound(levels.begin(), levels.end(), magnitude) - 1;
    return with_magnitude(value, kind, *level);
  }

 private:
  PerKind<Range<Real>> find_ranges() const {
    using Ranges = PerKind<Range<Real>>;
    return parallel_reduce(
        Offset{matrix_.rows()}, Ranges{},
        [&](Offset begin, Offset end) {
          Ranges ranges;
          for (Offset row = begin; row < end; ++row) {
            for (Offset k = matrix_.row_offsets()[row]; k < matrix_.row_offsets()[row + 1]; ++k) {
              const Kind kind = kind_of(matrix_.values()[k], matrix_.columns()[k] == row, kept_);
              const Real magnitude = magnitude_of(matrix_.values()[k], kind);
              ranges[kind.number()].add({magnitude, magnitude});
            }
          }
          return ranges;
        },
        [](Ranges a, const Ranges& b) {
          for (std::size_t number = 0; number < Kind::kCount; ++number) a[number].add(b[number]);
          return a;
        });
  }

  // With one level for every kind that occurs.
  static Offset fewest_values(const PerKind<Range<Real>>& ranges) {
    Offset values = 0;
    for (std::size_t number = 0; number < Kind::kCount; ++number) {
      if (!ranges[number].empty()) values += Kind::numbered(number).values_per_level();
    }
    return values;
  }

  // Fills the lists of levels with more than are needed.
  void collect_candidates(const PerKind<Range<Real>>& ranges, Offset distinct, std::uint64_t seed) {
    for (std::size_t number = 0; number < Kind::kCount; ++number) {
      const Range<Real>& range = ranges[number];
      if (range.empty()) continue;
      levels_[number].push_back(Kind::numbered(number).diagonal ? range.high : range.low);
    }
    const Offset entries = matrix_.nnz();
    const bool all = distinct >= entries / kSampledPerLevel || entries <= kSmallestSample;
    const Offset size = all ? entries : std::max(distinct * kSampledPerLevel, kSmallestSample);
    const Random random(seed, kSampleStream);
    for (Offset i = 0; i < size; ++i) {
      const auto counter = static_cast<std::uint64_t>(i);
      add_candidate(
          all ? i
              : static_cast<Offset>(random.below(counter, static_cast<std::uint64_t>(entries))));
    }
    for (std::vector<Real>& levels : levels_) {
      std::sort(levels.begin(), levels.end());
      levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    }
  }

  void add_candidate(Offset entry) {
    const std::span<const Offset> offsets = matrix_.row_offsets();
    const Offset row =
        std::upper_bound(offsets.begin(), offsets.end(), entry) - offsets.begin() - 1;
    const V value = matrix_.values()[entry];
    const Kind kind = kind_of(value, matrix_.columns()[entry] == row, kept_);
    levels_[kind.number()].push_back(magnitude_of(value, kind));
  }

  // Leaves evenly spaced levels of every kind, the extreme one among them.
  void thin_out(Offset distinct) {
    const PerKind<Offset> shares = shares_of(distinct);
    for (std::size_t number = 0; number < Kind::kCount; ++number) {
      std::vector<Real>& levels = levels_[number];
      const auto candidates = static_cast<double>(levels.size());
      const auto share = static_cast<std::size_t>(shares[number]);
      if (share == levels.size()) continue;
      const bool from_the_end = Kind::numbered(number).diagonal;
      std::vector<Real> left(share);
      for (std::size_t i = 0; i < share; ++i) {
        const auto step = static_cast<std::size_t>(static_cast<double>(i) * candidates /
                                                   static_cast<double>(share));
        left[from_the_end ? share - 1 - i : i] =
            levels[from_the_end ? levels.size() - 1 - step : step];
      }
      levels = std::move(left);
    }
  }

  // How many of its candidates each kind keeps: all of them if they are few enough, else in
  // proportion, at least one, so that all kinds together use up the distinct values.
  PerKind<Offset> shares_of(Offset distinct) const {
    PerKind<Offset> sizes{};
    PerKind<Offset> costs{};
    Offset wanted = 0;
    for (std::size_t number = 0; number < Kind::kCount; ++number) {
      sizes[number] = static_cast<Offset>(levels_[number].size());
      costs[number] = Kind::numbered(number).values_per_level();
      wanted += sizes[number] * costs[number];
    }
    if (wanted <= distinct) return sizes;

    const double share = static_cast<double>(distinct) / static_cast<double>(wanted);
    PerKind<Offset> shares{};
    Offset spare = distinct;
    for (std::size_t number = 0; number < Kind::kCount; ++number) {
      if (sizes[number] == 0) continue;
      const auto proportional = static_cast<Offset>(share * static_cast<double>(sizes[number]));
      shares[number] = std::clamp<Offset>(proportional, 1, sizes[number]);
      spare -= shares[number] * costs[number];
    }
    while (spare < 0) {
      const auto largest = std::ranges::max_element(shares) - shares.begin();
      --shares[largest];
      spare += costs[largest];
    }
    for (std::size_t number = 0; number < Kind::kCount; ++number) {
      const Offset more = std::min(sizes[number] - shares[number], spare / costs[number]);
      shares[number] += more;
      spare -= more * costs[number];
    }
    return shares;
  }

  const Csr<V, I>& matrix_;
  Kept kept_ = Kept::signs_and_diagonal;
  PerKind<std::vector<Real>> levels_;
};

}  // namespace

template <Value V, Index I>
void round_to_few_values(Csr<V, I>& matrix, Offset distinct, std::uint64_t seed) {
  const FewValues<V, I> few(matrix, distinct, seed);
  const std::span<V> values = matrix.mutable_values();
  for_balanced_rows(matrix.row_offsets(), [&](Offset begin, Offset end) {
    for (Offset row = begin; row < end; ++row) {
      for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
        values[k] = few.rounded(values[k], matrix.columns()[k] == row);
      }
    }
  });
}

#define STRATA_INSTANTIATE(V, I) \
  template void round_to_few_values(Csr<V, I>&, Offset, std::uint64_t)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata

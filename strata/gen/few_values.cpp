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

// visit(value, on the diagonal) for the entries [begin, end) of consecutive rows.
template <Value V, Index I, class VisitEntry>
void visit_entries(const Csr<V, I>& rows, Offset first, Offset begin, Offset end,
                   const VisitEntry& visit) {
  for (Offset row = begin; row < end; ++row) {
    for (Offset k = rows.row_offsets()[row]; k < rows.row_offsets()[row + 1]; ++k) {
      visit(rows.values()[k], rows.columns()[k] == first + row);
    }
  }
}

}  // namespace

template <Value V, Index I>
class FewValues<V, I>::Levels {
 public:
  using Real = decltype(std::real(V{}));

  Levels(FunctionRef<void(Visit)> pass, Offset distinct, std::uint64_t seed) {
    find_ranges(pass);
    std::size_t choice = 0;
    while (choice + 1 < kChoices.size() && fewest_values(ranges_[choice]) > distinct) ++choice;
    kept_ = kChoices[choice];
    collect_candidates(pass, ranges_[choice], distinct, seed);
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
  static constexpr std::array kChoices{Kept::signs_and_diagonal, Kept::signs, Kept::nothing};
  using Ranges = std::array<PerKind<Range<Real>>, kChoices.size()>;

  // For all choices in one pass: making the rows again costs more.
  void find_ranges(FunctionRef<void(Visit)> pass) {
    const auto add = [](Ranges a, const Ranges& b) {
      for (std::size_t choice = 0; choice < kChoices.size(); ++choice) {
        for (std::size_t number = 0; number < Kind::kCount; ++number) {
          a[choice][number].add(b[choice][number]);
        }
      }
      return a;
    };
    pass([&](const Csr<V, I>& rows, Offset first) {
      entries_ += rows.nnz();
      ranges_ = parallel_reduce(
          Offset{rows.rows()}, ranges_,
          [&](Offset begin, Offset end) {
            Ranges ranges;
            visit_entries(rows, first, begin, end, [&](V value, bool on_diagonal) {
              for (std::size_t choice = 0; choice < kChoices.size(); ++choice) {
                const Kind kind = kind_of(value, on_diagonal, kChoices[choice]);
                const Real magnitude = magnitude_of(value, kind);
                ranges[choice][kind.number()].add({magnitude, magnitude});
              }
            });
            return ranges;
          },
          add);
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
  void collect_candidates(FunctionRef<void(Visit)> pass, const PerKind<Range<Real>>& ranges,
                          Offset distinct, std::uint64_t seed) {
    for (std::size_t number = 0; number < Kind::kCount; ++number) {
      const Range<Real>& range = ranges[number];
      if (range.empty()) continue;
      levels_[number].push_back(Kind::numbered(number).diagonal ? range.high : range.low);
    }
    const bool all = distinct >= entries_ / kSampledPerLevel || entries_ <= kSmallestSample;
    const std::vector<Offset> sample =
        all ? std::vector<Offset>()
            : sampled_entries(std::max(distinct * kSampledPerLevel, kSmallestSample), seed);
    auto next = sample.begin();
    Offset entries_before = 0;
    pass([&](const Csr<V, I>& rows, Offset first) {
      if (all) {
        visit_entries(rows, first, 0, rows.rows(),
                      [&](V value, bool on_diagonal) { add_candidate(value, on_diagonal); });
        return;
      }
      const std::span<const Offset> offsets = rows.row_offsets();
      for (; next != sample.end() && *next < entries_before + rows.nnz(); ++next) {
        const Offset entry = *next - entries_before;
        const Offset row =
            std::upper_bound(offsets.begin(), offsets.end(), entry) - offsets.begin() - 1;
        add_candidate(rows.values()[entry], rows.columns()[entry] == first + row);
      }
      entries_before += rows.nnz();
    });
    for (std::vector<Real>& levels : levels_) {
      std::sort(levels.begin(), levels.end());
      levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    }
  }

  // Numbers of entries, in increasing order.
  std::vector<Offset> sampled_entries(Offset size, std::uint64_t seed) const {
    const Random random(seed, kSampleStream);
    std::vector<Offset> sample(static_cast<std::size_t>(size));
    for (Offset i = 0; i < size; ++i) {
      sample[i] = static_cast<Offset>(
          random.below(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(entries_)));
    }
    std::ranges::sort(sample);
    return sample;
  }

  void add_candidate(V value, bool on_diagonal) {
    const Kind kind = kind_of(value, on_diagonal, kept_);
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

  Offset entries_ = 0;
  Ranges ranges_;
  Kept kept_ = Kept::signs_and_diagonal;
  PerKind<std::vector<Real>> levels_;
};

template <Value V, Index I>
FewValues<V, I>::FewValues(FunctionRef<void(Visit)> pass, Offset distinct, std::uint64_t seed)
    : levels_(std::make_shared<const Levels>(pass, distinct, seed)) {}

template <Value V, Index I>
void FewValues<V, I>::round(Csr<V, I>& rows, const RowSelection<I>& selection) const {
  const std::span<V> values = rows.mutable_values();
  for_balanced_rows(rows.row_offsets(), [&](Offset begin, Offset end) {
    for (Offset row = begin; row < end; ++row) {
      for (Offset k = rows.row_offsets()[row]; k < rows.row_offsets()[row + 1]; ++k) {
        values[k] = levels_->rounded(values[k], rows.columns()[k] == selection[row]);
      }
    }
  });
}

template <Value V, Index I>
void round_to_few_values(Csr<V, I>& matrix, Offset distinct, std::uint64_t seed) {
  const auto pass = [&](typename FewValues<V, I>::Visit visit) { visit(matrix, 0); };
  FewValues<V, I>(pass, distinct, seed).round(matrix, {0, matrix.rows()});
}

#define STRATA_INSTANTIATE(V, I)  \
  template class FewValues<V, I>; \
  template void round_to_few_values(Csr<V, I>&, Offset, std::uint64_t)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata

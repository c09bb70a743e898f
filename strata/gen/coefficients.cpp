#include "strata/gen/coefficients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

namespace {

// Far from the streams of the generators.
constexpr std::uint64_t kFactorStream = ~std::uint64_t{0};

// The random numbers of the pairs of rows and columns.
class PairRandom {
 public:
  PairRandom(std::uint64_t seed, Offset cols, bool mirrored)
      : random_(seed, kFactorStream),
        cols_(static_cast<std::uint64_t>(cols)),
        mirrored_(mirrored) {}

  double uniform(Offset row, Offset column, double low, double high) const {
    if (mirrored_ && row > column) std::swap(row, column);
    const auto counter =
        static_cast<std::uint64_t>(row) * cols_ + static_cast<std::uint64_t>(column);
    return random_.uniform(counter, low, high);
  }

 private:
  Random random_;
  std::uint64_t cols_;
  bool mirrored_;
};

template <Value V>
V scaled(V value, double factor) {
  using Real = decltype(std::real(value));
  if constexpr (is_complex<V>) {
    return V(static_cast<Real>(value.real() * factor), static_cast<Real>(value.imag() * factor));
  } else {
    return static_cast<Real>(value * factor);
  }
}

// At least |value|, and without a function that rounds differently from machine to machine.
template <Value V>
double sum_of_parts(V value) {
  return std::abs(static_cast<double>(std::real(value))) +
         std::abs(static_cast<double>(std::imag(value)));
}

template <Value V>
Offset count_non_finite(std::span<const V> values) {
  return parallel_reduce(
      static_cast<Offset>(values.size()), Offset{0},
      [&](Offset begin, Offset end) {
        Offset count = 0;
        for (Offset k = begin; k < end; ++k) {
          count += !std::isfinite(std::real(values[k])) || !std::isfinite(std::imag(values[k]));
        }
        return count;
      },
      [](Offset a, Offset b) { return a + b; });
}

template <Value V, Index I>
bool has_positive_diagonal(const Csr<V, I>& matrix) {
  const auto positive_in_row = [&](I row) {
    const std::span<const I> columns = matrix.pattern().columns_of(row);
    const auto found = std::lower_bound(columns.begin(), columns.end(), row);
    if (found == columns.end() || *found != row) return false;
    const V value = matrix.values()[matrix.row_offsets()[row] + (found - columns.begin())];
    return std::real(value) > 0 && std::imag(value) == 0;
  };
  return parallel_reduce(
      Offset{matrix.rows()}, true,
      [&](Offset begin, Offset end) {
        for (Offset row = begin; row < end; ++row) {
          if (!positive_in_row(static_cast<I>(row))) return false;
        }
        return true;
      },
      [](bool a, bool b) { return a && b; });
}

template <Value V, Index I>
void draw_row(std::span<const I> columns, V* values, Offset row, const PairRandom& random,
              bool stays_definite) {
  double others = 0;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (columns[k] != row) others += sum_of_parts(values[k]);
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (columns[k] != row) {
      values[k] = scaled(values[k], random.uniform(row, columns[k], 0.5, 1));
      continue;
    }
    const double factor = random.uniform(row, row, 1, 1.5);
    const double diagonal = std::real(values[k]);
    values[k] = stays_definite ? to_value<V>(std::max(diagonal, (diagonal + others) / 2) * factor)
                               : scaled(values[k], factor);
  }
}

}  // namespace

std::optional<Offset> distinct_coefficients_of(Spec& spec) {
  return spec.integer_or_word("coefficients", "random", kAllDistinct, 1);
}

template <Value V, Index I>
ValueCharacter character_of(const Csr<V, I>& matrix) {
  const Symmetry symmetry = statistics_of(matrix).value_symmetry;
  if (symmetry == Symmetry::general) return ValueCharacter::general;
  return symmetry != Symmetry::skew_symmetric && has_positive_diagonal(matrix)
             ? ValueCharacter::positive
             : ValueCharacter::mirrored;
}

template <Value V, Index I>
void draw_coefficients(Csr<V, I>& rows, const RowSelection<I>& selection, ValueCharacter character,
                       std::uint64_t seed) {
  if (const Offset count = count_non_finite(rows.values()); count > 0) {
    throw InvalidArgument(
        fmt::format("coefficients need finite values, but {} of {} are infinite or not a number",
                    count, rows.nnz()));
  }
  const PairRandom random(seed, rows.cols(), character != ValueCharacter::general);
  const std::span<V> values = rows.mutable_values();
  for_balanced_rows(rows.row_offsets(), [&](Offset begin, Offset end) {
    for (Offset row = begin; row < end; ++row) {
      draw_row(rows.pattern().columns_of(static_cast<I>(row)),
               values.data() + rows.row_offsets()[row], selection[row], random,
               character == ValueCharacter::positive);
    }
  });
}

template <Value V, Index I>
void draw_coefficients(Csr<V, I>& matrix, std::uint64_t seed) {
  draw_coefficients(matrix, {0, matrix.rows()}, character_of(matrix), seed);
}

#define STRATA_INSTANTIATE(V, I)                                                      \
  template ValueCharacter character_of(const Csr<V, I>&);                             \
  template void draw_coefficients(Csr<V, I>&, const RowSelection<I>&, ValueCharacter, \
                                  std::uint64_t);                                     \
  template void draw_coefficients(Csr<V, I>&, std::uint64_t)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata

#include "cli/validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::cli {

namespace {

constexpr Offset kRowsAtATime = 1024;

// A number x op y commits ε if real; a complex product commits up to about three times that.
template <Value V>
double rounding() {
  using Real = decltype(std::abs(V{}));
  return (is_complex<V> ? 3.0 : 1.0) * static_cast<double>(std::numeric_limits<Real>::epsilon());
}

template <Value V>
double largest_number() {
  using Real = decltype(std::abs(V{}));
  return static_cast<double>(std::numeric_limits<Real>::max());
}

template <Value V>
double smallest_number() {
  using Real = decltype(std::abs(V{}));
  return static_cast<double>(std::numeric_limits<Real>::min());
}

// NaN if one of the elements is.
double largest_of(Offset size, FunctionRef<double(Offset)> element) {
  const auto larger = [](double a, double b) { return a >= b || std::isnan(a) ? a : b; };
  return parallel_reduce(
      size, 0.0,
      [&](Offset begin, Offset end) {
        double largest = 0;
        for (Offset i = begin; i < end; ++i) largest = larger(largest, element(i));
        return largest;
      },
      larger);
}

// One vector of several that are side by side.
template <Value V>
Array<V> column_of(std::span<const V> vectors, int which, int count) {
  const auto rows = static_cast<Offset>(vectors.size()) / count;
  Array<V> column(static_cast<std::size_t>(rows));
  parallel_for(rows, [&](Offset i) { column[i] = vectors[i * count + which]; });
  return column;
}

// out = α(A − θI)x + β previous, by the reference kernel on some rows at a time.
template <Value V, Index I>
Array<V> reference_step(const Csr<V, I>& matrix, const cpu::StepCoefficients<V>& step,
                        std::span<const V> x, std::span<const V> previous) {
  Array<V> out(static_cast<std::size_t>(matrix.rows()));
  parallel_dynamic(matrix.rows(), kRowsAtATime, [&](Offset begin, Offset end) {
    reference::spmv(matrix, step.alpha, x, V{}, out, {static_cast<I>(begin), static_cast<I>(end)});
    for (Offset i = begin; i < end; ++i) {
      if (step.shift != V{}) out[i] -= step.alpha * step.shift * x[i];
      if (step.beta != V{}) out[i] += step.beta * previous[i];
    }
  });
  return out;
}

// The same for N_k: all numbers replaced by their absolute values.
template <Value V, Index I>
Array<double> magnitude_step(const Csr<V, I>& matrix, const cpu::StepCoefficients<V>& step,
                             std::span<const double> x, std::span<const double> previous) {
  const auto size = [](V number) { return static_cast<double>(std::abs(number)); };
  Array<double> out(static_cast<std::size_t>(matrix.rows()));
  parallel_dynamic(matrix.rows(), kRowsAtATime, [&](Offset begin, Offset end) {
    for (Offset i = begin; i < end; ++i) {
      double sum = step.shift == V{} ? 0 : size(step.shift) * x[i];
      for (Offset k = matrix.row_offsets()[i]; k < matrix.row_offsets()[i + 1]; ++k) {
        sum += size(matrix.values()[k]) * x[matrix.columns()[k]];
      }
      out[i] = size(step.alpha) * sum;
      if (step.beta != V{}) out[i] += size(step.beta) * previous[i];
    }
  });
  return out;
}

template <Index I>
Offset longest_row(std::span<const Offset> row_offsets, I rows) {
  return parallel_reduce(
      Offset{rows}, Offset{0},
      [&](Offset begin, Offset end) {
        Offset longest = 0;
        for (Offset i = begin; i < end; ++i) {
          longest = std::max(longest, row_offsets[i + 1] - row_offsets[i]);
        }
        return longest;
      },
      [](Offset a, Offset b) { return std::max(a, b); });
}

}  // namespace

template <Value V>
Array<V> random_vector(Offset size, std::uint64_t seed) {
  using Real = decltype(std::abs(V{}));
  Array<V> vector(static_cast<std::size_t>(size));
  const Random real(seed, 0);
  const Random imaginary(seed, 1);
  parallel_for(size, [&](Offset i) {
    const auto counter = static_cast<std::uint64_t>(i);
    if constexpr (is_complex<V>) {
      vector[i] = V(static_cast<Real>(real.uniform(counter, -1, 1)),
                    static_cast<Real>(imaginary.uniform(counter, -1, 1)));
    } else {
      vector[i] = static_cast<V>(real.uniform(counter, -1, 1));
    }
  });
  return vector;
}

template <Value V>
template <Index I>
ReferencePowers<V>::ReferencePowers(const Csr<V, I>& matrix, std::span<const V> x,
                                    const Basis& basis, int power, int vectors) {
  const double gamma =
      static_cast<double>(longest_row(matrix.row_offsets(), matrix.rows()) + 4) * rounding<V>();
  powers_.resize(static_cast<std::size_t>(power));
  for (OfPower& of_power : powers_) {
    of_power.values.resize(static_cast<std::size_t>(matrix.rows()) * vectors);
  }
  for (int which = 0; which < vectors; ++which) {
    Array<V> before;
    Array<V> last = column_of(x, which, vectors);
    Array<double> magnitude_before;
    Array<double> magnitude(last.size());
    parallel_for(static_cast<Offset>(last.size()),
                 [&](Offset i) { magnitude[i] = static_cast<double>(std::abs(last[i])); });
    for (int k = 1; k <= power; ++k) {
      const auto step = basis.template step<V>(k);
      Array<V> next = reference_step<V, I>(matrix, step, last, before);
      Array<double> next_magnitude =
          magnitude_step<V, I>(matrix, step, magnitude, magnitude_before);
      const auto rows = static_cast<Offset>(next.size());
      OfPower& of_power = powers_[k - 1];
      parallel_for(rows, [&](Offset i) { of_power.values[i * vectors + which] = next[i]; });
      of_power.largest = std::max(of_power.largest, largest_of(rows, [&](Offset i) {
                                    return static_cast<double>(std::abs(next[i]));
                                  }));
      const double bound = largest_of(rows, [&](Offset i) { return next_magnitude[i]; });
      // Where N_k overflows, so may partial sums of y_k that cancel later. Next to 0 numbers have
      // an absolute error instead of a relative one.
      const double tolerance = bound < largest_number<V>()
                                   ? 2 * k * gamma * (bound + smallest_number<V>())
                                   : std::numeric_limits<double>::infinity();
      of_power.tolerance = std::max(of_power.tolerance, tolerance);
      before = std::exchange(last, std::move(next));
      magnitude_before = std::exchange(magnitude, std::move(next_magnitude));
    }
  }
}

template <Value V>
Check ReferencePowers<V>::check(std::span<const V> powers, int power) const {
  Check worst;
  double worst_share = -1;
  const auto each = static_cast<Offset>(powers.size()) / power;
  for (int k = 1; k <= power; ++k) {
    const OfPower& reference = powers_[k - 1];
    if (!std::isfinite(reference.tolerance)) break;
    ++worst.compared;
    const double difference = largest_of(each, [&](Offset i) {
      return static_cast<double>(std::abs(powers[(k - 1) * each + i] - reference.values[i]));
    });
    const bool within = difference <= reference.tolerance;  // which NaN is not
    const double share = difference / reference.tolerance;
    worst.passed = worst.passed && within;
    if (within && share <= worst_share) continue;
    worst_share = within ? share : std::numeric_limits<double>::infinity();
    worst.power = k;
    const double scale = reference.largest > 0 ? reference.largest : 1;
    worst.relative_error = difference / scale;
    worst.tolerance = reference.tolerance / scale;
    if (!worst.passed) break;
  }
  return worst;
}

#define STRATA_INSTANTIATE(V, I)                                                                   \
  template ReferencePowers<V>::ReferencePowers(const Csr<V, I>&, std::span<const V>, const Basis&, \
                                               int, int)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#define STRATA_INSTANTIATE_VALUE(V, I) \
  template class ReferencePowers<V>;   \
  template Array<V> random_vector<V>(Offset, std::uint64_t)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );

}  // namespace strata::cli

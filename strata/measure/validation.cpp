#include "strata/measure/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/measure/vectors.hpp"

namespace strata {

namespace {

constexpr Offset kRowsAtATime = 1024;

// A sum of products, high + low, and the sum of their absolute values.
struct Sum {
  double high = 0;
  double low = 0;
  double size = 0;

  void add_product(double a, double b) {
    const double product = a * b;
    add(product, std::fma(a, b, -product), std::abs(product));
  }
  void add_scaled(double factor, const Sum& sum) {
    const double product = factor * sum.high;
    add(product, std::fma(factor, sum.high, -product) + factor * sum.low,
        std::abs(factor) * sum.size);
  }

 private:
  // TwoSum of Knuth: what high + number loses when it is rounded goes to low.
  void add(double number, double rest, double absolute) {
    const double sum = high + number;
    const double added = sum - high;
    const double lost = (high - (sum - added)) + (number - added);
    high = sum;
    low += lost + rest;
    size += absolute;
  }
};

// Real and imaginary part of a number, and of a sum.
template <Value V>
constexpr int kParts = is_complex<V> ? 2 : 1;
template <Value V>
using Sums = std::array<Sum, kParts<V>>;

template <Value V>
double part_of(V number, int part) {
  return static_cast<double>(part == 0 ? std::real(number) : std::imag(number));
}
template <Value V>
std::complex<double> wide(V number) {
  return {part_of(number, 0), part_of(number, 1)};
}
template <Value V>
double largest_part(V number) {
  return std::max(std::abs(part_of(number, 0)), std::abs(part_of(number, 1)));
}
// Products with a part that is 0 are exact, and so is adding them.
template <Value V>
int nonzero_parts(V number) {
  return (part_of(number, 0) != 0 ? 1 : 0) + (part_of(number, 1) != 0 ? 1 : 0);
}

template <Value V>
void add_product(Sums<V>& sums, V a, V b) {
  sums[0].add_product(part_of(a, 0), part_of(b, 0));
  if constexpr (is_complex<V>) {
    sums[0].add_product(-part_of(a, 1), part_of(b, 1));
    sums[1].add_product(part_of(a, 0), part_of(b, 1));
    sums[1].add_product(part_of(a, 1), part_of(b, 0));
  }
}
template <Value V>
Sums<V> scaled(V factor, const Sums<V>& sums) {
  Sums<V> result;
  result[0].add_scaled(part_of(factor, 0), sums[0]);
  if constexpr (is_complex<V>) {
    result[0].add_scaled(-part_of(factor, 1), sums[1]);
    result[1].add_scaled(part_of(factor, 0), sums[1]);
    result[1].add_scaled(part_of(factor, 1), sums[0]);
  }
  return result;
}

// How far a number is off and may be.
struct Deviation {
  double error = 0;
  double tolerance = 0;
  double size = 0;  // M

  double share() const {
    if (tolerance > 0) return error / tolerance;
    return error > 0 ? std::numeric_limits<double>::infinity() : 0;
  }
  double scale() const { return size > 0 ? size : 1; }
  double relative_error() const { return error / scale(); }
  double relative_tolerance() const { return tolerance / scale(); }
};

// Of some elements of one step.
struct Tally {
  Offset judged = 0;
  Offset wrong = 0;
  double largest_tolerance = 0;
  Offset worst = -1;  // which element; −1 if none was judged
  Deviation deviation;
  std::complex<double> expected;

  void add(Offset element, const Deviation& of_element, std::complex<double> right) {
    Tally one;
    one.judged = 1;
    one.wrong = of_element.share() > 1 ? 1 : 0;
    one.largest_tolerance = of_element.relative_tolerance();
    one.worst = element;
    one.deviation = of_element;
    one.expected = right;
    add(one);
  }
  // In whatever order tallies are added, the result is the same.
  void add(const Tally& other) {
    judged += other.judged;
    wrong += other.wrong;
    largest_tolerance = std::max(largest_tolerance, other.largest_tolerance);
    if (other.worst < 0) return;
    const double share = deviation.share();
    const double other_share = other.deviation.share();
    if (worst >= 0 && (share > other_share || (share == other_share && worst < other.worst))) {
      return;
    }
    worst = other.worst;
    deviation = other.deviation;
    expected = other.expected;
  }
};

template <Value V, Index I>
class StepCheck {
 public:
  StepCheck(const Csr<V, I>& matrix, const cpu::StepCoefficients<V>& coefficients,
            std::span<const V> x, std::span<const V> previous, std::span<const V> out, int vectors)
      : matrix_(matrix),
        coefficients_(coefficients),
        x_(x),
        previous_(previous),
        out_(out),
        vectors_(vectors) {}

  Tally run() const {
    std::mutex mutex;
    Tally all;
    parallel_dynamic(matrix_.rows(), kRowsAtATime, [&](Offset begin, Offset end) {
      Tally some;
      for (Offset row = begin; row < end; ++row) {
        for (int vector = 0; vector < vectors_; ++vector) judge(row, vector, some);
      }
      const std::lock_guard lock(mutex);
      all.add(some);
    });
    return all;
  }

 private:
  using Real = decltype(std::abs(V{}));
  static constexpr double kUnit = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;
  static constexpr double kSmallest = static_cast<double>(std::numeric_limits<Real>::denorm_min());
  static constexpr double kLargest = static_cast<double>(std::numeric_limits<Real>::max()) / 2;

  // The reference step of one element, with what its tolerance depends on.
  struct Expected {
    Sums<V> sums;
    Offset roundings = 0;  // n
    double underflow = 0;  // 2ηc
    bool may_overflow = false;
  };

  static bool too_large(const Sums<V>& sums) {
    // NaN is not below anything.
    return !std::ranges::all_of(sums, [](const Sum& sum) { return sum.size <= kLargest; });
  }

  Expected expect(Offset row, int vector) const {
    const auto& [alpha, shift, beta] = coefficients_;
    // Entries that are multiplied by both parts of α first have both parts themselves.
    const bool both_parts = nonzero_parts(alpha) == 2;
    Sums<V> products;
    Offset terms = 0;
    double largest_input = 0;
    const auto add = [&](V factor, V input) {
      add_product(products, factor, input);
      terms += both_parts ? 2 : nonzero_parts(factor);
      largest_input = std::max(largest_input, largest_part(input));
    };
    for (Offset k = matrix_.row_offsets()[row]; k < matrix_.row_offsets()[row + 1]; ++k) {
      add(matrix_.values()[k], x_[Offset{matrix_.columns()[k]} * vectors_ + vector]);
    }
    const Offset element = row * vectors_ + vector;
    if (shift != V{}) add(-shift, x_[element]);
    // From the left, so that nothing large is multiplied by anything but the smallest number.
    const double of_terms = 2 * kSmallest * static_cast<double>(terms);
    Expected result{scaled(alpha, products), terms, of_terms * kParts<V> * largest_part(alpha),
                    too_large(products)};
    const auto add_factor = [&](V factor, double underflow) {
      result.roundings += nonzero_parts(factor);
      result.underflow += nonzero_parts(factor) * underflow;
    };
    if (alpha != V{1}) add_factor(alpha, 2 * kSmallest + of_terms * largest_input);
    if (beta != V{}) {
      add_product(result.sums, beta, previous_[element]);
      add_factor(beta, 2 * kSmallest);
    }
    result.may_overflow = result.may_overflow || too_large(result.sums);
    return result;
  }

  void judge(Offset row, int vector, Tally& tally) const {
    const Expected expected = expect(row, vector);
    const double relative = static_cast<double>(expected.roundings) * kUnit;  // nu
    if (expected.may_overflow || relative >= 0.5) return;
    // M and the tolerance are rounded themselves, and the reference is off by some 4n units of a
    // double's rounding error relative to the tolerance.
    const double upwards = 1 + (8 * static_cast<double>(expected.roundings) + 64) *
                                   std::numeric_limits<double>::epsilon();
    const Offset element = row * vectors_ + vector;
    Deviation worse;
    double right[2] = {};
    for (int part = 0; part < kParts<V>; ++part) {
      const Sum& sum = expected.sums[part];
      const double computed = part_of(out_[element], part);
      const Deviation deviation{
          std::isfinite(computed) ? std::abs((computed - sum.high) - sum.low)
                                  : std::numeric_limits<double>::infinity(),
          upwards * (relative / (1 - relative) * sum.size + expected.underflow), sum.size};
      if (part == 0 || deviation.share() > worse.share()) worse = deviation;
      right[part] = sum.high + sum.low;
    }
    tally.add(element, worse, {right[0], right[1]});
  }

  const Csr<V, I>& matrix_;
  const cpu::StepCoefficients<V>& coefficients_;
  std::span<const V> x_;
  std::span<const V> previous_;
  std::span<const V> out_;
  int vectors_;
};

void require_size(std::string_view what, std::size_t size, Offset rows, int vectors) {
  const Offset expected = checked_multiply<Offset>(rows, vectors, "the elements of vectors");
  if (size == static_cast<std::size_t>(expected)) return;
  throw InvalidArgument(fmt::format("{} has {} elements; {} rows and {} vectors make {}", what,
                                    size, rows, vectors, expected));
}

template <Value V, Index I>
Check empty_check(const Csr<V, I>& matrix, std::span<const V> x, int vectors) {
  if (vectors < 1) {
    throw InvalidArgument(fmt::format("a check needs at least 1 vector, not {}", vectors));
  }
  require_size("x", x.size(), matrix.cols(), vectors);
  Check check;
  check.vectors = vectors;
  return check;
}

// Adds the step that leads to y_power.
template <Value V, Index I>
void add_step(Check& check, int power, const Csr<V, I>& matrix,
              const cpu::StepCoefficients<V>& coefficients, std::span<const V> x,
              std::span<const V> previous, std::span<const V> out) {
  if (coefficients.shift != V{} && matrix.rows() != matrix.cols()) {
    throw InvalidArgument(
        fmt::format("a {} x {} matrix cannot be shifted", matrix.rows(), matrix.cols()));
  }
  require_size("a result", out.size(), matrix.rows(), check.vectors);
  if (coefficients.beta != V{}) {
    require_size("the vector that is added", previous.size(), matrix.rows(), check.vectors);
  }
  const Tally tally = StepCheck<V, I>(matrix, coefficients, x, previous, out, check.vectors).run();
  const auto elements = static_cast<Offset>(out.size());
  check.elements += elements;
  check.judged += tally.judged;
  check.wrong += tally.wrong;
  check.compared += tally.judged == elements ? 1 : 0;
  check.largest_tolerance = std::max(check.largest_tolerance, tally.largest_tolerance);
  check.passed = check.wrong == 0 && (check.judged > 0 || check.elements == 0);
  const double share = tally.deviation.share();
  if (tally.worst < 0 || (check.power > 0 && share <= check.share)) return;
  const V computed = out[tally.worst];
  check.power = power;
  check.row = tally.worst / check.vectors;
  check.vector = static_cast<int>(tally.worst % check.vectors);
  check.share = share;
  check.relative_error = tally.deviation.relative_error();
  check.tolerance = tally.deviation.relative_tolerance();
  check.computed = wide(computed);
  check.expected = tally.expected;
  check.unwritten = is_poison(computed);
}

std::string number_text(std::complex<double> number) {
  if (number.imag() == 0) return fmt::format("{}", number.real());
  return fmt::format("{} {} {}i", number.real(), number.imag() < 0 ? '-' : '+',
                     std::abs(number.imag()));
}

}  // namespace

std::string Check::explain() const {
  if (elements == 0) return "there are no elements";
  if (judged == 0) {
    return fmt::format(
        "none of {} elements can be judged: inputs are not finite, sums may overflow, or rows are "
        "too long for the precision",
        elements);
  }
  const std::string where =
      fmt::format("row {} of power {}{}", row, power,
                  vectors > 1 ? fmt::format(", vector {}", vector) : std::string());
  const std::string allowed = fmt::format("allowed are {:.1e}", tolerance);
  if (wrong == 0) return fmt::format("{} is off by {:.1e}, {}", where, relative_error, allowed);
  const std::string what = unwritten
                               ? std::string("was not written, or made of what was not written")
                               : fmt::format("is {}", number_text(computed));
  return fmt::format("{} {}; {} would be right, off by {:.1e}, {}; {} of {} elements are wrong",
                     where, what, number_text(expected), relative_error, allowed, wrong, elements);
}

template <Value V, Index I>
Check check_step(const Csr<V, I>& matrix,
                 const std::type_identity_t<cpu::StepCoefficients<V>>& coefficients,
                 std::type_identity_t<std::span<const V>> x,
                 std::type_identity_t<std::span<const V>> previous,
                 std::type_identity_t<std::span<const V>> out, int vectors) {
  Check check = empty_check(matrix, x, vectors);
  add_step(check, 1, matrix, coefficients, x, previous, out);
  return check;
}

template <Value V, Index I>
Check check_powers(const Csr<V, I>& matrix, std::type_identity_t<std::span<const V>> x,
                   std::type_identity_t<std::span<const V>> powers, const Basis& basis, int power,
                   int vectors) {
  if (power < 1 || (power > 1 && matrix.rows() != matrix.cols())) {
    throw InvalidArgument(
        fmt::format("a {} x {} matrix has no power {}", matrix.rows(), matrix.cols(), power));
  }
  basis.template require_steps<V>(power);
  Check check = empty_check(matrix, x, vectors);
  const std::size_t each = powers.size() / static_cast<std::size_t>(power);
  require_size("the block of powers", powers.size(),
               checked_multiply<Offset>(matrix.rows(), power, "the rows of all powers"), vectors);
  const auto vector = [&](int k) { return k == 0 ? x : powers.subspan((k - 1) * each, each); };
  for (int k = 1; k <= power; ++k) {
    add_step(check, k, matrix, basis.template step<V>(k), vector(k - 1),
             k == 1 ? std::span<const V>() : vector(k - 2), vector(k));
  }
  return check;
}

#define STRATA_INSTANTIATE(V, I)                                                                   \
  template Check check_step(const Csr<V, I>&, const cpu::StepCoefficients<V>&, std::span<const V>, \
                            std::span<const V>, std::span<const V>, int);                          \
  template Check check_powers(const Csr<V, I>&, std::span<const V>, std::span<const V>,            \
                              const Basis&, int, int)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata

#include "strata/solvers/exponential_polynomial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "strata/base/error.hpp"
#include "strata/solvers/krylov_basis.hpp"

namespace strata::solvers {

namespace {

using Complex = std::complex<double>;

// A little more of a number of steps.
int more_steps(int steps) {
  return steps + std::max(1, steps / 8);
}

[[noreturn]] void no_polynomial(const ExponentialDemand& demand) {
  throw InvalidArgument(fmt::format(
      "no polynomial of degree {} or less approximates the exponential to {:.1e}, whatever the "
      "number of steps in time",
      demand.most_degree, demand.tolerance));
}

// So that what is lost in each is a digit at most.
int fewest_steps(double excess) {
  return std::max(1, static_cast<int>(std::ceil(excess / 2)));
}

// From the error of one step, relative to the largest value in the bounds, and the sum of its
// terms: errors add up, roundings as random numbers do.
void finish(ExponentialPolynomial& result, double sum, const ExponentialDemand& demand) {
  const double steps = result.polynomial.steps;
  const double loss = std::exp(demand.excess / steps);
  result.error *= steps * loss;
  result.growth = std::sqrt(steps) * loss * std::max(sum, 1.0);
}

constexpr int kMostSteps = 1'000'000;

}  // namespace

ExponentialPolynomial chebyshev_exponential(const ExponentialTime& time,
                                            const ChebyshevInterval& interval,
                                            const ExponentialDemand& demand) {
  int steps = fewest_steps(demand.excess), degree = 0;
  while (true) {
    degree = exponential_degree(time.value * interval.radius() / steps, time.imaginary,
                                demand.tolerance / steps * std::exp(-demand.excess / steps),
                                demand.most_degree);
    if (degree <= demand.most_degree) break;
    if (steps > kMostSteps) no_polynomial(demand);
    steps = more_steps(steps);
  }
  ExponentialPolynomial result;
  result.polynomial = {Basis::chebyshev(interval.low, interval.high), {}, steps};
  double sum = 0;
  if (time.imaginary) {
    const PhaseSeries series = phase_series(time.value / steps, interval, degree);
    result.polynomial.coefficients = series.coefficients;
    for (const Complex& each : series.coefficients) sum += std::abs(each);
    result.error = series.remainder;
  } else {
    const ExponentialSeries series = exponential_series(time.value / steps, interval, degree);
    const double largest = std::exp(series.exponent);
    for (const double each : series.coefficients) {
      result.polynomial.coefficients.emplace_back(each * largest);
      sum += std::abs(each);
    }
    result.error = series.remainder;
  }
  finish(result, sum, demand);
  return result;
}

namespace {

// Σ |c_k| θ^{k−1} of log(e^{−x} T_m(x)) = Σ_{k>m} c_k xᵏ. Its derivative is −xᵐ e^{−x} / m! over
// e^{−x} T_m(x), which is 1 − O(x^{m+1}): with absolute values, all terms add up.
double taylor_backward_error(int degree, double theta) {
  double power = 1;  // θ^{m+j} / (m! j!)
  for (int k = 1; k <= degree; ++k) power *= theta / k;
  double sum = 0;
  for (int j = 0; j < 200; ++j) {
    sum += power / (degree + 1 + j);
    power *= theta / (j + 1);
  }
  return theta * sum < 1 ? sum / (1 - theta * sum) : std::numeric_limits<double>::infinity();
}

}  // namespace

double taylor_radius(int degree, double tolerance) {
  double good = 0, bad = 4.0 + degree;
  for (int k = 0; k < 60; ++k) {
    const double middle = (good + bad) / 2;
    (taylor_backward_error(degree, middle) <= tolerance ? good : bad) = middle;
  }
  return good;
}

ExponentialPolynomial taylor_exponential(const ExponentialTime& time, Complex shift, double norm,
                                         const ExponentialDemand& demand) {
  // Terms grow like e^θ before they decay, and rounding with them.
  const double most_radius = std::clamp(std::log(demand.tolerance / demand.epsilon / 16), 0.5, 5.0);
  constexpr int kMostDegree = 60;
  const double whole = std::abs(time.value) * norm;
  int degree = 0;
  double steps = 1, products = std::numeric_limits<double>::infinity();
  for (int m = 1; m <= std::min(demand.most_degree, kMostDegree); ++m) {
    const double radius = std::min(taylor_radius(m, demand.tolerance), most_radius);
    const double needed = std::max(std::ceil(whole / radius), 1.0);
    if (!(m * needed < products)) continue;
    degree = m;
    steps = needed;
    products = m * needed;
  }
  if (degree == 0 || steps > kMostSteps) no_polynomial(demand);
  const Complex step_factor = time.factor() / steps;
  const double scale = norm > 0 ? norm : 1;
  ExponentialPolynomial result;
  result.polynomial = {
      Basis::newton(std::vector<Complex>(static_cast<std::size_t>(degree), shift), scale),
      {},
      static_cast<int>(steps)};
  Complex coefficient = std::exp(step_factor * shift);
  for (int k = 0; k <= degree; ++k) {
    result.polynomial.coefficients.push_back(coefficient);
    coefficient *= step_factor * scale / (k + 1.0);
  }
  result.error = taylor_backward_error(degree, whole / steps);
  result.growth = std::sqrt(steps) * std::exp(whole / steps);
  return result;
}

namespace {

// Interpolation of e^{f(z − centre)} at Leja points, in the form of Newton's basis as arithmetic of
// type V has it.
template <Value V>
class LejaInterpolation {
 public:
  explicit LejaInterpolation(const FieldOfValues& field)
      : field_(field),
        centre_((field.real_low + field.real_high) / 2,
                (field.imaginary_low + field.imaginary_high) / 2) {
    const double width = field.real_high - field.real_low;
    const double height = field.imaginary_high - field.imaginary_low;
    const bool upright = height > width;
    length_ = std::max(width, height);
    std::vector<Complex> candidates;
    constexpr int kHalf = 200;
    for (int k = -kHalf; k <= kHalf; ++k) {
      const double offset = length_ / 2 * k / kHalf;
      candidates.push_back(centre_ + (upright ? Complex(0, offset) : Complex(offset, 0)));
    }
    // The capacity of a line is a quarter of its length: vectors then neither grow nor vanish.
    const double scale = length_ > 0 ? length_ / 4 : std::max(std::abs(centre_), 1.0);
    basis_ = Basis::newton(leja_ordered(candidates, kMostNodes), scale);
    for (int k = 1; k <= kMostNodes; ++k) steps_.push_back(basis_.step<Exact>(k));
    b_ = change_of_basis<Exact>(basis_, kMostNodes);
  }

  static constexpr int kMostDegree = 128;
  const Basis& basis() const { return basis_; }
  Complex centre() const { return centre_; }
  double length() const { return length_; }

  // exp(f (B − centre)) e_0, B of as many rows as there are coefficients.
  std::vector<Complex> coefficients(Complex factor, int degree) const {
    const int size = degree + 1;
    const auto multiply = [&](const std::vector<Complex>& x, Complex by) {
      std::vector<Complex> y(x.size());
      for (int column = 0; column < size; ++column) {
        for (int row = std::max(column - 1, 0); row <= std::min(column + 1, size - 1); ++row) {
          const Complex entry = Complex(b_(row, column)) - (row == column ? centre_ : Complex(0));
          y[static_cast<std::size_t>(row)] += by * entry * x[static_cast<std::size_t>(column)];
        }
      }
      return y;
    };
    double norm = 0;
    for (int column = 0; column < size; ++column) {
      double sum = 0;
      for (int row = std::max(column - 1, 0); row <= std::min(column + 1, size - 1); ++row) {
        sum += std::abs(Complex(b_(row, column)) - (row == column ? centre_ : Complex(0)));
      }
      norm = std::max(norm, sum);
    }
    const int pieces = std::max(1, static_cast<int>(std::ceil(std::abs(factor) * norm)));
    std::vector<Complex> result(static_cast<std::size_t>(size));
    result[0] = 1;
    for (int piece = 0; piece < pieces; ++piece) {
      std::vector<Complex> term = result;
      for (int k = 1; k <= 25; ++k) {
        term = multiply(term, factor / static_cast<double>(pieces * k));
        for (std::size_t i = 0; i < result.size(); ++i) result[i] += term[i];
      }
    }
    return result;
  }

  // The largest error on the boundary of the field of values, which is the largest inside, the
  // largest value, and the largest sum of the sizes of all terms: off the line of its nodes a basis
  // grows, and rounding with it.
  struct Range {
    double error = 0;
    double largest = 0;
    double terms = 0;
  };
  Range range(Complex factor, const std::vector<Complex>& coefficients) const {
    const int samples = 4 * static_cast<int>(coefficients.size()) + 16;
    Range range;
    const auto visit = [&](Complex from, Complex to) {
      for (int k = 0; k <= samples; ++k) {
        const Complex z = from + (to - from) * (static_cast<double>(k) / samples);
        const Complex exact = std::exp(factor * (z - centre_));
        const Sum sum = sum_at(coefficients, z);
        range.error = std::max(range.error, std::abs(exact - sum.value));
        range.largest = std::max(range.largest, std::abs(exact));
        range.terms = std::max(range.terms, sum.sizes);
      }
    };
    const Complex corners[] = {{field_.real_low, field_.imaginary_low},
                               {field_.real_high, field_.imaginary_low},
                               {field_.real_high, field_.imaginary_high},
                               {field_.real_low, field_.imaginary_high}};
    for (int side = 0; side < 4; ++side) visit(corners[side], corners[(side + 1) % 4]);
    const bool hermitian = field_.imaginary_low == 0 && field_.imaginary_high == 0;
    if (!hermitian) {
      range.error *= 1 + std::sqrt(2.0);
      range.terms *= 1 + std::sqrt(2.0);
    }
    return range;
  }

 private:
  using Exact = Wide<V>;
  static constexpr int kMostNodes = kMostDegree + 2;

  struct Sum {
    Complex value;
    double sizes = 0;  // of the terms
  };
  Sum sum_at(const std::vector<Complex>& coefficients, Complex z) const {
    Complex before = 0, here = 1;
    Sum sum{coefficients[0], std::abs(coefficients[0])};
    for (std::size_t k = 1; k < coefficients.size(); ++k) {
      const auto& step = steps_[k - 1];
      const Complex next =
          Complex(step.alpha) * (z - Complex(step.shift)) * here + Complex(step.beta) * before;
      before = here;
      here = next;
      sum.value += coefficients[k] * here;
      sum.sizes += std::abs(coefficients[k] * here);
    }
    return sum;
  }

  FieldOfValues field_;
  Complex centre_;
  double length_ = 0;
  Basis basis_ = Basis::monomial();
  std::vector<cpu::StepCoefficients<Exact>> steps_;
  Dense<Exact> b_;
};

}  // namespace

template <Value V>
ExponentialPolynomial leja_exponential(const ExponentialTime& time, const FieldOfValues& field,
                                       const ExponentialDemand& demand) {
  const LejaInterpolation<V> leja(field);
  const int most = std::min(demand.most_degree, leja.kMostDegree);
  const double whole = std::abs(time.value) * leja.length();
  if (!(whole / most < kMostSteps)) no_polynomial(demand);
  ExponentialPolynomial best;
  double products = std::numeric_limits<double>::infinity();
  const auto rounding = [&](const ExponentialPolynomial& of) {
    return 2 * demand.epsilon * of.growth;
  };
  // From the fewest steps that can do on; many more of them cost more than they save. Where
  // rounding spoils what terms add up to, more steps have smaller terms.
  int steps = std::max(fewest_steps(demand.excess), static_cast<int>(whole / (4.0 * most)));
  for (int attempt = 0; attempt < 40 && 4.0 * steps < products; ++attempt) {
    const Complex factor = time.factor() / static_cast<double>(steps);
    // Half of the tolerance is left to rounding.
    const double needed = demand.tolerance / 2 / steps * std::exp(-demand.excess / steps);
    for (int degree = 4; degree <= most && static_cast<double>(degree) * steps < products;
         degree += 2) {
      std::vector<Complex> coefficients = leja.coefficients(factor, degree);
      const auto range = leja.range(factor, coefficients);
      if (!(range.error <= needed * range.largest)) continue;
      for (Complex& each : coefficients) each *= std::exp(factor * leja.centre());
      ExponentialPolynomial found{.polynomial = {leja.basis(), std::move(coefficients), steps},
                                  .error = range.error / range.largest};
      finish(found, range.terms / range.largest, demand);
      const bool good = rounding(found) <= std::max(demand.tolerance / 2, 4 * demand.epsilon);
      if (good) products = static_cast<double>(degree) * steps;
      if (good || best.polynomial.coefficients.empty() || rounding(found) < rounding(best)) {
        best = std::move(found);
      }
      break;
    }
    steps = more_steps(steps);
  }
  if (best.polynomial.coefficients.empty()) no_polynomial(demand);
  return best;
}

#define STRATA_INSTANTIATE(V)                                                                      \
  template ExponentialPolynomial leja_exponential<V>(const ExponentialTime&, const FieldOfValues&, \
                                                     const ExponentialDemand&)
STRATA_INSTANTIATE(float);
STRATA_INSTANTIATE(double);
STRATA_INSTANTIATE(std::complex<float>);
STRATA_INSTANTIATE(std::complex<double>);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers

// Powers by repeated reference products, and how far a plan may be away from them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/csr.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/plans/power_plan.hpp"
#include "tests/machine/support.hpp"
#include "tests/support/matrices.hpp"

namespace strata::test {

// Options that predict with an imaginary machine, which has processors for all threads, and do not
// time the candidates.
inline PowerOptions quick_options() {
  static const MachineProfile profile = imaginary_machine();
  PowerOptions options;
  options.autotune = false;
  options.profile = &profile;
  options.processors = {.usable = kMaxThreads, .quota = 0};
  return options;
}

// What can be asked for.
inline constexpr PowerStrategy kStrategies[] = {PowerStrategy::spmv, PowerStrategy::levels,
                                                PowerStrategy::wavefront};
// What plans can be asked to store values as.
inline constexpr std::optional<StoredValues> kAskedValues[] = {
    std::nullopt, StoredValues::full, StoredValues::constants, StoredValues::few,
    StoredValues::all};
inline constexpr Format kFormats[] = {Format::csr, Format::sell, Format::packed_sell};

// A plan for two threads.
template <Value V, Index I>
PowerPlan<V, I> plan_of(const Csr<V, I>& matrix, PowerStrategy strategy, Format format,
                        VectorOrder order = VectorOrder::caller) {
  PowerOptions options = quick_options();
  options.strategy = strategy;
  options.format = format;
  options.vector_order = order;
  options.threads = 2;
  return plan_powers(matrix, options);
}

// That sum is c_0 x + Σ c_k y_k, but for rounding; `powers` are y_1 … y_p, one after another.
template <class V, class Sum>
void expect_sum_of_powers(const Sum& sum, const std::vector<V>& x, const std::vector<V>& c,
                          const std::vector<V>& powers) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    V expected = c[0] * x[i];
    double size = std::abs(expected);
    for (std::size_t k = 1; k < c.size(); ++k) {
      const V term = c[k] * powers[(k - 1) * x.size() + i];
      expected += term;
      size += std::abs(term);
    }
    ASSERT_LE(std::abs(sum[i] - expected),
              20 * size * std::numeric_limits<decltype(std::abs(V()))>::epsilon())
        << "element " << i;
  }
}

// action() throws InvalidArgument with this message.
template <class Action>
void expect_refused(Action&& action, std::string_view message) {
  try {
    action();
    ADD_FAILURE() << "nothing thrown, expected: " << message;
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string_view(error.what()), message);
  }
}

// One of several interleaved vectors.
template <class T>
std::vector<T> one_of(const std::vector<T>& vectors, int v, int count) {
  std::vector<T> one(vectors.size() / count);
  for (std::size_t i = 0; i < one.size(); ++i) one[i] = vectors[i * count + v];
  return one;
}

// out = |α| (|A| + |θ|) |x| + |β| |previous|, or the same without the bars.
template <class T, Index I>
std::vector<T> step_by_reference(const Csr<T, I>& matrix, const cpu::StepCoefficients<T>& c,
                                 const std::vector<T>& x, const std::vector<T>& previous) {
  std::vector<T> out(x.size());
  reference::spmv(matrix, T{1}, x, T{}, out);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (c.shift != T{}) out[i] -= c.shift * x[i];
    out[i] *= c.alpha;
    if (c.beta != T{}) out[i] += c.beta * previous[i];
  }
  return out;
}

// y_1 … y_p one after another as PowerPlan::apply gives them, in double precision, and the sums of
// the absolute values of all terms behind each number, which rounding errors are relative to.
template <Value Wide>
struct ExpectedPowers {
  std::vector<Wide> powers;
  std::vector<double> magnitudes;
};

template <Value V>
using WideOf = std::conditional_t<is_complex<V>, std::complex<double>, double>;

template <Value V, Index I>
ExpectedPowers<WideOf<V>> expected_powers(const Csr<V, I>& matrix, const Basis& basis, int power,
                                          const std::vector<V>& x, int count) {
  using Wide = WideOf<V>;
  const auto wide = converted<Wide, I>(matrix);
  const auto offsets = matrix.row_offsets();
  const auto columns = matrix.columns();
  Array<double> absolute(matrix.values().size());
  std::ranges::transform(wide.values(), absolute.begin(), [](Wide a) { return std::abs(a); });
  const Csr<double, I> magnitudes(matrix.rows(), matrix.cols(), {offsets.begin(), offsets.end()},
                                  {columns.begin(), columns.end()}, std::move(absolute));
  ExpectedPowers<Wide> expected;
  expected.powers.resize(x.size() * power);
  expected.magnitudes.resize(x.size() * power);
  for (int v = 0; v < count; ++v) {
    const std::vector<V> start = one_of(x, v, count);
    std::vector<Wide> before, last(start.begin(), start.end());
    std::vector<double> most_before, most(start.size());
    std::ranges::transform(last, most.begin(), [](Wide a) { return std::abs(a); });
    for (int k = 1; k <= power; ++k) {
      const auto c = basis.step<V>(k);
      auto next = step_by_reference<Wide, I>(wide, {Wide(c.alpha), Wide(c.shift), Wide(c.beta)},
                                             last, before);
      auto most_next = step_by_reference<double, I>(
          magnitudes, {std::abs(c.alpha), -std::abs(c.shift), std::abs(c.beta)}, most, most_before);
      for (std::size_t i = 0; i < next.size(); ++i) {
        const std::size_t at = ((k - 1) * next.size() + i) * count + v;
        expected.powers[at] = next[i];
        expected.magnitudes[at] = most_next[i];
      }
      before = std::exchange(last, std::move(next));
      most_before = std::exchange(most, std::move(most_next));
    }
  }
  return expected;
}

template <Value V, Index I>
Offset longest_row(const Csr<V, I>& matrix) {
  Offset longest = 0;
  for (I row = 0; row < matrix.rows(); ++row) {
    longest = std::max<Offset>(longest, matrix.pattern().row_length(row));
  }
  return longest;
}

// Each of k steps adds an error of one row's sum, relative to the magnitudes.
template <Value V>
double tolerance_of_power(int k, Offset longest) {
  using Real = decltype(std::abs(V{}));
  return 4.0 * k * static_cast<double>(longest + 4) * std::numeric_limits<Real>::epsilon();
}

// What a plan gives for x in the caller's order, in whichever order it works.
template <Value V, Index I>
std::vector<V> powers_of(const PowerPlan<V, I>& plan, VectorOrder order, const std::vector<V>& x) {
  auto workspace = plan.make_workspace();
  std::vector<V> powers(x.size() * plan.power(), V(std::numeric_limits<float>::quiet_NaN()));
  if (order == VectorOrder::caller) {
    plan.apply(x, powers, workspace);
    return powers;
  }
  const auto each = static_cast<std::size_t>(plan.padded_rows()) * plan.vectors();
  std::vector<V> start(each);
  std::vector<V> in_order(each * plan.power(), V(std::numeric_limits<float>::quiet_NaN()));
  plan.to_plan_order(x, start);
  plan.apply(start, in_order, workspace);
  for (int k = 0; k < plan.power(); ++k) {
    const auto one = std::span<V>(in_order).subspan(k * each, each);
    const auto back = std::span<V>(powers).subspan(k * x.size(), x.size());
    plan.to_caller_order(one, back);
    // Padded rows stay zero: there and back gives the same.
    std::vector<V> again(each);
    plan.to_plan_order(back, again);
    EXPECT_TRUE(std::ranges::equal(again, one)) << "power " << k + 1;
  }
  return powers;
}

template <Value V, Index I>
std::vector<V> last_power_of(const PowerPlan<V, I>& plan, VectorOrder order,
                             const std::vector<V>& x) {
  auto workspace = plan.make_workspace_for_last();
  std::vector<V> last(x.size(), V(std::numeric_limits<float>::quiet_NaN()));
  if (order == VectorOrder::caller) {
    plan.apply_last(x, last, workspace);
    return last;
  }
  std::vector<V> start(static_cast<std::size_t>(plan.padded_rows()) * plan.vectors());
  std::vector<V> in_order(start.size(), V(std::numeric_limits<float>::quiet_NaN()));
  plan.to_plan_order(x, start);
  plan.apply_last(start, in_order, workspace);
  plan.to_caller_order(in_order, last);
  return last;
}

template <Value V>
void expect_close(const std::vector<V>& powers, const ExpectedPowers<WideOf<V>>& expected,
                  int power, Offset longest) {
  const std::size_t each = powers.size() / power;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    const int k = each == 0 ? 1 : static_cast<int>(i / each) + 1;
    const double tolerance = tolerance_of_power<V>(k, longest) * expected.magnitudes[i];
    ASSERT_LE(std::abs(WideOf<V>(powers[i]) - expected.powers[i]), tolerance)
        << "element " << i % each << " of power " << k;
  }
}

// Compares apply of a plan with the reference, and apply_last with apply, bit by bit. Returns the
// powers.
template <Value V, Index I>
std::vector<V> expect_powers_of(const PowerPlan<V, I>& plan, const Csr<V, I>& matrix,
                                const PowerOptions& options) {
  SCOPED_TRACE(plan.explain());
  EXPECT_EQ(plan.rows(), matrix.rows());
  const auto x = random_vector<V>(static_cast<std::size_t>(matrix.rows()) * options.vectors, 1);
  const std::vector<V> powers = powers_of(plan, options.vector_order, x);
  expect_close(powers, expected_powers(matrix, options.basis, options.power, x, options.vectors),
               options.power, longest_row(matrix));
  const std::vector<V> last = last_power_of(plan, options.vector_order, x);
  EXPECT_TRUE(std::ranges::equal(last, std::span<const V>(powers).last(x.size())));
  return powers;
}

// The same for a plan with these options.
template <Value V, Index I>
std::vector<V> expect_powers(const Csr<V, I>& matrix, const PowerOptions& options) {
  return expect_powers_of(plan_powers(matrix, options), matrix, options);
}

// Any basis, for matrices whose numbers are about 1.
inline Basis basis_number(int number) {
  switch (number % 5) {
    case 1: return Basis::scaled(3);
    case 2: return Basis::newton({0.5, -1.0, 2.0, 0.25, 1.5, -0.5, 3.0, 1.0, -2.0}, 2);
    case 3:
      return Basis::newton({{0.5, 1},
                            {0.5, -1},
                            {-1, 0},
                            {0, -2},
                            {0, 2},
                            {1, 0.25},
                            {1, -0.25},
                            {2, 0},
                            {0, 1},
                            {0, -1}});
    case 4: return Basis::chebyshev(-4, 4);
    default: return Basis::monomial();
  }
}

}  // namespace strata::test

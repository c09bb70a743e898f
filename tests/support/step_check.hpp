// What one step of a recurrence, α (A − θI) x + β previous, has to give: the reference product and
// plain arithmetic. Backends differ in how they run the step: run(coefficients, vectors, rows).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "strata/kernels/cpu/arithmetic.hpp"
#include "strata/kernels/cpu/step.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "tests/support/format_check.hpp"

namespace strata::test {

template <Value V>
V not_a_number() {
  return V(std::numeric_limits<decltype(std::abs(V{}))>::quiet_NaN());
}

// By the reference kernel, vector by vector.
template <Value V, Index I>
std::vector<V> expected_step(const Csr<V, I>& csr, const cpu::StepCoefficients<V>& coefficients,
                             const std::vector<V>& x, const std::vector<V>& previous, int count) {
  std::vector<V> out(static_cast<std::size_t>(csr.rows()) * count);
  for (int v = 0; v < count; ++v) {
    std::vector<V> one_x(csr.cols());
    std::vector<V> one_out(csr.rows());
    for (I i = 0; i < csr.cols(); ++i) one_x[i] = x[static_cast<std::size_t>(i) * count + v];
    reference::spmv(csr, V{1}, one_x, V{}, one_out);
    for (I i = 0; i < csr.rows(); ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * count + v;
      V sum = one_out[i];
      if (coefficients.shift != V{}) sum -= coefficients.shift * one_x[i];
      out[at] = coefficients.alpha * sum;
      if (coefficients.beta != V{}) out[at] += coefficients.beta * previous[at];
    }
  }
  return out;
}

// A step on vectors full of random numbers, and what it has to give: for any number of matrices
// that are the same one.
template <Value V, Index I>
class StepCase {
 public:
  // The matrix has to outlive it.
  StepCase(const Csr<V, I>& csr, const cpu::StepCoefficients<V>& coefficients, int count)
      : csr_(&csr),
        coefficients_(coefficients),
        count_(count),
        x_(random_vector<V>(elements(csr.cols()), 1)),
        previous_(random_vector<V>(elements(csr.rows()), 2)),
        untouched_(previous_),
        expected_(expected_step(csr, coefficients, x_, previous_, count)) {
    if (coefficients.beta == V{}) std::ranges::fill(previous_, not_a_number<V>());
  }

  // On these rows: right inside the range, and nothing touched outside.
  template <class Run>
  void expect(RowRange<I> rows, const Run& run) const {
    std::vector<V> previous = previous_;
    std::vector<V> out = untouched_;
    run(coefficients_, cpu::StepVectors<V>{x_.data(), previous.data(), out.data(), count_}, rows);
    for (I row = 0; row < csr_->rows(); ++row) {
      const Offset terms = csr_->row_offsets()[row + 1] - csr_->row_offsets()[row];
      const auto bound = 4 * tolerance<V>(terms + 2);
      for (std::size_t i = elements(row); i < elements(row + 1); ++i) {
        if (rows.contains(row)) {
          ASSERT_LE(std::abs(out[i] - expected_[i]), bound) << "row " << row;
        } else {
          ASSERT_EQ(out[i], untouched_[i]) << "row " << row << " is outside the range";
        }
      }
    }
  }

 private:
  std::size_t elements(I n) const { return static_cast<std::size_t>(n) * count_; }

  const Csr<V, I>* csr_;
  cpu::StepCoefficients<V> coefficients_;
  int count_;
  std::vector<V> x_;
  std::vector<V> previous_;  // not a number where it must not be read
  std::vector<V> untouched_;
  std::vector<V> expected_;
};

template <Value V, Index I, class Run>
void expect_step(const Csr<V, I>& csr, const cpu::StepCoefficients<V>& coefficients, int count,
                 RowRange<I> rows, const Run& run) {
  StepCase<V, I>(csr, coefficients, count).expect(rows, run);
}

// About the second third of the rows, where a range may begin and end on multiples of `alignment`.
template <Index I>
RowRange<I> middle_rows(I rows, I alignment) {
  const I begin = rows / 3 / alignment * alignment;
  const I end = rows - rows / 4 < alignment ? rows : (rows - rows / 4) / alignment * alignment;
  return {begin, std::max(begin, end)};
}

// Row 3 of a tridiagonal matrix has no right neighbour: a hole in its dia slice.
template <Value V, Index I>
Csr<V, I> tridiagonal_with_a_hole(I rows) {
  Entries<V, I> entries(rows, rows, 7);
  for (I row = 0; row < rows; ++row) {
    if (row > 0) entries.add(row, row - 1);
    entries.add(row, row);
    if (row + 1 < rows && row != 3) entries.add(row, row + 1);
  }
  return entries.coo().to_csr();
}

// With NaN in x[4], or another number that is not finite, run(coefficients, vectors, rows) gives
// numbers that are not finite in the rows that have an entry there and in no other.
template <Value V, Index I, class Run>
void expect_holes_let_nothing_through(const Csr<V, I>& csr, int count, const Run& run,
                                      V number = not_a_number<V>()) {
  std::vector<V> x = random_vector<V>(static_cast<std::size_t>(csr.cols()) * count, 1);
  for (int v = 0; v < count; ++v) x[4 * count + v] = number;
  const std::vector<V> expected = expected_step<V, I>(csr, {}, x, {}, count);
  std::vector<V> out(static_cast<std::size_t>(csr.rows()) * count);
  run({}, cpu::StepVectors<V>{x.data(), nullptr, out.data(), count}, csr.all_rows());
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(cpu::is_finite(out[i]), cpu::is_finite(expected[i])) << "element " << i;
  }
  EXPECT_FALSE(cpu::is_finite(expected[4 * count]));
  EXPECT_TRUE(cpu::is_finite(expected[3 * count]));
}

}  // namespace strata::test

// The steps that every kernel on a GPU has to get right, emulated or not. Kernels are many (value
// types, warps, heights, encodings) and emulating takes time, so each matrix brings other
// coefficients and another number of vectors to all of them.
#pragma once

#include <vector>

#include "tests/support/step_check.hpp"

namespace strata::test {

using Index32 = std::int32_t;

// Cases `number`, of which 35 are all there are.
template <Value V, class Run>
void expect_gpu_steps(const Csr<V, Index32>& csr, Index32 alignment, std::size_t number,
                      const Run& run) {
  const V half = V(0.5f);
  std::vector<cpu::StepCoefficients<V>> coefficients{
      {}, {.alpha = -half, .beta = V(2.0f)}, {.beta = half}};
  if (csr.rows() == csr.cols()) {
    coefficients.push_back({.alpha = half, .shift = V(0.75f)});
    coefficients.push_back({.alpha = V(2.0f), .shift = -half, .beta = V(-1.0f)});
  }
  const auto expect = [&](std::size_t some, int count, RowRange<Index32> rows) {
    SCOPED_TRACE(testing::Message() << count << " vectors");
    expect_step(csr, coefficients[some % coefficients.size()], count, rows, run);
  };
  const RowRange<Index32> middle = middle_rows(csr.rows(), alignment);
  expect(number, 1, csr.all_rows());
  expect(number + 2, 1, middle);
  expect(number + 1, 2 + static_cast<int>(number % 7), number % 2 == 0 ? csr.all_rows() : middle);
}

// A step that is always on all rows, as one that begins and ends on multiples of this.
template <Value V>
Index32 whole(const Csr<V, Index32>& csr) {
  return std::max<Index32>(1, csr.rows());
}

// Every awkward matrix on all rows; `make(csr)` returns how to run a step of it.
template <Value V, class Make>
void expect_whole_gpu_steps_on_all(const Make& make) {
  std::size_t number = 0;
  for (const auto& [name, entries] : awkward_matrices<V, Index32>()) {
    SCOPED_TRACE(name);
    const Csr<V, Index32> csr = entries.to_csr();
    expect_gpu_steps(csr, whole(csr), number++, make(csr));
  }
}

// Every awkward matrix; `make(csr)` returns how to run a step of it.
template <Value V, class Make>
void expect_gpu_steps_on_all(Index32 alignment, const Make& make) {
  std::size_t number = 0;
  for (const auto& [name, entries] : awkward_matrices<V, Index32>()) {
    SCOPED_TRACE(name);
    const Csr<V, Index32> csr = entries.to_csr();
    expect_gpu_steps(csr, alignment, number++, make(csr));
  }
}

// Rows of very different lengths: one of 6000 entries (or so many), some of hundreds, a long run of
// empty ones, and short ones.
template <Value V>
Csr<V, Index32> uneven_rows(Index32 longest) {
  constexpr Index32 rows = 1500;
  Entries<V, Index32> entries(rows, longest, 11);
  const Random random(12);
  for (Index32 row = 0; row < rows; ++row) {
    Index32 length = static_cast<Index32>(random.below(row, 9));
    if (row % 97 == 3) length = 40 * (row % 7 + 1);
    if (row >= 400 && row < 1000) length = 0;
    if (row == 5 || row == 700) length = longest;
    if (row == 1499) length = longest / 2;
    for (Index32 k = 0; k < length; ++k) {
      entries.add(row, (row + static_cast<Offset>(k) * longest / length) % longest);
    }
  }
  return entries.coo().to_csr();
}

}  // namespace strata::test

// The CPU kernels against the reference kernels: every format, encoding, slice height, number of
// vectors, coefficient and row range, on every awkward matrix.
#include <gtest/gtest.h>

#include <limits>

#include "strata/kernels/cpu/step.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::random_vector;

template <class Types>
class CpuStep : public testing::Test {};
TYPED_TEST_SUITE(CpuStep, test::AllTypes);

template <Value V>
V not_a_number() {
  return V(std::numeric_limits<decltype(std::abs(V{}))>::quiet_NaN());
}

// α (A − θI) x + β previous by the reference kernel, vector by vector.
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

template <class Matrix, Value V, Index I>
void expect_step(const Matrix& matrix, const Csr<V, I>& csr,
                 const cpu::StepCoefficients<V>& coefficients, int count, RowRange<I> rows) {
  const auto elements = [&](I n) { return static_cast<std::size_t>(n) * count; };
  const std::vector<V> x = random_vector<V>(elements(csr.cols()), 1);
  std::vector<V> previous = random_vector<V>(elements(csr.rows()), 2);
  const std::vector<V> expected = expected_step(csr, coefficients, x, previous, count);
  const std::vector<V> untouched = previous;
  if (coefficients.beta == V{}) std::ranges::fill(previous, not_a_number<V>());
  std::vector<V> out = untouched;
  cpu::step(matrix, coefficients, {x.data(), previous.data(), out.data(), count}, rows);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto row = static_cast<I>(i / static_cast<std::size_t>(count));
    if (rows.contains(row)) {
      const Offset terms = csr.row_offsets()[row + 1] - csr.row_offsets()[row];
      ASSERT_LE(std::abs(out[i] - expected[i]), 4 * test::tolerance<V>(terms + 2)) << "row " << row;
    } else {
      ASSERT_EQ(out[i], untouched[i]) << "row " << row << " is outside the range";
    }
  }
}

// A third and the last row, moved to where the format allows a range to end.
template <class Matrix, Value V, Index I>
void expect_steps(const Matrix& matrix, const Csr<V, I>& csr) {
  const I n = csr.rows();
  const I alignment = cpu::row_alignment(matrix);
  const RowRange<I> all{0, n};
  const RowRange<I> middle{
      std::min<I>(n, n / 3 / alignment * alignment),
      static_cast<I>(n - n / 4 < alignment ? n : (n - n / 4) / alignment * alignment)};
  const V half = V(0.5f);
  for (const int count : {1, 2, 3, 4, 5, 8}) {
    SCOPED_TRACE(testing::Message() << count << " vectors");
    expect_step(matrix, csr, {}, count, all);
    expect_step(matrix, csr, {.alpha = -half, .beta = V(2.0f)}, count, all);
    if (middle.begin <= middle.end) expect_step(matrix, csr, {.beta = half}, count, middle);
    if (n == csr.cols()) {
      expect_step(matrix, csr, {.alpha = half, .shift = V(0.75f)}, count, all);
      expect_step(matrix, csr, {.alpha = V(2.0f), .shift = -half, .beta = V(-1.0f)}, count, all);
    }
  }
}

template <Value V, Index I, class Build>
void expect_steps_on_all(Build&& build) {
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    expect_steps(build(csr), csr);
  }
}

TYPED_TEST(CpuStep, CsrAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  expect_steps_on_all<V, I>([](const Csr<V, I>& csr) { return csr; });
}

TYPED_TEST(CpuStep, SellAgreesWithTheReferenceForAnyHeightAndWindow) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [height, window] :
       {std::pair<Offset, Offset>{1, 1}, {4, 1}, {8, 16}, {5, 1}, {16, 1}, {32, 64}}) {
    SCOPED_TRACE(testing::Message() << "C = " << height << ", sigma = " << window);
    expect_steps_on_all<V, I>([&](const Csr<V, I>& csr) {
      return Sell<V, I>::from_csr(csr,
                                  {.slice_height = height, .sort_window = window, .max_fill = 1e9});
    });
  }
}

TYPED_TEST(CpuStep, PackedSellAgreesWithTheReferenceInEveryEncoding) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  // index32 stays allowed, for it is the only one that fits everything.
  const AllowedEncodings all;
  const AllowedEncodings no_dia{.dia = false};
  const AllowedEncodings wide{.dia = false, .delta8 = false};
  const AllowedEncodings plain{.dia = false, .delta8 = false, .delta16 = false};
  for (const Offset height : {4, 8, 16, 32}) {
    for (const AllowedEncodings& allowed : {all, no_dia, wide, plain}) {
      SCOPED_TRACE(testing::Message() << "C = " << height);
      expect_steps_on_all<V, I>([&](const Csr<V, I>& csr) {
        return PackedSell<V, I>::from_csr(
            csr, {.slice_height = height, .sort_window = 1, .max_fill = 1e9, .allowed = allowed});
      });
    }
  }
  expect_steps_on_all<V, I>([&](const Csr<V, I>& csr) {
    return PackedSell<V, I>::from_csr(csr, {.slice_height = 8, .sort_window = 24, .max_fill = 1e9});
  });
}

// Row 3 of a tridiagonal matrix has no right neighbour: a hole in its dia slice, where x is NaN.
TYPED_TEST(CpuStep, HolesNeverLetAnythingThrough) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  constexpr I n = 32;
  test::Entries<V, I> entries(n, n, 7);
  for (I row = 0; row < n; ++row) {
    if (row > 0) entries.add(row, row - 1);
    entries.add(row, row);
    if (row + 1 < n && row != 3) entries.add(row, row + 1);
  }
  const Csr<V, I> csr = entries.coo().to_csr();
  for (const int count : {1, 3}) {
    std::vector<V> x = random_vector<V>(static_cast<std::size_t>(n) * count, 1);
    for (int v = 0; v < count; ++v) x[4 * count + v] = not_a_number<V>();
    const std::vector<V> expected = expected_step<V, I>(csr, {}, x, {}, count);
    const auto expect_same = [&](const auto& matrix) {
      std::vector<V> out(x.size());
      cpu::step(matrix, {}, {x.data(), nullptr, out.data(), count}, {0, n});
      for (std::size_t i = 0; i < out.size(); ++i) {
        EXPECT_EQ(out[i] == out[i], expected[i] == expected[i]) << "element " << i;
      }
    };
    expect_same(csr);
    expect_same(Sell<V, I>::from_csr(csr, {.slice_height = 8}));
    expect_same(PackedSell<V, I>::from_csr(csr, {.slice_height = 8}));
    EXPECT_NE(expected[4 * count], expected[4 * count]);
    EXPECT_EQ(expected[3 * count], expected[3 * count]);
  }
}

TEST(CpuKernels, MoreThanEightVectorsAreRefused) {
  const Csr<double, std::int32_t> matrix;
  EXPECT_THROW(cpu::step(matrix, {}, {nullptr, nullptr, nullptr, 9}, {0, 0}), InvalidArgument);
  EXPECT_THROW(cpu::step(matrix, {}, {nullptr, nullptr, nullptr, 0}, {0, 0}), InvalidArgument);
}

// The order in which a row is summed does not depend on the range it is computed in.
TYPED_TEST(CpuStep, AnySplitOfTheRowsGivesTheSameBits) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    const auto packed = PackedSell<V, I>::from_csr(csr, {.slice_height = 4, .max_fill = 1e9});
    const std::vector<V> x = random_vector<V>(csr.cols(), 1);
    std::vector<V> whole(csr.rows());
    std::vector<V> pieces(csr.rows());
    cpu::step(packed, {}, {x.data(), nullptr, whole.data(), 1}, packed.all_rows());
    for (I row = 0; row < csr.rows(); row += 4) {
      cpu::step(packed, {}, {x.data(), nullptr, pieces.data(), 1},
                {row, std::min<I>(row + 4, csr.rows())});
    }
    EXPECT_EQ(whole, pieces);
  }
}

}  // namespace
}  // namespace strata

// The CPU kernels against the reference kernels: every format, encoding, slice height, number of
// vectors, coefficient and row range, on every awkward matrix, at every level of instructions that
// this machine has.
#include <gtest/gtest.h>

#include "strata/kernels/cpu/levels.hpp"
#include "strata/kernels/cpu/step.hpp"
#include "tests/support/step_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::random_vector;

template <class Types>
class CpuStep : public testing::Test {};
TYPED_TEST_SUITE(CpuStep, test::AllTypes);

// How the CPU runs a step.
template <class Matrix>
auto on_cpu(const Matrix& matrix) {
  using V = typename Matrix::value_type;
  using I = typename Matrix::index_type;
  return [&matrix](const cpu::StepCoefficients<V>& coefficients, const cpu::StepVectors<V>& vectors,
                   RowRange<I> rows) { cpu::step(matrix, coefficients, vectors, rows); };
}

// body() at each level.
template <class Body>
void at_every_level(const Body& body) {
  for (const cpu::Level level : cpu::available_levels()) {
    SCOPED_TRACE(cpu::name_of(level));
    const cpu::LevelScope scope(level);
    body();
  }
}

template <class Matrix, Value V, Index I>
void expect_steps(const Matrix& matrix, const Csr<V, I>& csr) {
  const RowRange<I> all = csr.all_rows();
  const RowRange<I> middle = test::middle_rows(csr.rows(), cpu::row_alignment(matrix));
  const V half = V(0.5f);
  for (const int count : {1, 2, 3, 4, 5, 8}) {
    SCOPED_TRACE(testing::Message() << count << " vectors");
    const auto expect = [&](const cpu::StepCoefficients<V>& coefficients, RowRange<I> rows) {
      test::expect_step(csr, coefficients, count, rows, on_cpu(matrix));
    };
    expect({}, all);
    expect({.alpha = -half, .beta = V(2.0f)}, all);
    expect({.beta = half}, middle);
    if (csr.rows() == csr.cols()) {
      expect({.alpha = half, .shift = V(0.75f)}, all);
      expect({.alpha = V(2.0f), .shift = -half, .beta = V(-1.0f)}, all);
    }
  }
}

template <Value V, Index I, class Build>
void expect_steps_on_all(Build&& build) {
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    const auto matrix = build(csr);
    at_every_level([&] { expect_steps(matrix, csr); });
  }
}

TYPED_TEST(CpuStep, CsrAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  expect_steps_on_all<V, I>([](const Csr<V, I>& csr) { return csr; });
}

TYPED_TEST(CpuStep, CooInBlocksAgreesWithTheReferenceForAnySize) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [rows, cols] :
       {std::pair<Offset, Offset>{1, 1}, {3, 5}, {16, 4}, {65536, 65536}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    expect_steps_on_all<V, I>([&](const Csr<V, I>& csr) {
      return BlockedCoo<V, I>::from_csr(csr, {.block_rows = rows, .block_cols = cols});
    });
  }
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

TYPED_TEST(CpuStep, HolesNeverLetAnythingThrough) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const Csr<V, I> csr = test::tridiagonal_with_a_hole<V, I>(32);
  for (const int count : {1, 3}) {
    const auto expect = [&](const auto& matrix) {
      at_every_level([&] { test::expect_holes_let_nothing_through(csr, count, on_cpu(matrix)); });
    };
    expect(csr);
    expect(Sell<V, I>::from_csr(csr, {.slice_height = 8}));
    expect(PackedSell<V, I>::from_csr(csr, {.slice_height = 8}));
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

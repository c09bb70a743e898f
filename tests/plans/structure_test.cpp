// What a few rows show of a matrix.
#include "strata/plans/internal/structure.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <string>

#include "strata/gen/generate.hpp"
#include "tests/plans/support.hpp"

namespace strata {
namespace {

using I = std::int32_t;
using Matrix = Csr<double, I>;

Matrix matrix_of(const std::string& spec) {
  return generate<double, I>(spec);
}

TEST(Structure, PlansOfRandomGraphsSearchForNoLevels) {
  const Matrix matrix = matrix_of("random:150000,nnzr=8");
  PowerOptions options = test::quick_options();
  options.power = 2;
  const auto plan = plan_powers(matrix, options);
  EXPECT_TRUE(plan.choice().plain());
  EXPECT_EQ(plan.levels(), 0);
  EXPECT_EQ(plan.record().plain_reason, PlainReason::fast_expansion);
  EXPECT_NE(plan.explain().find("random graph"), std::string::npos) << plan.explain();
  // Where a sweep is demanded it needs levels.
  options.strategy = PowerStrategy::wavefront;
  EXPECT_GT(plan_powers(matrix, options).levels(), 0);
}

TEST(Structure, SymmetryIsOfPatternAndValues) {
  EXPECT_TRUE(detail::looks_symmetric(matrix_of("stencil7:20x20x20")));
  EXPECT_FALSE(detail::looks_symmetric(matrix_of("random:3000,nnzr=5")));
  Matrix values = matrix_of("stencil7:20x20x20");
  for (Offset k = 0; k < values.nnz(); ++k) {
    values.mutable_values()[k] = static_cast<double>(k);
  }
  EXPECT_FALSE(detail::looks_symmetric(values));
  // Of complex numbers any symmetry will do.
  using Complex = std::complex<double>;
  const Csr<Complex, I> hermitian(2, 2, {0, 2, 4}, {0, 1, 0, 1},
                                  {1.0, Complex(0, 1), Complex(0, -1), 1.0});
  EXPECT_TRUE(detail::looks_symmetric(hermitian));
}

TEST(Structure, BlocksOfUnknownsHaveNoFill) {
  const Matrix blocks = matrix_of("stencil27:9x9x9,dof=3");
  EXPECT_DOUBLE_EQ(detail::sampled_fill(blocks.pattern(), 3), 1);
  EXPECT_GT(detail::sampled_fill(blocks.pattern(), 2), 1.2);
  EXPECT_GT(detail::sampled_fill(matrix_of("stencil5:60x60").pattern(), 2), 1.5);
  EXPECT_DOUBLE_EQ(detail::sampled_fill(Matrix().pattern(), 2), 1);
}

TEST(Structure, SomeRowsHaveTheDiagonalsOfAll) {
  EXPECT_EQ(detail::diagonals_seen(matrix_of("stencil27:30x30x30").pattern()), 27);
  EXPECT_EQ(detail::diagonals_seen(matrix_of("band:5000,width=9").pattern()), 9);
  EXPECT_GT(detail::diagonals_seen(matrix_of("random:5000,nnzr=9").pattern()), 300);
}

TEST(Structure, LongRowsAreManyTimesTheMean) {
  EXPECT_TRUE(detail::has_long_rows(matrix_of("arrow:5000").pattern()));
  EXPECT_FALSE(detail::has_long_rows(matrix_of("stencil27:9x9x9").pattern()));
  EXPECT_FALSE(detail::has_long_rows(Matrix().pattern()));
}

}  // namespace
}  // namespace strata

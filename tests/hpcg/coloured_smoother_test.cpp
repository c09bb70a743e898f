#include "strata/hpcg/coloured_smoother.hpp"

#include <cmath>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/formats/loaded_columns.hpp"
#include "strata/gen/generate.hpp"
#include "strata/hpcg/levels.hpp"
#include "strata/hpcg/multigrid.hpp"
#include "strata/hpcg/reference.hpp"

namespace strata::hpcg {
namespace {

using Vector = std::vector<double>;

Vector random_vector(std::size_t size, std::uint64_t stream) {
  const Random random(7, stream);
  Vector numbers(size);
  for (std::size_t i = 0; i < size; ++i) numbers[i] = random.uniform(i, -1, 1);
  return numbers;
}

// The operator with values of its own for every link, so that no two rows are alike.
Matrix uneven(const Grid& grid) {
  return generate<double, Row>(
      fmt::format("hpcg:{}x{}x{},coefficients=random", grid.nx, grid.ny, grid.nz));
}

// Rows by colour, and within one by number.
std::vector<Row> coloured_order(const std::vector<std::uint8_t>& colours) {
  std::vector<Row> rows;
  for (int colour = 0; colour < kColours; ++colour) {
    for (std::size_t row = 0; row < colours.size(); ++row) {
      if (colours[row] == colour) rows.push_back(static_cast<Row>(row));
    }
  }
  return rows;
}

struct Sweep {
  Vector from_zero;
  Vector from_guess;
  Vector residual;  // D⁻¹(b − A·guess), by colour in turn
};

// In the order of the rows.
Sweep sweep(const ColouredSmoother& smoother, const Vector& b, const Vector& guess) {
  const auto rows = static_cast<std::size_t>(smoother.rows());
  Vector scaled(rows), x(rows), scratch(rows, NAN), residual(rows);
  smoother.order().gather<double>(b, scaled, 1);
  for (std::size_t i = 0; i < rows; ++i) scaled[i] /= smoother.diagonal()[i];
  Sweep result{Vector(b.size()), Vector(b.size()), Vector(b.size())};

  smoother.order().gather<double>(guess, x, 1);
  for (int colour = 0; colour < smoother.colours(); ++colour) {
    smoother.residual(colour, scaled, x, residual);
  }
  smoother.order().scatter<double>(residual, result.residual, 1);
  smoother.smooth(scaled, x, scratch);
  smoother.order().scatter<double>(x, result.from_guess, 1);
  std::fill(x.begin(), x.end(), NAN);
  smoother.smooth_from_zero(scaled, x);
  smoother.order().scatter<double>(x, result.from_zero, 1);
  return result;
}

class SmootherOnGrid : public testing::TestWithParam<Grid> {};
INSTANTIATE_TEST_SUITE_P(All, SmootherOnGrid,
                         testing::Values(Grid({3, 3, 3}), Grid({8, 8, 8}), Grid({5, 7, 4}),
                                         Grid({17, 3, 6}), Grid({16, 24, 16}), Grid({33, 20, 9})));

TEST_P(SmootherOnGrid, DoesWhatSequentialGaussSeidelDoesInTheOrderOfTheColours) {
  const Matrix matrix = uneven(GetParam());
  const auto colours = colours_of(GetParam());
  const std::vector<Row> order = coloured_order(colours);
  const Vector b = random_vector(colours.size(), 1), guess = random_vector(colours.size(), 2);
  Vector from_zero(b.size(), 0.0), from_guess = guess;
  gauss_seidel(matrix, order, b, from_zero);
  gauss_seidel(matrix, order, b, from_guess);
  for (const Offset height : {4, 8, 16, 32}) {
    for (const StoredValues values : {StoredValues::full, StoredValues::all}) {
      const ColouredSmoother smoother(matrix, colours, kColours,
                                      {.values = values, .slice_height = height});
      const Sweep found = sweep(smoother, b, guess);
      for (std::size_t i = 0; i < b.size(); ++i) {
        ASSERT_NEAR(found.from_zero[i], from_zero[i], 1e-14) << i;
        ASSERT_NEAR(found.from_guess[i], from_guess[i], 1e-14) << i;
      }
    }
  }
}

TEST_P(SmootherOnGrid, ComputesResidualsColourByColour) {
  const Matrix matrix = uneven(GetParam());
  const auto colours = colours_of(GetParam());
  const Vector b = random_vector(colours.size(), 1), guess = random_vector(colours.size(), 2);
  const ColouredSmoother smoother(matrix, colours, kColours);
  const Sweep found = sweep(smoother, b, guess);
  for (Row row = 0; row < matrix.rows(); ++row) {
    const auto i = static_cast<std::size_t>(row);
    double sum = b[i], diagonal = 0;
    for (Offset k = matrix.row_offsets()[i]; k < matrix.row_offsets()[i + 1]; ++k) {
      const auto column = static_cast<std::size_t>(matrix.columns()[k]);
      sum -= matrix.values()[k] * guess[column];
      if (column == i) diagonal = matrix.values()[k];
    }
    ASSERT_NEAR(found.residual[i], sum / diagonal, 1e-14) << i;
  }
}

// Holes and padding included: otherwise one thread would read what another writes.
TEST_P(SmootherOnGrid, LoadsFromOtherColoursAlone) {
  const Matrix matrix = generate<double, Row>(
      fmt::format("hpcg:{}x{}x{}", GetParam().nx, GetParam().ny, GetParam().nz));
  for (const Offset height : {4, 32}) {
    const ColouredSmoother smoother(matrix, colours_of(GetParam()), kColours,
                                    {.slice_height = height});
    for (int colour = 0; colour < kColours; ++colour) {
      const RowRange<Row> own = smoother.rows_of(colour);
      LoadedColumns<Row>(smoother.lower()).for_each(own, [&](RowRange<Row> columns) {
        ASSERT_LE(columns.end, own.begin) << colour;
      });
      LoadedColumns<Row>(smoother.upper()).for_each(own, [&](RowRange<Row> columns) {
        ASSERT_GE(columns.begin, own.end) << colour;
      });
    }
  }
}

TEST(Smoother, HasTheSameBitsForAnyNumberOfThreads) {
  const Grid grid({32, 24, 40});
  const Matrix matrix = uneven(grid);
  const auto colours = colours_of(grid);
  const Vector b = random_vector(colours.size(), 1), guess = random_vector(colours.size(), 2);
  const ColouredSmoother smoother(matrix, colours, kColours);
  Sweep expected;
  for (const int threads : {1, 2, 3, 4, 7}) {
    const ThreadCountScope scope(threads);
    const Sweep found = sweep(smoother, b, guess);
    if (threads == 1) expected = found;
    EXPECT_EQ(found.from_zero, expected.from_zero) << threads;
    EXPECT_EQ(found.from_guess, expected.from_guess) << threads;
    EXPECT_EQ(found.residual, expected.residual) << threads;
  }
}

TEST(Smoother, SolvesWithoutAResidualWhatItHasAsTheSolution) {
  const Grid grid({6, 6, 6});
  const Matrix matrix = generate<double, Row>("hpcg:6x6x6");
  Vector b;  // of the solution 1
  for (Row row = 0; row < matrix.rows(); ++row) {
    b.push_back(27.0 - static_cast<double>(matrix.pattern().columns_of(row).size()));
  }
  const Sweep found =
      sweep(ColouredSmoother(matrix, colours_of(grid), kColours), b, Vector(b.size(), 1.0));
  for (const double value : found.from_guess) EXPECT_NEAR(value, 1, 1e-15);
  for (const double value : found.residual) EXPECT_NEAR(value, 0, 1e-15);
}

TEST(Smoother, CountsTheBytesThatItsPassesRead) {
  const Grid grid({16, 16, 16});
  const Matrix matrix = generate<double, Row>("hpcg:16x16x16");
  const ColouredSmoother smoother(matrix, colours_of(grid), kColours);
  EXPECT_EQ(smoother.entries(), matrix.nnz() - matrix.rows());
  Offset lower = 0, upper = 0;
  for (int colour = 0; colour < kColours; ++colour) {
    lower += smoother.lower_bytes(colour);
    upper += smoother.upper_bytes(colour);
  }
  EXPECT_EQ(lower, smoother.lower_bytes());
  EXPECT_EQ(upper, smoother.upper_bytes());
  EXPECT_GE(lower + upper, 8 * smoother.entries());
  EXPECT_LT(lower + upper, 12 * smoother.entries());
  EXPECT_LT(smoother.lower_bytes(0), smoother.lower_bytes(7) / 4) << "it has no earlier colours";
}

TEST(Smoother, RefusesColoursThatDoNotSeparateRows) {
  const Matrix matrix = generate<double, Row>("hpcg:4x4x4");
  std::vector<std::uint8_t> colours = colours_of(Grid({4, 4, 4}));
  EXPECT_THROW(ColouredSmoother(matrix, colours, 7), InvalidArgument) << "one colour too few";
  colours.pop_back();
  EXPECT_THROW(ColouredSmoother(matrix, colours, 8), InvalidArgument);
  EXPECT_THROW(ColouredSmoother(matrix, std::vector<std::uint8_t>(64, 0), 8), InvalidArgument);
}

TEST(Smoother, RefusesRowsWithoutADiagonal) {
  const Matrix matrix(2, 2, {0, 1, 2}, {1, 0}, {1.0, 1.0});
  const std::vector<std::uint8_t> colours{0, 1};
  EXPECT_THROW(ColouredSmoother(matrix, colours, 2), InvalidArgument);
  Vector b(2), x(2);
  const std::vector<Row> rows{0, 1};
  EXPECT_THROW(gauss_seidel(matrix, rows, b, x), InvalidArgument);
}

}  // namespace
}  // namespace strata::hpcg

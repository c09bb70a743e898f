#include "strata/fem/local_matrices.hpp"

#include <algorithm>
#include <cmath>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::fem {
namespace {

using Vector = std::vector<double>;

Vector random_vector(Offset size) {
  const Random random(11);
  Vector numbers(size);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = random.uniform(i, -1, 1);
  return numbers;
}

Field kappa() {
  return manufactured_diffusion().diffusivity;
}

class LocalMatricesOfDegree : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, LocalMatricesOfDegree, testing::Values(1, 2, 3, 4));

TEST_P(LocalMatricesOfDegree, MultiplyAsTheAssembledMatrixDoes) {
  for (const auto& [nx, ny] : {std::pair<Offset, Offset>{2, 2},
                               {1, 1},
                               {1, 5},
                               {7, 1},
                               {5, 3},
                               {8, 8},
                               {17, 16},
                               {31, 9}}) {
    const QuadMesh mesh{.nx = nx, .ny = ny, .degree = GetParam()};
    if (mesh.unknowns() == 0) continue;
    const Matrix matrix = assembled(LocalMatrices(mesh, kappa()));
    const Vector x = random_vector(mesh.unknowns());
    Vector expected(x.size());
    reference::spmv(matrix, 1.0, x, 0.0, expected);
    for (const bool symmetric : {false, true}) {
      for (const Offset block : {0, 8, 24}) {
        const LocalMatrices local(mesh, kappa(), {.symmetric = symmetric, .block = block});
        Vector y(x.size(), NAN);
        local.multiply(x, y);
        for (std::size_t i = 0; i < y.size(); ++i) {
          ASSERT_NEAR(y[i], expected[i], 1e-13)
              << nx << 'x' << ny << ", block " << block << ", row " << i;
        }
      }
    }
  }
}

TEST_P(LocalMatricesOfDegree, AssembleToTheMatrixOfTheGenerator) {
  const int degree = GetParam();
  for (const Offset count : {2, 3, 6}) {
    const QuadMesh mesh{.nx = count, .ny = count, .degree = degree};
    const auto expected =
        generate<double, Unknown>(fmt::format("fem:{}x{},degree={}", count, count, degree));
    for (const bool symmetric : {false, true}) {
      const Matrix found = assembled(
          LocalMatrices(mesh, [](double, double) { return 1.0; }, {.symmetric = symmetric}));
      ASSERT_TRUE(std::ranges::equal(found.row_offsets(), expected.row_offsets()));
      ASSERT_TRUE(std::ranges::equal(found.columns(), expected.columns()));
      for (Offset k = 0; k < found.nnz(); ++k) {
        ASSERT_NEAR(found.values()[k], expected.values()[k], 1e-13);
      }
    }
  }
}

TEST_P(LocalMatricesOfDegree, HaveTheSameBitsForAnyNumberOfThreads) {
  const QuadMesh mesh{.nx = 41, .ny = 37, .degree = GetParam()};
  const Vector x = random_vector(mesh.unknowns());
  for (const bool symmetric : {false, true}) {
    Vector expected;
    for (const int threads : {1, 2, 3, 4}) {
      const ThreadCountScope scope(threads);
      const LocalMatrices local(mesh, kappa(), {.symmetric = symmetric});
      Vector y(x.size());
      local.multiply(x, y);
      if (threads == 1) expected = y;
      EXPECT_EQ(y, expected) << threads;
    }
  }
}

TEST(LocalMatrices, HaveTheValuesOfAllElementsSideBySideInOneBlock) {
  const QuadMesh mesh{.nx = 5, .ny = 3, .degree = 2};
  const LocalMatrices local(mesh, kappa(), {.block = 0});
  const ElementMatrices matrices(mesh, kappa());
  EXPECT_EQ(local.block(), local.slots());
  EXPECT_EQ(local.element_values(), 81);
  Vector matrix(81);
  for (Offset ey = 0; ey < mesh.ny; ++ey) {
    for (Offset ex = 0; ex < mesh.nx; ++ex) {
      matrices.compute(ex, ey, matrix);
      const Offset slot = local.slot_of(ex, ey);
      for (int n = 0; n < 81; ++n) {
        const auto inside = [&](int node) { return mesh.unknown(ex, ey, node % 3, node / 3) >= 0; };
        const double expected = inside(n / 9) && inside(n % 9) ? matrix[n] : 0;
        ASSERT_EQ(local.values()[n * local.slots() + slot], expected);
        ASSERT_EQ(local.entry(slot, n / 9, n % 9), expected);
      }
      for (int node = 0; node < 9; ++node) {
        const Offset unknown = mesh.unknown(ex, ey, node % 3, node / 3);
        if (unknown >= 0) {
          ASSERT_EQ(local.unknowns()[node * local.slots() + slot], unknown);
        }
      }
    }
  }
}

TEST(LocalMatrices, ElementsOfOneColourShareNoUnknown) {
  for (const int degree : {1, 2, 4}) {
    const QuadMesh mesh{.nx = 7, .ny = 6, .degree = degree};
    const LocalMatrices local(mesh, kappa(), {.block = 0});
    Offset elements = 0;
    for (int colour = 0; colour < kMeshColours; ++colour) {
      std::vector<Offset> owner(mesh.unknowns(), -1);
      const RowRange<Offset> slots = local.slots_of(colour);
      EXPECT_EQ(slots.begin % kLanes, 0);
      elements += slots.end - slots.begin;
      for (Offset slot = slots.begin; slot < slots.end; ++slot) {
        for (int node = 0; node < local.element_nodes(); ++node) {
          Offset& of_unknown = owner[local.unknowns()[node * local.slots() + slot]];
          ASSERT_TRUE(of_unknown == -1 || of_unknown == slot);
          of_unknown = slot;
        }
      }
    }
    EXPECT_EQ(elements, mesh.elements());
  }
}

TEST(LocalMatrices, CountTheBytesOfAProduct) {
  const QuadMesh mesh{.nx = 10, .ny = 10, .degree = 4};
  EXPECT_EQ(LocalMatrices(mesh, kappa()).bytes(), 100 * (625 * 8 + 25 * 4));
  EXPECT_EQ(LocalMatrices(mesh, kappa(), {.symmetric = true}).bytes(), 100 * (325 * 8 + 25 * 4));
}

TEST(LocalMatrices, RefuseWhatDoesNotFit) {
  const QuadMesh mesh{.nx = 4, .ny = 4, .degree = 1};
  EXPECT_THROW(LocalMatrices(mesh, kappa(), {.block = 12}), InvalidArgument);
  EXPECT_THROW(LocalMatrices(mesh, kappa(), {.block = -8}), InvalidArgument);
  EXPECT_THROW(LocalMatrices({.nx = 1, .ny = 1, .degree = 1}, kappa()), InvalidArgument);
  const LocalMatrices local(mesh, kappa());
  Vector x(9), y(8);
  EXPECT_THROW(local.multiply(x, y), InvalidArgument);
}

}  // namespace
}  // namespace strata::fem

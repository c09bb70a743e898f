#include "strata/formats/symmetric_csr.hpp"

#include <gtest/gtest.h>

#include "tests/support/format_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <class T>
class SymmetricCsrTyped : public testing::Test {};
TYPED_TEST_SUITE(SymmetricCsrTyped, test::AllTypes);

constexpr Symmetry kSymmetries[] = {Symmetry::symmetric, Symmetry::skew_symmetric,
                                    Symmetry::hermitian};

TYPED_TEST(SymmetricCsrTyped, MatchesEigenForAnySymmetry) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const Symmetry symmetry : kSymmetries) {
    for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
      if (entries.rows() != entries.cols()) continue;
      SCOPED_TRACE(testing::Message() << name << ", " << name_of(symmetry));
      const auto csr = test::with_symmetry(entries.to_csr(), symmetry);
      const auto half = SymmetricCsr<V, I>::from_csr(csr, symmetry);
      EXPECT_EQ(half.footprint(), (SymmetricCsr<V, I>::footprint_of(csr)));
      EXPECT_EQ(half.to_csr(), csr);
      test::expect_matches_csr(half, csr);
    }
  }
}

using Matrix = Csr<double, std::int32_t>;
using Half = SymmetricCsr<double, std::int32_t>;

TEST(SymmetricCsr, StoresHalf) {
  const Matrix csr(2, 2, {0, 2, 3}, {0, 1, 0}, {1, 2, 2});
  const Half half = Half::from_csr(csr, Symmetry::symmetric);
  EXPECT_EQ(half.lower(), Matrix(2, 2, {0, 1, 2}, {0, 0}, {1, 2}));
  EXPECT_EQ(half.footprint().value_bytes, 2 * 8);
  EXPECT_EQ(half.footprint().index_bytes, 2 * 4 + 3 * 8);
  EXPECT_DOUBLE_EQ(half.footprint().fill(), 2.0 / 3);
}

TEST(SymmetricCsr, NamesTheFirstEntryWithoutMirrorImage) {
  const auto expect_refused = [](const Matrix& matrix, Symmetry symmetry,
                                 const std::string& message) {
    test::expect_invalid([&] { Half::from_csr(matrix, symmetry); }, message);
  };
  const Matrix lower_only(3, 3, {0, 0, 0, 1}, {1}, {1});
  expect_refused(lower_only, Symmetry::symmetric,
                 "entry (2, 1) lacks its mirror image in a symmetric matrix");
  expect_refused(transposed(lower_only), Symmetry::symmetric,
                 "entry (1, 2) lacks its mirror image in a symmetric matrix");
  const Matrix almost(2, 2, {0, 1, 2}, {1, 0}, {1.0, std::nextafter(1.0, 2.0)});
  expect_refused(almost, Symmetry::symmetric,
                 "entry (0, 1) lacks its mirror image in a symmetric matrix");
  const Matrix diagonal(2, 2, {0, 1, 2}, {0, 1}, {0, 1});
  expect_refused(diagonal, Symmetry::skew_symmetric,
                 "entry (1, 1) lacks its mirror image in a skew-symmetric matrix");
  expect_refused(Matrix(1, 2, {0, 0}, {}, {}), Symmetry::symmetric,
                 "a 1 x 2 matrix cannot be symmetric");
  EXPECT_THROW(Half::from_csr(diagonal, Symmetry::general), InvalidArgument);
}

TEST(SymmetricCsr, FindsTheSymmetryThatIsNotGiven) {
  EXPECT_EQ(Half::from_csr(Matrix(2, 2, {0, 1, 2}, {1, 0}, {1, 1})).symmetry(),
            Symmetry::symmetric);
  EXPECT_EQ(Half::from_csr(Matrix(2, 2, {0, 1, 2}, {1, 0}, {-1, 1})).symmetry(),
            Symmetry::skew_symmetric);
  using Complex = std::complex<double>;
  const Csr<Complex, std::int32_t> hermitian(2, 2, {0, 1, 2}, {1, 0},
                                             {Complex(1, 2), Complex(1, -2)});
  EXPECT_EQ((SymmetricCsr<Complex, std::int32_t>::from_csr(hermitian).symmetry()),
            Symmetry::hermitian);
  test::expect_invalid([] { Half::from_csr(Matrix(2, 2, {0, 1, 2}, {1, 0}, {1, 2})); },
                       "the matrix is neither symmetric nor skew-symmetric nor hermitian");
  test::expect_invalid([] { Half::from_csr(Matrix(1, 2, {0, 0}, {}, {})); },
                       "a 1 x 2 matrix cannot be symmetric");
}

TEST(SymmetricCsr, ExplicitZerosOnASkewSymmetricDiagonalAreEntries) {
  const Matrix csr(2, 2, {0, 2, 3}, {0, 1, 0}, {0, -2, 2});
  EXPECT_EQ(Half::from_csr(csr, Symmetry::skew_symmetric).to_csr(), csr);
}

TEST(SymmetricCsr, TakesALowerTriangleAndNothingElse) {
  const Matrix lower(2, 2, {0, 1, 2}, {0, 0}, {1, 2});
  EXPECT_EQ(Half(lower, Symmetry::symmetric).to_csr(),
            Matrix(2, 2, {0, 2, 3}, {0, 1, 0}, {1, 2, 2}));
  test::expect_invalid([&] { Half(lower, Symmetry::skew_symmetric); },
                       "entry (0, 0) cannot be on the diagonal of a skew-symmetric matrix");
  test::expect_invalid(
      [&] { Half(transposed(lower), Symmetry::symmetric); },
      "entry (0, 1) is above the diagonal of the stored half of a symmetric matrix");
  using Complex = std::complex<float>;
  const Csr<Complex, std::int32_t> imaginary(1, 1, {0, 1}, {0}, {Complex(0, 1)});
  test::expect_invalid([&] { SymmetricCsr(imaginary, Symmetry::hermitian); },
                       "entry (0, 0) cannot be on the diagonal of a hermitian matrix");
}

}  // namespace
}  // namespace strata

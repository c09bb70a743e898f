#include <complex>

#include "tests/gen/gen_check.hpp"

namespace strata {
namespace {

using Complex = std::complex<double>;
using Pauli = Eigen::Matrix2cd;
using Gamma = Eigen::Matrix4cd;
using Gammas = std::array<Gamma, 4>;

const Complex kI(0, 1);
const Pauli kOne = Pauli::Identity();
const Pauli kX{{0, 1}, {1, 0}};
const Pauli kY{{0, -kI}, {kI, 0}};
const Pauli kZ{{1, 0}, {0, -1}};

Gamma kronecker(const Pauli& a, const Pauli& b) {
  Gamma result;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) result(i, j) = a(i / 2, j / 2) * b(i % 2, j % 2);
  }
  return result;
}

Gammas textbook_gammas() {
  return {kronecker(kZ, kOne), kronecker(kX, kX), kronecker(kX, kY), kronecker(kX, kZ)};
}

// Those that strata/gen/topi.cpp uses.
Gammas rotated_gammas() {
  const Gamma x = kronecker(kX, kOne);
  const Gamma y = kronecker(kY, kY);
  return {kronecker(kY, kX), (x + y) / std::sqrt(2), kronecker(kZ, kOne), (x - y) / std::sqrt(2)};
}

// The complex Hamiltonian on an open box, straight from its definition.
Eigen::MatrixXcd hamiltonian(const Gammas& gammas, std::array<int, 3> size) {
  const int sites = size[0] * size[1] * size[2];
  Eigen::MatrixXcd result = Eigen::MatrixXcd::Zero(4 * sites, 4 * sites);
  const std::array<int, 3> stride{1, size[0], size[0] * size[1]};
  for (int site = 0; site < sites; ++site) {
    const std::array<int, 3> place{site % size[0], site / stride[1] % size[1], site / stride[2]};
    for (int axis = 0; axis < 3; ++axis) {
      if (place[axis] + 1 == size[axis]) continue;
      const int other = site + stride[axis];
      const Gamma hop = (gammas[0] - kI * gammas[axis + 1]) / 2;
      result.block<4, 4>(4 * other, 4 * site) = hop;
      result.block<4, 4>(4 * site, 4 * other) = hop.adjoint();
    }
  }
  return result;
}

TEST(Topi, GammaMatricesAreHermitianAndAnticommute) {
  for (const Gammas& gammas : {textbook_gammas(), rotated_gammas()}) {
    for (int a = 0; a < 4; ++a) {
      EXPECT_TRUE(gammas[a].isApprox(gammas[a].adjoint()));
      for (int b = 0; b < 4; ++b) {
        const Gamma expected = a == b ? Gamma(2 * Gamma::Identity()) : Gamma(Gamma::Zero());
        EXPECT_LT((gammas[a] * gammas[b] + gammas[b] * gammas[a] - expected).norm(), 1e-14);
      }
    }
  }
}

TEST(Topi, HopsAreTheGaugedOnes) {
  const Gammas gammas = rotated_gammas();
  const std::array<const char*, 3> specs{"topi:2x1x1", "topi:1x2x1", "topi:1x1x2"};
  for (int axis = 0; axis < 3; ++axis) {
    const Eigen::MatrixXd matrix = test::dense(test::make(specs[axis]));
    const Gamma expected = (kI * gammas[0] + gammas[axis + 1]) / 2;
    EXPECT_LT((matrix.block<4, 4>(4, 0) - expected).norm(), 1e-15);
    EXPECT_LT((matrix.block<4, 4>(0, 4) - expected.transpose()).norm(), 1e-15);
  }
}

TEST(Topi, HasTheSpectrumOfTheComplexHamiltonian) {
  for (const std::array<int, 3> size : {std::array{3, 2, 2}, {2, 3, 4}, {1, 5, 1}}) {
    const auto matrix = test::make("topi:" + std::to_string(size[0]) + "x" +
                                   std::to_string(size[1]) + "x" + std::to_string(size[2]));
    const Eigen::VectorXd real = test::hermitian_eigenvalues(test::dense(matrix));
    const Eigen::VectorXd complex =
        test::hermitian_eigenvalues(hamiltonian(textbook_gammas(), size));
    EXPECT_LT((real - complex).norm(), 1e-12);
    EXPECT_GT(real.norm(), 1);
  }
}

constexpr Offset entries_of(Offset nx, Offset ny, Offset nz) {
  const Offset links = (nx - 1) * ny * nz + nx * (ny - 1) * nz + nx * ny * (nz - 1);
  return 16 * links;
}
static_assert(entries_of(256, 256, 256) == 802160640);  // Panzlaff, table 4.3

TEST(Topi, IsSymmetricWithTwelveEntriesInsideAndNoDiagonal) {
  const auto matrix = test::make("topi:5x4x6");
  EXPECT_EQ(matrix.rows(), 4 * 5 * 4 * 6);
  EXPECT_EQ(matrix.nnz(), entries_of(5, 4, 6));
  EXPECT_EQ(transposed(matrix), matrix);
  EXPECT_EQ(test::dense(matrix).diagonal().norm(), 0);
  EXPECT_EQ(test::row_length(matrix, 4 * ((2 * 4 + 2) * 5 + 2)), 12);
  EXPECT_EQ(test::make("topi:1x1x1").nnz(), 0);
}

}  // namespace
}  // namespace strata

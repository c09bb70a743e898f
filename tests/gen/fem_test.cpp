#include <cmath>
#include <functional>

#include "tests/gen/gen_check.hpp"
#include "tests/support/lagrange_element.hpp"

namespace strata {
namespace {

using test::make;
using test::Matrix;

// Qd elements the textbook way, element by element with quadrature in two dimensions, as an oracle
// for the matrix and for right-hand sides. Domain: the unit square, `count` elements a side.
class NaiveFem {
 public:
  NaiveFem(int count, int degree) : count_(count), degree_(degree), element_(degree) {}

  int line() const { return count_ * degree_ - 1; }
  int unknowns() const { return line() * line(); }
  // Position of an inner node along an axis.
  double position(int inner) const {
    const int node = inner + 1;
    const int element = std::min(node / degree_, count_ - 1);
    return (element + (element_.nodes()[node - element * degree_] + 1) / 2) / count_;
  }

  Eigen::MatrixXd matrix() const {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(unknowns(), unknowns());
    visit_quadrature([&](int ex, int ey, double u, double v, double weight) {
      visit_nodes(ex, ey, [&](int row, int a, int b) {
        visit_nodes(ex, ey, [&](int column, int c, int d) {
          // Gradients and area scale against each other: reference coordinates will do.
          result(row, column) += weight * (slope(a, u) * basis(b, v) * slope(c, u) * basis(d, v) +
                                           basis(a, u) * slope(b, v) * basis(c, u) * slope(d, v));
        });
      });
    });
    return result;
  }

  Eigen::VectorXd load(const std::function<double(double, double)>& f) const {
    Eigen::VectorXd result = Eigen::VectorXd::Zero(unknowns());
    const double half = 0.5 / count_;
    visit_quadrature([&](int ex, int ey, double u, double v, double weight) {
      const double value = f((2 * ex + 1 + u) * half, (2 * ey + 1 + v) * half);
      visit_nodes(ex, ey, [&](int row, int a, int b) {
        result(row) += half * half * weight * value * basis(a, u) * basis(b, v);
      });
    });
    return result;
  }

 private:
  double basis(int a, double u) const { return element_.basis(a, u); }
  double slope(int a, double u) const { return element_.slope(a, u); }
  template <class Visit>
  void visit_quadrature(Visit&& visit) const {
    for (int ey = 0; ey < count_; ++ey) {
      for (int ex = 0; ex < count_; ++ex) {
        for (std::size_t p = 0; p < element_.points().size(); ++p) {
          for (std::size_t q = 0; q < element_.points().size(); ++q) {
            visit(ex, ey, element_.points()[p], element_.points()[q],
                  element_.weights()[p] * element_.weights()[q]);
          }
        }
      }
    }
  }
  // visit(unknown, a, b) for the nodes of an element that are not on the boundary.
  template <class Visit>
  void visit_nodes(int ex, int ey, Visit&& visit) const {
    for (int b = 0; b <= degree_; ++b) {
      for (int a = 0; a <= degree_; ++a) {
        const int x = ex * degree_ + a - 1;
        const int y = ey * degree_ + b - 1;
        if (x >= 0 && y >= 0 && x < line() && y < line()) visit(y * line() + x, a, b);
      }
    }
  }

  int count_;
  int degree_;
  test::LagrangeElement element_;
};

std::string spec_of(int nx, int ny, int degree) {
  return "fem:" + std::to_string(nx) + "x" + std::to_string(ny) +
         ",degree=" + std::to_string(degree);
}

class FemOfDegree : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, FemOfDegree, testing::Values(1, 2, 3, 4));

TEST_P(FemOfDegree, EqualsElementByElementAssembly) {
  const Eigen::MatrixXd expected = NaiveFem(3, GetParam()).matrix();
  const Eigen::MatrixXd matrix = test::dense(make(spec_of(3, 3, GetParam())));
  ASSERT_EQ(matrix.rows(), expected.rows());
  EXPECT_LT((matrix - expected).cwiseAbs().maxCoeff(), 1e-13 * expected.cwiseAbs().maxCoeff());
}

TEST_P(FemOfDegree, IsSymmetricPositiveDefiniteWithTheCountsOfTheElements) {
  const int degree = GetParam();
  const Matrix matrix = make(spec_of(4, 3, degree));
  EXPECT_EQ(transposed(matrix), matrix);
  EXPECT_GT(test::smallest_eigenvalue(matrix), 0);
  EXPECT_EQ(matrix.rows(), (4 * degree - 1) * (3 * degree - 1));
  // In one direction: n elements share n − 1 nodes; the two boundary nodes lose row and column.
  const auto line = [&](int n) {
    return n * (degree + 1) * (degree + 1) - (n - 1) - 2 * (2 * degree + 1);
  };
  EXPECT_EQ(matrix.nnz(), line(4) * line(3));
}

TEST_P(FemOfDegree, ConstantsAreInTheKernelInside) {
  const int degree = GetParam();
  const Matrix matrix = make(spec_of(5, 5, degree));
  const Eigen::MatrixXd all = test::dense(matrix);
  const int line = 5 * degree - 1;
  const int centre = (line / 2) * line + line / 2;  // two elements away from the boundary
  EXPECT_NEAR(all.row(centre).sum(), 0, 1e-12);
}

TEST_P(FemOfDegree, SolutionsConvergeWithOrderDegreePlusOne) {
  const int degree = GetParam();
  const auto solution = [](double x, double y) { return std::sin(M_PI * x) * std::sin(M_PI * y); };
  const auto error = [&](int count) {
    const NaiveFem fem(count, degree);
    const Eigen::VectorXd load =
        fem.load([&](double x, double y) { return 2 * M_PI * M_PI * solution(x, y); });
    const Eigen::VectorXd found =
        test::solution<double>(test::dense(make(spec_of(count, count, degree))), load);
    double largest = 0;
    for (int y = 0; y < fem.line(); ++y) {
      for (int x = 0; x < fem.line(); ++x) {
        largest = std::max(largest, std::abs(found[y * fem.line() + x] -
                                             solution(fem.position(x), fem.position(y))));
      }
    }
    return largest;
  };
  EXPECT_GT(std::log2(error(4) / error(8)), degree + 0.8);
}

TEST(Fem, BilinearElementsGiveTheKnownStencil) {
  const Matrix matrix = make("fem:4x4,degree=1");
  ASSERT_EQ(matrix.rows(), 9);
  const Eigen::MatrixXd all = test::dense(matrix);
  for (int j = 0; j < 9; ++j) EXPECT_NEAR(all(4, j), (j == 4 ? 8 : -1) / 3.0, 1e-14);
}

TEST(Fem, RefusesDegreesItDoesNotHaveAndMeshesWithoutInnerNodes) {
  EXPECT_THROW(make("fem:4x4,degree=5"), InvalidArgument);
  EXPECT_THROW(make("fem:4x4,degree=0"), InvalidArgument);
  EXPECT_THROW(make("fem:4x4"), InvalidArgument);
  EXPECT_THROW(make("fem:1x4,degree=1"), InvalidArgument);
  EXPECT_EQ(make("fem:1x1,degree=2").nnz(), 1);
}

}  // namespace
}  // namespace strata

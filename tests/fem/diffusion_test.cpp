#include "strata/fem/diffusion.hpp"

#include <cmath>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "tests/support/lagrange_element.hpp"

namespace strata::fem {
namespace {

// The textbook way: integrals of products of polynomials by quadrature, and everything else as it
// is written down.
class Naive {
 public:
  explicit Naive(const QuadMesh& mesh) : mesh_(mesh), element_(mesh.degree) {}

  // visit(x, y, area, u, v) for the points of an element.
  template <class Visit>
  void visit_points(Offset ex, Offset ey, Visit&& visit) const {
    const double hx = 1.0 / static_cast<double>(mesh_.nx), hy = 1.0 / static_cast<double>(mesh_.ny);
    const std::vector<double>&points = element_.points(), &weights = element_.weights();
    for (std::size_t p = 0; p < points.size(); ++p) {
      for (std::size_t q = 0; q < points.size(); ++q) {
        visit((static_cast<double>(ex) + (points[p] + 1) / 2) * hx,
              (static_cast<double>(ey) + (points[q] + 1) / 2) * hy,
              weights[p] * weights[q] * hx * hy / 4, points[p], points[q]);
      }
    }
  }
  double basis(int a, double u) const { return element_.basis(a, u); }
  double slope(int a, double u) const { return element_.slope(a, u); }

 private:
  QuadMesh mesh_;
  test::LagrangeElement element_;
};

class DiffusionOfDegree : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, DiffusionOfDegree, testing::Values(1, 2, 3, 4));

TEST_P(DiffusionOfDegree, ElementMatricesAreIntegrals) {
  const QuadMesh mesh{.nx = 3, .ny = 2, .degree = GetParam()};
  const Naive naive(mesh);
  // A polynomial of degree 1 in each direction, which 5 points integrate exactly.
  const Field kappa = [](double x, double y) { return 1 + x + 2 * y + x * y; };
  const ElementMatrices matrices(mesh, kappa);
  const int line = mesh.degree + 1, nodes = mesh.element_nodes();
  std::vector<double> found(nodes * nodes);
  for (Offset ey = 0; ey < mesh.ny; ++ey) {
    for (Offset ex = 0; ex < mesh.nx; ++ex) {
      matrices.compute(ex, ey, found);
      for (int i = 0; i < nodes; ++i) {
        for (int j = 0; j < nodes; ++j) {
          double expected = 0;
          naive.visit_points(ex, ey, [&](double x, double y, double area, double u, double v) {
            const double sx = 2.0 * static_cast<double>(mesh.nx);
            const double sy = 2.0 * static_cast<double>(mesh.ny);
            const int a = i % line, b = i / line, c = j % line, d = j / line;
            expected += area * kappa(x, y) *
                        (sx * sx * naive.slope(a, u) * naive.basis(b, v) * naive.slope(c, u) *
                             naive.basis(d, v) +
                         sy * sy * naive.basis(a, u) * naive.slope(b, v) * naive.basis(c, u) *
                             naive.slope(d, v));
          });
          ASSERT_NEAR(found[i * nodes + j], expected, 1e-12) << i << ' ' << j;
        }
      }
    }
  }
}

TEST_P(DiffusionOfDegree, LoadsAreIntegrals) {
  const QuadMesh mesh{.nx = 4, .ny = 3, .degree = GetParam()};
  const Naive naive(mesh);
  const Field f = [](double x, double y) { return 1 + x * x - 3 * x * y * y; };
  std::vector<double> expected(mesh.unknowns(), 0.0);
  for (Offset ey = 0; ey < mesh.ny; ++ey) {
    for (Offset ex = 0; ex < mesh.nx; ++ex) {
      for (int b = 0; b <= mesh.degree; ++b) {
        for (int a = 0; a <= mesh.degree; ++a) {
          const Offset unknown = mesh.unknown(ex, ey, a, b);
          if (unknown < 0) continue;
          naive.visit_points(ex, ey, [&](double x, double y, double area, double u, double v) {
            expected[unknown] += area * f(x, y) * naive.basis(a, u) * naive.basis(b, v);
          });
        }
      }
    }
  }
  const std::vector<double> found = load_vector(mesh, f);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-15) << i;
}

TEST(Diffusion, SourceIsTheDivergenceOfTheFlux) {
  const Diffusion problem = manufactured_diffusion();
  const double h = 1e-4;
  // κ∇u through the four sides of a small square, by differences.
  for (const auto& [x, y] : {std::pair{0.3, 0.2}, {0.71, 0.55}, {0.05, 0.93}}) {
    const auto flux = [&](double dx, double dy) {
      const double kappa = problem.diffusivity(x + dx * h / 2, y + dy * h / 2);
      return kappa * (problem.solution(x + dx * h, y + dy * h) - problem.solution(x, y));
    };
    const double divergence = (flux(1, 0) + flux(-1, 0) + flux(0, 1) + flux(0, -1)) / (h * h);
    EXPECT_NEAR(problem.source(x, y), -divergence, 1e-5);
    EXPECT_GT(problem.diffusivity(x, y), 0);
    for (const double zero : {problem.solution(0, y), problem.solution(1, y),
                              problem.solution(x, 0), problem.solution(x, 1)}) {
      EXPECT_NEAR(zero, 0, 1e-14);
    }
  }
}

TEST(Diffusion, ErrorsAreNormsOfTheDifference) {
  const QuadMesh mesh{.nx = 8, .ny = 5, .degree = 3};
  const Field sine = [](double x, double y) { return std::sin(M_PI * x) * std::sin(M_PI * y); };
  const std::vector<double> zero(mesh.unknowns(), 0.0);
  EXPECT_NEAR(l2_error(mesh, zero, sine), 0.5, 1e-12);
  // x(1 − x)y(1 − y) is in the space: with its values there is no error.
  const Field hill = [](double x, double y) { return x * (1 - x) * y * (1 - y); };
  const double inner = 1 / std::sqrt(5.0);
  const auto position = [&](Offset node, Offset elements) {
    const double inside[] = {-1, -inner, inner};
    return (static_cast<double>(node / 3) + (inside[node % 3] + 1) / 2) /
           static_cast<double>(elements);
  };
  std::vector<double> values;
  for (Offset j = 1; j <= mesh.height(); ++j) {
    for (Offset i = 1; i <= mesh.width(); ++i) {
      values.push_back(hill(position(i, mesh.nx), position(j, mesh.ny)));
    }
  }
  EXPECT_LT(l2_error(mesh, values, hill), 1e-16);
}

TEST(Diffusion, HasTheSameBitsForAnyNumberOfThreads) {
  const QuadMesh mesh{.nx = 30, .ny = 41, .degree = 2};
  const Diffusion problem = manufactured_diffusion();
  std::vector<double> load;
  double error = 0;
  for (const int threads : {1, 2, 3, 4}) {
    const ThreadCountScope scope(threads);
    const std::vector<double> found = load_vector(mesh, problem.source);
    if (threads == 1) load = found;
    EXPECT_EQ(found, load);
    const double of_load = l2_error(mesh, load, problem.solution);
    if (threads == 1) error = of_load;
    EXPECT_EQ(of_load, error);
  }
}

TEST(QuadMesh, NumbersUnknownsWithoutTheBoundary) {
  const QuadMesh mesh{.nx = 2, .ny = 3, .degree = 2};
  EXPECT_EQ(mesh.unknowns(), 3 * 5);
  EXPECT_EQ(mesh.unknown(0, 0, 0, 0), -1);
  EXPECT_EQ(mesh.unknown(0, 0, 1, 1), 0);
  EXPECT_EQ(mesh.unknown(0, 0, 2, 1), mesh.unknown(1, 0, 0, 1));
  EXPECT_EQ(mesh.unknown(1, 0, 2, 1), -1);
  EXPECT_EQ(mesh.unknown(1, 2, 1, 1), 14);
}

TEST(QuadMesh, RefusesWhatIsNoMesh) {
  EXPECT_THROW((QuadMesh{.nx = 4, .ny = 4, .degree = 5}.require_usable()), InvalidArgument);
  EXPECT_THROW((QuadMesh{.nx = 4, .ny = 4, .degree = 0}.require_usable()), InvalidArgument);
  EXPECT_THROW((QuadMesh{.nx = 0, .ny = 4, .degree = 1}.require_usable()), InvalidArgument);
  EXPECT_THROW((QuadMesh{.nx = 1, .ny = 4, .degree = 1}.require_usable()), InvalidArgument);
  EXPECT_THROW((QuadMesh{.nx = 40000, .ny = 40000, .degree = 2}.require_usable()), OverflowError);
  EXPECT_NO_THROW((QuadMesh{.nx = 1, .ny = 1, .degree = 2}.require_usable()));
}

}  // namespace
}  // namespace strata::fem

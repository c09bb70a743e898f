// s-step methods against the classical ones: the same solutions, as accurate, with about as many
// products.

#include <gtest/gtest.h>

#include <complex>

#include "strata/base/random.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/solvers/ca_cg.hpp"
#include "strata/solvers/ca_gmres.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/gmres.hpp"
#include "strata/solvers/processor_powers.hpp"
#include "tests/plans/support.hpp"

namespace strata::solvers {
namespace {

using I = std::int32_t;

template <Value V>
double true_residual(const Csr<V, I>& matrix, const std::vector<V>& b, const std::vector<V>& x) {
  std::vector<V> ax(b.size());
  reference::spmv(matrix, V(1), x, V(0), ax);
  double left = 0, whole = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    left += std::norm(b[i] - ax[i]);
    whole += std::norm(b[i]);
  }
  return std::sqrt(left / whole);
}

// A matrix with a plan, vectors and right-hand side in its order.
template <Value V>
struct System {
  System(const Csr<V, I>& of, int s)
      : matrix(of),
        powers(of, options(s)),
        space(powers.plan().vector_rows(), 2),
        b(random(matrix.rows())),
        ordered_b(space.make_vector()),
        x(space.make_vector()) {
    powers.plan().to_plan_order(b, ordered_b);
  }
  static PowerOptions options(int s) {
    PowerOptions options = test::quick_options();
    options.power = s;
    options.threads = 2;
    return options;
  }
  static std::vector<V> random(I rows) {
    const Random numbers(5, 1);
    std::vector<V> b(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] = V(static_cast<decltype(std::abs(V()))>(numbers.uniform(i) - 0.3));
    }
    return b;
  }
  double residual() const {
    std::vector<V> solution(b.size());
    powers.plan().to_caller_order(x, solution);
    return true_residual(matrix, b, solution);
  }
  void clear() { std::fill(x.begin(), x.end(), V(0)); }
  Operator<ProcessorSpace<V>> product() {
    return [this](std::span<const V> from, std::span<V> to) { powers.multiply(from, to); };
  }

  const Csr<V, I>& matrix;
  ProcessorPowers<V, I> powers;
  ProcessorSpace<V> space;
  std::vector<V> b;
  Array<V> ordered_b, x;
};

const char* const kDefinite[] = {"stencil5:40x30", "stencil7:14x12x12,shuffle=1", "hpcg:10x10x10",
                                 "fem:8x8,degree=3", "stencil5:60x60"};

SolveResult plain_cg(System<double>& system, const SolveOptions& options) {
  return conjugate_gradients<ProcessorSpace<double>>(system.space, system.product(), {},
                                                     system.ordered_b, system.x, options);
}

TEST(CaGmres, NeedsHardlyMoreProductsThanGmres) {
  for (const char* spec : {"stencil5:40x30", "stencil7:14x12x12,shuffle=1", "hpcg:10x10x10",
                           "fem:12x12,degree=3", "band:3000,width=9", "graphene:20x20"}) {
    const auto matrix = generate<double, I>(spec);
    for (const int s : {1, 4, 8}) {
      System<double> system(matrix, s);
      const SolveOptions options{.tolerance = 1e-10, .most_iterations = 1000};
      const auto plain = gmres<ProcessorSpace<double>>(system.space, system.product(), {},
                                                       system.ordered_b, system.x, {options, 32});
      const double reached = system.residual();
      for (const KrylovBasis basis : kKrylovBases) {
        SCOPED_TRACE(testing::Message() << spec << " s = " << s << " " << name_of(basis));
        system.clear();
        const auto result = ca_gmres<ProcessorSpace<double>>(
            system.space, system.powers, system.ordered_b, system.x, {options, 32 / s, basis});
        EXPECT_EQ(result.status, plain.status) << result.message;
        EXPECT_LE(system.residual(), std::max(1.001e-10, 1.01 * reached));
        EXPECT_LE(static_cast<double>(result.products),
                  1.15 * static_cast<double>(plain.products) + s);
      }
    }
  }
}

TEST(CaCg, NeedsHardlyMoreProductsThanCg) {
  for (const char* spec : kDefinite) {
    const auto matrix = generate<double, I>(spec);
    for (const int s : {1, 4, 8, 16}) {
      System<double> system(matrix, s);
      const SolveOptions options{.tolerance = 1e-10, .most_iterations = 2000};
      const auto plain = plain_cg(system, options);
      for (const KrylovBasis basis : kKrylovBases) {
        SCOPED_TRACE(testing::Message() << spec << " s = " << s << " " << name_of(basis));
        system.clear();
        const auto result = ca_conjugate_gradients<ProcessorSpace<double>>(
            system.space, system.powers, system.ordered_b, system.x, {options, basis});
        EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
        EXPECT_LE(system.residual(), 1.001e-10);
        EXPECT_LE(static_cast<double>(result.products),
                  1.15 * static_cast<double>(plain.products) + 2 * s);
        // Nobody makes sixteen monomials that are apart.
        if (basis == KrylovBasis::monomial && s == 16) {
          EXPECT_NE(result.remark.find("lost too many digits"), std::string::npos);
        }
      }
    }
  }
}

// Rows and columns scaled from 1 to 0.1, so that conditions are up to a hundred times as bad.
Csr<double, I> graded(const char* spec) {
  const auto matrix = generate<double, I>(spec);
  const auto factor = [&](I row) { return std::pow(10.0, -1.0 * row / matrix.rows()); };
  Array<double> values(matrix.values().begin(), matrix.values().end());
  for (I row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      values[k] *= factor(row) * factor(matrix.columns()[k]);
    }
  }
  return Csr<double, I>(matrix.rows(), matrix.rows(),
                        {matrix.row_offsets().begin(), matrix.row_offsets().end()},
                        {matrix.columns().begin(), matrix.columns().end()}, std::move(values));
}

TEST(CaCg, IsAsGoodAsCgOnIllConditionedMatrices) {
  for (const char* spec :
       {"stencil5:20x15", "stencil5:40x30", "stencil7:14x12x12,shuffle=1", "fem:8x8,degree=3"}) {
    const auto matrix = graded(spec);
    const SolveOptions options{.tolerance = 1e-8, .most_iterations = 20000};
    System<double> system(matrix, 8);
    const auto plain = plain_cg(system, options);
    EXPECT_EQ(plain.status, SolveStatus::converged);
    for (const int s : {1, 2, 4, 8}) {
      for (const KrylovBasis basis : kKrylovBases) {
        SCOPED_TRACE(testing::Message() << spec << " s = " << s << " " << name_of(basis));
        System<double> other(matrix, s);
        const auto result = ca_conjugate_gradients<ProcessorSpace<double>>(
            other.space, other.powers, other.ordered_b, other.x, {options, basis});
        EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
        EXPECT_LE(other.residual(), 1.001e-8);
        const auto products = static_cast<double>(result.products);
        const auto classical = static_cast<double>(plain.products);
        if (basis != KrylovBasis::chebyshev || s < 8) {
          EXPECT_LE(products, 1.15 * classical + 2 * s);
        } else if (products > 1.15 * classical + 2 * s) {
          // Here blocks may be too wide for a while, but not unnoticed.
          EXPECT_NE(result.remark.find("lost too many digits"), std::string::npos);
          EXPECT_LE(products, 2.5 * classical);
        }
      }
    }
  }
}

// As far as rounding lets them go.
TEST(CaMethods, AreAsAccurateAsClassicalOnes) {
  for (const char* spec : kDefinite) {
    const auto matrix = generate<double, I>(spec);
    System<double> system(matrix, 8);
    const SolveOptions options{.tolerance = 1e-30, .most_iterations = 2000};
    EXPECT_EQ(plain_cg(system, options).status, SolveStatus::stagnated);
    const double attained = system.residual();
    for (const int s : {2, 4, 8}) {
      SCOPED_TRACE(testing::Message() << spec << " s = " << s);
      System<double> other(matrix, s);
      const auto cg = ca_conjugate_gradients<ProcessorSpace<double>>(
          other.space, other.powers, other.ordered_b, other.x, {options});
      EXPECT_EQ(cg.status, SolveStatus::stagnated) << cg.message;
      EXPECT_LE(other.residual(), 10 * attained);
      other.clear();
      ca_gmres<ProcessorSpace<double>>(other.space, other.powers, other.ordered_b, other.x,
                                       {options, 32 / s});
      EXPECT_LE(other.residual(), 10 * attained);
    }
  }
}

template <class V>
class CaMethodsTyped : public testing::Test {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(CaMethodsTyped, Values);

// A positive definite Hermitian matrix with complex entries where there are such.
template <Value V>
Csr<V, I> hermitian(I rows) {
  using Real = decltype(std::abs(V()));
  std::vector<Offset> offsets{0};
  std::vector<I> columns;
  std::vector<V> values;
  for (I row = 0; row < rows; ++row) {
    for (const I distance : {-7, -1, 0, 1, 7}) {
      const I column = row + distance;
      if (column < 0 || column >= rows) continue;
      columns.push_back(column);
      V value = distance == 0 ? V(Real(4.5)) : V(Real(-1));
      if constexpr (is_complex<V>) {
        if (distance != 0) value = V(Real(-0.6), distance > 0 ? Real(0.8) : Real(-0.8));
      }
      values.push_back(value);
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return Csr<V, I>(rows, rows, {offsets.begin(), offsets.end()}, {columns.begin(), columns.end()},
                   {values.begin(), values.end()});
}

TYPED_TEST(CaMethodsTyped, SolveInAllArithmetics) {
  using V = TypeParam;
  const bool is_single = sizeof(decltype(std::abs(V()))) == sizeof(float);
  const double tolerance = is_single ? 1e-5 : 1e-11;
  // Also spaces that are smaller than the blocks.
  for (const I rows : {1, 2, 5, 500, 4000}) {
    const auto matrix = hermitian<V>(rows);
    for (const int s : {1, 4, 8}) {
      SCOPED_TRACE(testing::Message() << rows << " rows, s = " << s);
      System<V> system(matrix, s);
      const auto cg = ca_conjugate_gradients<ProcessorSpace<V>>(
          system.space, system.powers, system.ordered_b, system.x, {{.tolerance = tolerance}});
      EXPECT_EQ(cg.status, SolveStatus::converged) << cg.message;
      EXPECT_LE(system.residual(), 2 * tolerance);
      system.clear();
      const auto gmres = ca_gmres<ProcessorSpace<V>>(system.space, system.powers, system.ordered_b,
                                                     system.x, {{.tolerance = tolerance}, 4});
      EXPECT_EQ(gmres.status, SolveStatus::converged) << gmres.message;
      EXPECT_LE(system.residual(), 2 * tolerance);
    }
  }
}

TEST(CaCg, NamesTheIterationWhereAMatrixIsNotDefinite) {
  for (const int s : {1, 4, 8}) {
    const auto matrix = generate<double, I>("graphene:20x20");  // eigenvalues on both sides of 0
    System<double> system(matrix, s);
    const auto result = ca_conjugate_gradients<ProcessorSpace<double>>(system.space, system.powers,
                                                                       system.ordered_b, system.x);
    EXPECT_EQ(result.status, SolveStatus::not_definite);
    EXPECT_NE(result.message.find("in iteration"), std::string::npos) << result.message;
    EXPECT_TRUE(std::isfinite(system.residual()));
  }
}

TEST(CaMethods, TakeZeroAndWhatIsNotFinite) {
  const auto matrix = generate<double, I>("stencil5:20x20");
  System<double> system(matrix, 4);
  std::fill(system.ordered_b.begin(), system.ordered_b.end(), 0.0);
  std::fill(system.x.begin(), system.x.end(), 1.0);
  auto result = ca_conjugate_gradients<ProcessorSpace<double>>(system.space, system.powers,
                                                               system.ordered_b, system.x);
  EXPECT_EQ(result.status, SolveStatus::converged);
  EXPECT_EQ(std::count(system.x.begin(), system.x.end(), 0.0), std::ssize(system.x));
  system.ordered_b[3] = std::numeric_limits<double>::quiet_NaN();
  result = ca_conjugate_gradients<ProcessorSpace<double>>(system.space, system.powers,
                                                          system.ordered_b, system.x);
  EXPECT_EQ(result.status, SolveStatus::not_finite);
  result =
      ca_gmres<ProcessorSpace<double>>(system.space, system.powers, system.ordered_b, system.x);
  EXPECT_EQ(result.status, SolveStatus::not_finite);
}

// A cyclic shift: GMRES has nothing before the last iteration.
TEST(CaGmres, FindsSolutionsThatOnlyTheWholeSpaceHas) {
  constexpr I kRows = 24;
  std::vector<Offset> offsets{0};
  std::vector<I> columns;
  for (I row = 0; row < kRows; ++row) {
    columns.push_back((row + 1) % kRows);
    offsets.push_back(row + 1);
  }
  const Csr<double, I> matrix(kRows, kRows, {offsets.begin(), offsets.end()},
                              {columns.begin(), columns.end()},
                              Array<double>(static_cast<std::size_t>(kRows), 1.0));
  for (const int s : {1, 4, 8}) {
    System<double> system(matrix, s);
    const auto result = ca_gmres<ProcessorSpace<double>>(
        system.space, system.powers, system.ordered_b, system.x, {{.tolerance = 1e-10}, 24 / s});
    EXPECT_EQ(result.status, SolveStatus::converged) << s << " " << result.message;
    EXPECT_LE(system.residual(), 1e-9);
  }
}

TEST(KrylovBases, LejaPointsAreSpreadAndPairsStayTogether) {
  using Complex = std::complex<double>;
  const auto real = leja_ordered({1, 2, 3, 4, 10}, 3);
  EXPECT_EQ(real, (std::vector<Complex>{10, 1, 4}));
  const auto pairs = leja_ordered({5, {1, 2}, {1, -2}}, 5);
  EXPECT_EQ(pairs, (std::vector<Complex>{5, {1, 2}, {1, -2}, 5, 1}));
  EXPECT_THROW(leja_ordered({}, 2), InvalidArgument);
}

// A [v_0 … v_{s−1}] = [v_0 … v_s] B.
TEST(KrylovBases, TheMatrixIsWhatItsChangeOfBasisSays) {
  const auto matrix = generate<double, I>("stencil5:20x20,coefficients=random");
  System<double> system(matrix, 5);
  using Complex = std::complex<double>;
  for (const Basis& basis : {Basis::newton({1, Complex(4, 2), Complex(4, -2), 7, 2}, 3),
                             Basis::chebyshev(0, 8), Basis::scaled(5), Basis::monomial()}) {
    SCOPED_TRACE(basis.name());
    system.powers.set_basis(basis);
    const auto rows = static_cast<std::size_t>(system.space.rows());
    std::vector<double> v(6 * rows), image(rows);
    std::copy(system.ordered_b.begin(), system.ordered_b.end(), v.begin());
    system.powers.apply(std::span(v).first(rows), std::span(v).subspan(rows));
    const auto b = change_of_basis<double>(basis, 5);
    for (int j = 0; j < 5; ++j) {
      system.powers.multiply(std::span(v).subspan(static_cast<std::size_t>(j) * rows, rows), image);
      for (std::size_t i = 0; i < rows; ++i) {
        double sum = 0, size = 0;
        for (int k = 0; k < 6; ++k) {
          const double term = v[static_cast<std::size_t>(k) * rows + i] * b(k, j);
          sum += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(sum, image[i], 1e-13 * (size + 1));
      }
    }
  }
}

}  // namespace
}  // namespace strata::solvers

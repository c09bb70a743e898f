// Eigenvalues and densities on several ranks against those of one process.

#include "strata/distributed/eigen_solver.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "tests/distributed/parts.hpp"
#include "tests/distributed/systems.hpp"

namespace strata::distributed {
namespace {

using solvers::EigenMethod;
using solvers::EigenSolverOptions;
using solvers::SolveStatus;

template <class V>
class DistributedEigenvalues : public testing::Test {};
using Values = testing::Types<double, std::complex<float>>;
TYPED_TEST_SUITE(DistributedEigenvalues, Values);

TYPED_TEST(DistributedEigenvalues, AreThoseOfOneProcess) {
  using V = TypeParam;
  const Communicator ranks(MPI_COMM_WORLD);
  const double tolerance = std::is_same_v<V, double> ? 1e-9 : 1e-4;
  const auto whole = hermitian<V>("stencil5:12x10");
  for (const auto method : solvers::kEigenMethods) {
    SCOPED_TRACE(name_of(method));
    EigenSolverOptions options{.method = method, .autotune = false};
    options.eigen.count = 4;
    options.eigen.tolerance = tolerance;
    options.s = 4;
    if (method == EigenMethod::filter) options.interval = {3.0, 3.6};
    if (method == EigenMethod::power) options.eigen.tolerance = 1e-3;
    const auto alone = solvers::eigenpairs(whole, options);
    for (const Partition& rows :
         {Partition::even(whole.rows(), ranks.size()), uneven(whole.rows(), ranks.size())}) {
      const auto pairs = eigenpairs(ranks, cut(ranks, whole, rows, rows), options,
                                    {.depth = 2, .network = &kSomeNetwork});
      EXPECT_EQ(pairs.result.status, alone.result.status) << pairs.result.message;
      ASSERT_EQ(pairs.result.values.size(), alone.result.values.size());
      const auto own = static_cast<std::size_t>(rows.size(ranks.rank()));
      ASSERT_EQ(pairs.vectors.size(), own * pairs.result.values.size());
      for (std::size_t k = 0; k < pairs.result.values.size(); ++k) {
        EXPECT_NEAR(pairs.result.values[k], alone.result.values[k],
                    (method == EigenMethod::power ? 0.01 : 100 * tolerance));
        // λx = Ax, of the vector that ranks have together.
        const auto vector = gathered(
            ranks,
            std::vector<V>(pairs.vectors.begin() + static_cast<std::ptrdiff_t>(k * own),
                           pairs.vectors.begin() + static_cast<std::ptrdiff_t>((k + 1) * own)));
        auto scaled = vector;
        for (V& value : scaled) {
          value *= static_cast<decltype(std::abs(V()))>(pairs.result.values[k]);
        }
        EXPECT_LE(residual_of(whole, scaled, vector), 20 * options.eigen.tolerance);
      }
    }
  }
}

TEST(DistributedEigenvalues, DensitiesAreThoseOfOneProcess) {
  const Communicator ranks(MPI_COMM_WORLD);
  const auto whole = hermitian<double>("stencil5:12x10");
  const auto rows = uneven(whole.rows(), ranks.size());
  const auto matrix = cut(ranks, whole, rows, rows);
  const solvers::DensityOptions options{.moments = 64, .vectors = 8, .autotune = false};
  const auto alone = solvers::density_of_states(whole, options);
  const SweepOptions sweeps{.depth = 2, .network = &kSomeNetwork};
  const auto density = density_of_states(ranks, matrix, options, sweeps);
  ASSERT_EQ(density.moments.size(), alone.moments.size());
  for (std::size_t n = 0; n < density.moments.size(); ++n) {
    EXPECT_NEAR(density.moments[n], alone.moments[n], 1e-6);
  }
  EXPECT_EQ(density.rows, whole.rows());
  // One rank stops all.
  auto stopping = options;
  if (ranks.rank() + 1 == ranks.size()) stopping.progress = [](double) { return false; };
  EXPECT_EQ(density_of_states(ranks, matrix, stopping, sweeps).status, SolveStatus::stopped);
  const auto other = lopsided<double>("stencil5:12x10");
  EXPECT_THROW(density_of_states(ranks, cut(ranks, other, rows, rows)), InvalidArgument);
  EXPECT_THROW(eigenpairs(ranks, cut(ranks, other, rows, rows)), InvalidArgument);
}

}  // namespace
}  // namespace strata::distributed

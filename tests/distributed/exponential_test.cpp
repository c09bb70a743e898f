// Exponentials on several ranks against those of one process.

#include "strata/distributed/exponential.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "strata/solvers/random_rows.hpp"
#include "tests/distributed/parts.hpp"
#include "tests/distributed/systems.hpp"

namespace strata::distributed {
namespace {

using solvers::ExponentialMethod;
using solvers::ExponentialOptions;
using solvers::ExponentialResult;
using solvers::SolveStatus;

template <class V>
class DistributedExponential : public testing::Test {};
using Values = testing::Types<double, std::complex<float>>;
TYPED_TEST_SUITE(DistributedExponential, Values);

TYPED_TEST(DistributedExponential, IsThatOfOneProcess) {
  using V = TypeParam;
  const Communicator ranks(MPI_COMM_WORLD);
  const double epsilon = std::numeric_limits<decltype(std::abs(V()))>::epsilon();
  for (const bool symmetric : {true, false}) {
    const auto whole = symmetric ? hermitian<V>("stencil5:9x8") : lopsided<V>("stencil5:9x8");
    // The automatic choice tries chebyshev, or taylor and leja.
    for (const auto method : {ExponentialMethod::automatic, ExponentialMethod::taylor}) {
      const ExponentialOptions options{
          .method = method, .tolerance = 100 * epsilon, .autotune = false};
      solvers::MatrixExponential<V, std::int32_t> alone(whole, options);
      const auto v = solvers::random_rows<V>(whole.rows(), 1, 3);
      for (const Partition& rows :
           {Partition::even(whole.rows(), ranks.size()), uneven(whole.rows(), ranks.size())}) {
        MatrixExponential<V> exponential(ranks, cut(ranks, whole, rows, rows), options,
                                         {.depth = 3, .network = &kSomeNetwork});
        EXPECT_EQ(exponential.hermitian(), symmetric);
        const auto own = own_part(ranks, v, rows);
        const bool few = method != ExponentialMethod::automatic || is_complex<V>;
        for (int k = 0; k <= (few ? 1 : 2); ++k) {
          SCOPED_TRACE(testing::Message() << name_of(method) << ", φ_" << k);
          std::vector<V> expected(v.size()), found(own.size());
          const ExponentialResult one = alone.phi(k, -0.3, v, expected);
          const ExponentialResult all = exponential.phi(k, -0.3, own, found);
          EXPECT_EQ(all.status, one.status) << all.message;
          EXPECT_EQ(all.method, one.method);
          EXPECT_EQ(all.steps, one.steps);
          EXPECT_NEAR(all.degree, one.degree, 1);
          const auto whole_found = gathered(ranks, found);
          ASSERT_EQ(whole_found.size(), expected.size());
          for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_LE(std::abs(whole_found[i] - expected[i]), 1000 * epsilon);
          }
        }
        if constexpr (is_complex<V>) {
          std::vector<V> expected(v.size()), found(own.size());
          alone.apply_imaginary(0.4, v, expected);
          exponential.apply_imaginary(0.4, own, found);
          const auto whole_found = gathered(ranks, found);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_LE(std::abs(whole_found[i] - expected[i]), 1000 * epsilon);
          }
        }
      }
    }
  }
}

// Sweeps of a step are exchanges of messages and nothing else.
TEST(DistributedExponential, StepsSumUpOnceAndSweepsSendOnce) {
  const Communicator ranks(MPI_COMM_WORLD);
  const auto whole = hermitian<double>("stencil5:30x40");
  const auto rows = Partition::even(whole.rows(), ranks.size());
  const ExponentialOptions options{
      .method = ExponentialMethod::chebyshev, .most_degree = 8, .autotune = false};
  MatrixExponential<double> exponential(ranks, cut(ranks, whole, rows, rows), options,
                                        {.depth = 4, .network = &kSomeNetwork});
  exponential.bounds();
  const auto v = own_part(ranks, solvers::random_rows<double>(whole.rows(), 1, 3), rows);
  std::vector<double> y(v.size());
  exponential.apply(-0.5, v, y);  // plans
  const Traffic before = ranks.traffic();
  const ExponentialResult result = exponential.apply(-0.5, v, y);
  const Traffic traffic = ranks.traffic() - before;
  EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
  ASSERT_EQ(result.degree, 8);
  ASSERT_GT(result.steps, 1);
  // Whether v and the result are finite, and v not 0.
  EXPECT_EQ(traffic.reductions, result.steps + 3);
  const Offset neighbours = (ranks.rank() > 0 ? 1 : 0) + (ranks.rank() + 1 < ranks.size() ? 1 : 0);
  EXPECT_EQ(traffic.messages, neighbours * 2 * result.steps);
}

TEST(DistributedExponential, RanksRefuseAndStopTogether) {
  const Communicator ranks(MPI_COMM_WORLD);
  const auto whole = lopsided<double>("stencil5:9x8");
  const auto rows = Partition::even(whole.rows(), ranks.size());
  const auto matrix = cut(ranks, whole, rows, rows);
  EXPECT_THROW(MatrixExponential<double>(ranks, matrix, {.method = ExponentialMethod::chebyshev}),
               InvalidArgument);
  const auto infinite = changed(whole, [&](std::int32_t row, std::int32_t column, double value) {
    return row == column && row + 1 == whole.rows() ? std::numeric_limits<double>::infinity()
                                                    : value;
  });
  EXPECT_THROW(MatrixExponential<double>(ranks, cut(ranks, infinite, rows, rows)), InvalidArgument);
  const bool last = ranks.rank() + 1 == ranks.size();
  ExponentialOptions options{.most_degree = 4, .autotune = false};
  if (last) options.progress = [](int step, int) { return step < 2; };
  MatrixExponential<double> exponential(ranks, matrix, options,
                                        {.depth = 2, .network = &kSomeNetwork});
  std::vector<double> v(static_cast<std::size_t>(matrix.local.rows()), 1.0), y(v.size());
  const ExponentialResult stopped = exponential.apply(-5, v, y);
  EXPECT_EQ(stopped.status, SolveStatus::stopped);
  EXPECT_NEAR(stopped.time, -5.0 * 2 / stopped.steps, 1e-12);
  if (last && !v.empty()) v[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(exponential.apply(-5, v, y).status, ranks.max(v.empty() || !last ? 0.0 : 1.0) > 0
                                                    ? SolveStatus::not_finite
                                                    : SolveStatus::stopped);
}

}  // namespace
}  // namespace strata::distributed

// Other libraries compute the same products, with and without a factor.

#include "strata/measure/peers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "tests/measure/support.hpp"

namespace strata::test {
namespace {

template <class V>
class Peers : public testing::Test {};
TYPED_TEST_SUITE(Peers, AllValues);

template <Value V>
void expect_product(const Peer<V>& peer, const Matrix<V>& matrix, V alpha) {
  const auto x = random_vector<V>(matrix.cols(), 1);
  std::vector<V> y(static_cast<std::size_t>(matrix.rows()));
  poison<V>(y);
  peer.multiply(alpha, x, y);
  const Check check = check_step(matrix, {.alpha = alpha}, x, {}, y);
  EXPECT_TRUE(check.passed) << check.explain();
}

template <Value V>
void expect_products(const Matrix<V>& matrix) {
  for (const Peer<V>& peer : make_peers(matrix)) {
    SCOPED_TRACE(peer.name);
    ASSERT_NE(peer.multiply == nullptr, peer.refusal == nullptr);
    if (peer.refusal) {
      EXPECT_THROW(std::rethrow_exception(peer.refusal), Unavailable);
      continue;
    }
    EXPECT_GE(peer.bytes, matrix.nnz() * Offset{sizeof(V)});
    EXPECT_GE(peer.threads, 1);
    expect_product(peer, matrix, V{1});
    expect_product(peer, matrix, number<V>(-0.5));
  }
}

TYPED_TEST(Peers, MultiplyAsTheReferenceDoes) {
  using V = TypeParam;
  expect_products(grid<V>(9, 7));
  for (const auto& [name, entries] : awkward_matrices<V, std::int32_t>()) {
    SCOPED_TRACE(name);
    expect_products<V>(entries.to_csr());
  }
}

TYPED_TEST(Peers, SolveDefiniteSystemsWhereTheyCan) {
  using V = TypeParam;
  using Real = decltype(std::abs(V()));
  const auto matrix = generate<V, std::int32_t>("stencil5:20x15");
  const auto b = random_vector<V>(matrix.rows(), 3);
  const double tolerance = 100.0 * std::numeric_limits<Real>::epsilon();
  int solvers = 0;
  for (const Peer<V>& peer : make_peers(matrix)) {
    if (!peer.conjugate_gradients) continue;
    SCOPED_TRACE(peer.name);
    ++solvers;
    std::vector<V> x(b.size(), V{}), ax(b.size());
    const PeerSolution solution = peer.conjugate_gradients(b, x, tolerance, 1000);
    EXPECT_TRUE(solution.converged);
    EXPECT_GT(solution.iterations, 10);
    reference::spmv(matrix, V{1}, x, V{}, ax);
    double left = 0, whole = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      left += std::norm(b[i] - ax[i]);
      whole += std::norm(b[i]);
    }
    EXPECT_LE(std::sqrt(left / whole), 10 * tolerance);
    EXPECT_FALSE(peer.conjugate_gradients(b, x, tolerance, 2).converged);
  }
  EXPECT_GE(solvers, 1) << "Eigen has conjugate gradients";
}

TYPED_TEST(Peers, EveryLibraryTakesPartOrSaysWhyNot) {
  using V = TypeParam;
  const auto matrix = grid<V>(9, 7);
  const auto peers = make_peers(matrix);
  for (const std::string& library : peer_names()) {
    EXPECT_TRUE(std::ranges::any_of(peers, [&](const Peer<V>& peer) {
      return peer.name.starts_with(library + " ");
    })) << library;
  }
}

}  // namespace
}  // namespace strata::test

// Other libraries compute the same products, with and without a factor.

#include "strata/measure/peers.hpp"

#include <algorithm>

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

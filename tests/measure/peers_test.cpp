// Other libraries compute the same products, with and without a factor.

#include "strata/measure/peers.hpp"

#include "tests/measure/support.hpp"

namespace strata::test {
namespace {

template <class V>
class Peers : public testing::Test {};
TYPED_TEST_SUITE(Peers, AllValues);

TYPED_TEST(Peers, MultiplyAsTheReferenceDoes) {
  using V = TypeParam;
  const auto matrix = grid<V>(9, 7);
  const std::vector<V> x(63, number<V>(1.25));
  const auto peers = make_peers(matrix);
  EXPECT_EQ(peers.size(), peer_names().size());
  for (const Peer<V>& peer : peers) {
    SCOPED_TRACE(peer.name);
    EXPECT_GT(peer.bytes, matrix.nnz() * Offset{sizeof(V)});
    EXPECT_GE(peer.threads, 1);
    for (const V alpha : {number<V>(1), number<V>(-0.5)}) {
      std::vector<V> y(63);
      poison<V>(y);
      peer.multiply(alpha, x, y);
      const Check check = check_step(matrix, {.alpha = alpha}, x, {}, y);
      EXPECT_TRUE(check.passed) << check.explain();
    }
  }
}

}  // namespace
}  // namespace strata::test

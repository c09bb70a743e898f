// Random vectors and poison.

#include "strata/measure/vectors.hpp"

#include <cmath>
#include <limits>

#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "tests/measure/support.hpp"

namespace strata::test {
namespace {

template <class V>
class Vectors : public testing::Test {};
TYPED_TEST_SUITE(Vectors, AllValues);

TYPED_TEST(Vectors, RandomOnesAreTheNumbersOfTheirSeed) {
  using V = TypeParam;
  using Real = decltype(std::abs(V{}));
  const Array<V> vector = strata::random_vector<V>(10000, 7);
  ASSERT_EQ(vector.size(), 10000U);
  for (std::size_t i = 0; i < vector.size(); ++i) {
    ASSERT_EQ(std::real(vector[i]), static_cast<Real>(Random(7, 0).uniform(i, -1, 1)));
    if constexpr (is_complex<V>) {
      ASSERT_EQ(std::imag(vector[i]), static_cast<Real>(Random(7, 1).uniform(i, -1, 1)));
    }
  }
}

TYPED_TEST(Vectors, PoisonIsNanEverywhereAndKnownAgain) {
  using V = TypeParam;
  using Real = decltype(std::abs(V{}));
  std::vector<V> vector(10000, V{1});
  poison<V>(vector);
  for (const V number : vector) {
    ASSERT_TRUE(std::isnan(std::real(number)));
    if constexpr (is_complex<V>) {
      ASSERT_TRUE(std::isnan(std::imag(number)));
    }
    ASSERT_TRUE(is_poison(number));
  }
  EXPECT_FALSE(is_poison(V{}));
  EXPECT_FALSE(is_poison(V{1}));
  EXPECT_FALSE(is_poison(V(std::numeric_limits<Real>::quiet_NaN())));
  EXPECT_FALSE(is_poison(V(std::numeric_limits<Real>::infinity())));
}

TEST(Vectors, EmptyOnesStayEmpty) {
  EXPECT_TRUE(strata::random_vector<double>(0, 1).empty());
  poison(std::span<double>());
}

}  // namespace
}  // namespace strata::test

#include "strata/formats/coo.hpp"

#include <gtest/gtest.h>

#include "strata/base/parallel.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <class T>
class CooTyped : public testing::Test {};
TYPED_TEST_SUITE(CooTyped, test::AllTypes);

TYPED_TEST(CooTyped, ProductOfDuplicatesAndUnsortedEntriesIsThatOfTheirSum) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    test::expect_product(entries, entries.to_csr(), V{1}, V{}, entries.all_rows());
  }
}

using Entries = Coo<double, std::int32_t>;

TEST(Coo, RefusesEntriesOutsideTheMatrix) {
  EXPECT_THROW(Entries(2, 2, {0, 2}, {0, 0}, {1, 1}), InvalidMatrix);
  EXPECT_THROW(Entries(2, 2, {0, 1}, {0, -1}, {1, 1}), InvalidMatrix);
  EXPECT_THROW(Entries(2, 2, {0, 1}, {0}, {1, 1}), InvalidMatrix);
  EXPECT_THROW(Entries(-1, 2, {}, {}, {}), InvalidMatrix);
}

TEST(Coo, ExpandsSymmetriesWithoutDoublingTheDiagonal) {
  using Complex = std::complex<double>;
  const Coo<Complex, std::int32_t> half(2, 2, {0, 1}, {0, 0}, {Complex(3, 0), Complex(1, 2)});
  const auto at_01 = [&](Symmetry symmetry) { return half.to_csr(symmetry).values()[1]; };
  EXPECT_EQ(half.to_csr(Symmetry::symmetric).nnz(), 3);
  EXPECT_EQ(half.to_csr(Symmetry::symmetric).values()[0], Complex(3, 0));
  EXPECT_EQ(at_01(Symmetry::symmetric), Complex(1, 2));
  EXPECT_EQ(at_01(Symmetry::skew_symmetric), Complex(-1, -2));
  EXPECT_EQ(at_01(Symmetry::hermitian), Complex(1, -2));
  EXPECT_THROW(Entries(2, 3, {}, {}, {}).to_csr(Symmetry::symmetric), InvalidMatrix);
}

TEST(Coo, TheSumOfDuplicatesDoesNotDependOnTheNumberOfThreads) {
  // 1e16 + 1 + … − 1e16 gives another result in every order of summation.
  test::Entries<double, std::int32_t> list(100, 100, 3);
  const Random random(11);
  for (int k = 0; k < 20000; ++k) {
    list.add(static_cast<Offset>(random.below(3 * k, 100)),
             static_cast<Offset>(random.below(3 * k + 1, 10)),
             random.uniform(3 * k + 2, -1e16, 1e16));
  }
  set_thread_count(1);
  const auto serial = list.coo().to_csr();
  set_thread_count(5);
  const auto parallel = list.coo().to_csr();
  set_thread_count(0);
  EXPECT_EQ(serial, parallel);
}

}  // namespace
}  // namespace strata

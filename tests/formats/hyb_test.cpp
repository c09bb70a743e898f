#include "strata/formats/hyb.hpp"

#include <gtest/gtest.h>

#include "strata/formats/hyb_rules.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <class T>
class HybTyped : public testing::Test {};
TYPED_TEST_SUITE(HybTyped, test::AllTypes);

TYPED_TEST(HybTyped, MatchesEigenForAnyWidth) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const Offset width : {kAutomaticWidth, Offset{0}, Offset{1}, Offset{3}, Offset{1} << 40}) {
    SCOPED_TRACE(testing::Message() << "width " << width);
    const HybOptions options{.width = width, .max_fill = 1e9};
    test::expect_format_works<V, I>(
        [&](const Csr<V, I>& csr) { return test::build<Hyb<V, I>>(csr, options); });
  }
}

TYPED_TEST(HybTyped, AutomaticWidthNeedsTheFewestBytes) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    const Offset chosen = Hyb<V, I>::footprint_of(csr).bytes();
    for (Offset width = 0; width <= 50; ++width) {
      EXPECT_LE(chosen, (Hyb<V, I>::footprint_of(csr, {.width = width}).bytes()))
          << "width " << width;
    }
  }
}

using Matrix = Hyb<double, std::int32_t>;

TEST(Hyb, OneFullRowDoesNotPadTheOthers) {
  test::Entries<double, std::int32_t> entries(1000, 1000, 1);
  for (int i = 0; i < 1000; ++i) entries.add(i, i);
  for (int j = 0; j < 1000; ++j) entries.add(500, j);
  const auto csr = entries.coo().to_csr();
  const Matrix hyb = Matrix::from_csr(csr);
  EXPECT_EQ(hyb.width(), 1);
  EXPECT_EQ(hyb.rest().nnz(), 999);
  EXPECT_EQ(hyb.footprint().fill(), 1.0);
  EXPECT_EQ(hyb.footprint().bytes(), 1000 * 12 + 999 * 16);
}

// A row of each length 0 … 99, in some order.
Csr<double, std::int32_t> rows_of_every_length() {
  test::Entries<double, std::int32_t> entries(100, 100, 1);
  for (int row = 0; row < 100; ++row) {
    for (int j = 0; j < row * 37 % 100; ++j) entries.add(row, j);
  }
  return entries.coo().to_csr();
}

// Q(x) is the smallest t with x < F(t); here F(t) = (t + 1) %.
TEST(HybRules, HybridIsTheQuantileOfThePaper) {
  const auto csr = rows_of_every_length();
  EXPECT_EQ(hybrid_width(csr.pattern(), 0), 0);
  EXPECT_EQ(hybrid_width(csr.pattern(), 1), 1);
  EXPECT_EQ(hybrid_width(csr.pattern(), 33), 33);
  EXPECT_EQ(hybrid_width(csr.pattern()), 33);
  EXPECT_EQ(hybrid_width(csr.pattern(), 99), 99);
  EXPECT_EQ(hybrid_width(csr.pattern(), 100), 99);
  EXPECT_THROW(hybrid_width(csr.pattern(), 101), InvalidArgument);
  EXPECT_THROW(hybrid_width(csr.pattern(), -1), InvalidArgument);
}

TEST(HybRules, MinstorageIsAQuarterOfTheRowsForDoubles) {
  const auto csr = rows_of_every_length();
  EXPECT_EQ(minstorage_width(csr.pattern(), sizeof(double)), 25);
  EXPECT_EQ(minstorage_width(csr.pattern(), sizeof(float)), 33);
  // 16 bytes and indices of 4: a sixth, the 17th row.
  EXPECT_EQ(minstorage_width(csr.pattern(), sizeof(std::complex<double>)), 16);
  EXPECT_EQ(Matrix::footprint_of(csr, {.minstorage = 1}).bytes(),
            Matrix::footprint_of(csr).bytes());
}

TEST(HybRules, HybridlimitIsAtMostATenThousandthOfTheRows) {
  test::Entries<double, std::int32_t> entries(29'999, 40, 1);
  for (int row = 0; row < 29'999; ++row) {
    for (int j = 0; j < 1 + row % 5; ++j) entries.add(row, j);
  }
  const auto csr = entries.coo().to_csr();
  EXPECT_EQ(hybrid_width(csr.pattern(), 20), 1);
  EXPECT_EQ(hybrid_width(csr.pattern(), 21), 2);
  EXPECT_EQ(hybridlimit_width(csr.pattern(), 21), 2);
  EXPECT_EQ(hybrid_width(csr.pattern(), 90), 5);
  EXPECT_EQ(hybridlimit_width(csr.pattern(), 90), 2);
  EXPECT_EQ(hybridlimit_width(rows_of_every_length().pattern()), 0);
  EXPECT_EQ(Matrix::from_csr(csr, {.hybrid = 90}).width(), 5);
  EXPECT_EQ(Matrix::from_csr(csr, {.hybridlimit = 90}).width(), 2);
}

TEST(HybRules, EmptyMatricesHaveNoWidth) {
  const Csr<double, std::int32_t> none(0, 0, {0}, {}, {});
  const Csr<double, std::int32_t> empty(3, 3, {0, 0, 0, 0}, {}, {});
  for (const auto* csr : {&none, &empty}) {
    EXPECT_EQ(hybrid_width(csr->pattern(), 100), 0);
    EXPECT_EQ(hybridlimit_width(csr->pattern()), 0);
    EXPECT_EQ(minstorage_width(csr->pattern(), 8), 0);
  }
}

TEST(Hyb, HasOneRuleForItsWidth) {
  const Csr<double, std::int32_t> csr(3, 3, {0, 3, 3, 3}, {0, 1, 2}, {1, 2, 3});
  EXPECT_THROW(Matrix::from_csr(csr, {.width = 1, .hybrid = 33}), InvalidArgument);
  EXPECT_THROW(Matrix::from_csr(csr, {.hybrid = 33, .hybridlimit = 33}), InvalidArgument);
  EXPECT_THROW(Matrix::from_csr(csr, {.hybrid = 101}), InvalidArgument);
}

TEST(Hyb, RefusesBadOptionsAndHopelessFill) {
  const Csr<double, std::int32_t> csr(3, 3, {0, 3, 3, 3}, {0, 1, 2}, {1, 2, 3});
  EXPECT_THROW(Matrix::from_csr(csr, {.width = -2}), InvalidArgument);
  EXPECT_THROW(Matrix::from_csr(csr, {.width = 3, .max_fill = 2.9}), InvalidArgument);
}

TEST(Hyb, TakesPartsThatContinueEachOtherAndNamesTheRowThatDoesNot) {
  const Ell<double, std::int32_t> ell(3, 4, 1, {1, 0, 1}, {1, 0, 2}, {1, 0, 2});
  EXPECT_EQ(Matrix(ell, {3, 4, {0, 1, 2}, {2, 0, 3}, {5, 6, 7}}).to_csr(),
            (Csr<double, std::int32_t>(3, 4, {0, 2, 3, 5}, {1, 2, 0, 2, 3}, {1, 5, 6, 2, 7})));
  const auto expect_refused = [&](Coo<double, std::int32_t> rest, const std::string& message) {
    test::expect_invalid([&] { Matrix(ell, rest); }, message);
  };
  expect_refused({3, 3, {}, {}, {}}, "an ELLPACK part of 3 x 4 has a rest of 3 x 3");
  expect_refused({3, 4, {1, 0}, {2, 2}, {5, 6}}, "row 0: the rest goes back to it after row 1");
  expect_refused({3, 4, {2}, {2}, {5}}, "row 2: columns 2 and 2 are not in increasing order");
  expect_refused({3, 4, {0, 0}, {3, 2}, {5, 6}},
                 "row 0: columns 3 and 2 are not in increasing order");
}

}  // namespace
}  // namespace strata

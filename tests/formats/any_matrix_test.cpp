#include "strata/formats/any_matrix.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/matrices.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

constexpr Precision kAllPrecisions[] = {Precision::double_real, Precision::single_real,
                                        Precision::double_complex, Precision::single_complex};

template <Value V, Index I>
Csr<V, I> small_matrix() {
  return Csr<V, I>(2, 3, {0, 2, 3}, {0, 2, 1}, {V{1}, V{2}, V{3}});
}

template <class T>
class AnyMatrixTyped : public testing::Test {};
TYPED_TEST_SUITE(AnyMatrixTyped, test::AllTypes);

TYPED_TEST(AnyMatrixTyped, KnowsItsTypes) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const AnyMatrix matrix = small_matrix<V, I>();
  EXPECT_EQ(precision_of(matrix), precision_of<V>());
  EXPECT_EQ(index_bits_of(matrix), static_cast<int>(8 * sizeof(I)));
  // The types that the description stands for are those that were described.
  const bool same = with_types(precision_of(matrix), index_bits_of(matrix), []<Value W, Index J>() {
    return std::is_same_v<V, W> && std::is_same_v<I, J>;
  });
  EXPECT_TRUE(same);
}

TYPED_TEST(AnyMatrixTyped, ConvertsToAllTypesAsTheTypedConversionDoes) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const AnyMatrix matrix = small_matrix<V, I>();
  for (const Precision precision : kAllPrecisions) {
    for (const int bits : {32, 64}) {
      const AnyMatrix result = converted_to(matrix, precision, bits);
      EXPECT_EQ(precision_of(result), precision);
      EXPECT_EQ(index_bits_of(result), bits);
      const AnyMatrix expected = with_types(precision, bits, []<Value W, Index J>() {
        return AnyMatrix(converted<W, J>(small_matrix<V, I>()));
      });
      EXPECT_EQ(result, expected);
    }
  }
}

TEST(AnyMatrix, PrecisionsHaveTheNamesOfTheCommand) {
  EXPECT_EQ(name_of(Precision::double_real), "double");
  EXPECT_EQ(name_of(Precision::single_real), "single");
  EXPECT_EQ(name_of(Precision::double_complex), "complex-double");
  EXPECT_EQ(name_of(Precision::single_complex), "complex-single");
  for (const Precision precision : kAllPrecisions) {
    EXPECT_EQ(precision_named(name_of(precision)), precision);
  }
  EXPECT_EQ(precision_named("half"), std::nullopt);
  EXPECT_EQ(precision_named(""), std::nullopt);
}

TEST(AnyMatrix, ThatHasTheTypesIsPassedOnWithoutACopy) {
  AnyMatrix matrix = small_matrix<double, std::int32_t>();
  const auto values_of = [](const AnyMatrix& any) {
    return std::get<Csr<double, std::int32_t>>(any).values().data();
  };
  const double* values = values_of(matrix);
  matrix = converted_to(std::move(matrix), Precision::double_real, 32);
  EXPECT_EQ(values_of(matrix), values);
}

TEST(AnyMatrix, HoldsBorrowedArrays) {
  const std::vector<Offset> offsets{0, 1};
  const std::vector<std::int64_t> columns{0};
  const std::vector<float> values{2};
  const AnyMatrix matrix = Csr<float, std::int64_t>::borrow(1, 1, offsets, columns, values);
  EXPECT_TRUE(std::visit([](const auto& csr) { return csr.borrows(); }, matrix));
  const AnyMatrix copy = matrix;
  EXPECT_FALSE(std::visit([](const auto& csr) { return csr.borrows(); }, copy));
  EXPECT_EQ(copy, matrix);
}

TEST(AnyMatrix, TypesThatDoNotExistAndValuesThatDoNotFitAreRefused) {
  using Complex = std::complex<double>;
  const AnyMatrix complex = Csr<Complex, std::int32_t>(1, 1, {0, 1}, {0}, {Complex(1, 2)});
  EXPECT_THROW(converted_to(complex, Precision::double_complex, 16), InvalidArgument);
  EXPECT_THROW(with_types(Precision::double_real, 0, []<Value V, Index I>() { return 0; }),
               InvalidArgument);
  EXPECT_THROW(converted_to(complex, Precision::single_real, 32), InvalidMatrix);
  const AnyMatrix wide = Csr<double, std::int64_t>(Offset{1}, Offset{1} << 31, {0, 1}, {5}, {1.0});
  EXPECT_THROW(converted_to(wide, Precision::double_real, 32), OverflowError);
}

}  // namespace
}  // namespace strata

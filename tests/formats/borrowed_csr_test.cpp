// Matrices over arrays of somebody else: they are the matrices that own the same arrays, nothing is
// copied that the header does not name, and what outlives the arrays does not need them.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/formats/bcsr.hpp"
#include "strata/formats/csc.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/dia.hpp"
#include "strata/formats/ell.hpp"
#include "strata/formats/hyb.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/sell.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/order/levels.hpp"
#include "strata/plans/power_plan.hpp"
#include "tests/machine/support.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

// Arrays as another program would have them, each an allocation of exactly its size, so that
// AddressSanitizer sees whoever reads beyond.
template <class O, Value V, Index I>
struct Lender {
  I rows = 0;
  I cols = 0;
  std::vector<O> offsets = {};
  std::vector<I> columns = {};
  std::vector<V> values = {};
  IndexBase base = IndexBase::zero;

  Csr<V, I> lend() const { return Csr<V, I>::borrow(rows, cols, offsets, columns, values, base); }
};

template <class O, Value V, Index I>
Lender<O, V, I> lender_of(const Csr<V, I>& csr, IndexBase base) {
  Lender<O, V, I> lender{.rows = csr.rows(), .cols = csr.cols(), .base = base};
  const int first = static_cast<int>(base);
  for (const Offset offset : csr.row_offsets()) {
    lender.offsets.push_back(static_cast<O>(offset + first));
  }
  for (const I column : csr.columns()) lender.columns.push_back(column + static_cast<I>(first));
  lender.values.assign(csr.values().begin(), csr.values().end());
  return lender;
}

// check(lender) for both widths of offsets and both bases.
template <Value V, Index I, class Check>
void for_each_lender(const Csr<V, I>& csr, Check&& check) {
  for (const IndexBase base : {IndexBase::zero, IndexBase::one}) {
    SCOPED_TRACE(testing::Message() << "base " << static_cast<int>(base));
    check(lender_of<std::int32_t>(csr, base));
    check(lender_of<Offset>(csr, base));
  }
}

template <class Format, Value V, Index I, class... Options>
void expect_same_format(const Csr<V, I>& borrowed, const Csr<V, I>& owned,
                        const Options&... options) {
  const Format format = Format::from_csr(borrowed, options...);
  EXPECT_EQ(format.footprint(), Format::from_csr(owned, options...).footprint());
  EXPECT_EQ(format.to_csr(), owned);
}

template <class T>
class BorrowedCsrTyped : public testing::Test {};
TYPED_TEST_SUITE(BorrowedCsrTyped, test::AllTypes);

TYPED_TEST(BorrowedCsrTyped, IsTheMatrixThatOwnsTheSameArrays) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  constexpr double any = 1e9;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const auto owned = entries.to_csr();
    for_each_lender(owned, [&](const auto& lender) {
      const auto borrowed = lender.lend();
      EXPECT_EQ(borrowed, owned);
      EXPECT_EQ(borrowed.footprint(), owned.footprint());
      EXPECT_EQ(statistics_of(borrowed), statistics_of(owned));
      if (owned.rows() == owned.cols()) {
        EXPECT_EQ(find_levels(borrowed.pattern()), find_levels(owned.pattern()));
      }
      EXPECT_EQ(transposed(borrowed), transposed(owned));
      EXPECT_EQ((converted<std::complex<double>, std::int64_t>(borrowed)),
                (converted<std::complex<double>, std::int64_t>(owned)));
      test::expect_matches_csr(borrowed, owned);
      expect_same_format<Coo<V, I>>(borrowed, owned);
      expect_same_format<Csc<V, I>>(borrowed, owned);
      expect_same_format<Ell<V, I>>(borrowed, owned, EllOptions{.max_fill = any});
      expect_same_format<Hyb<V, I>>(borrowed, owned);
      expect_same_format<Bcsr<V, I>>(borrowed, owned, BcsrOptions{.max_fill = any});
      expect_same_format<Dia<V, I>>(borrowed, owned, DiaOptions{.max_fill = any});
      expect_same_format<Sell<V, I>>(borrowed, owned, SellOptions{.max_fill = any});
      expect_same_format<PackedSell<V, I>>(borrowed, owned, PackedSellOptions{.max_fill = any});
    });
  }
}

TYPED_TEST(BorrowedCsrTyped, CopiesNothingButWhatTheWidthAndTheBaseDemand) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const Csr<V, I> owned(2, 3, {0, 2, 3}, {0, 2, 1}, {V{1}, V{2}, V{3}});
  for_each_lender(owned, [&]<class O>(const Lender<O, V, I>& lender) {
    const auto borrowed = lender.lend();
    const bool from_zero = lender.base == IndexBase::zero;
    const void* offsets = borrowed.row_offsets().data();
    EXPECT_EQ(offsets == lender.offsets.data(), from_zero && sizeof(O) == sizeof(Offset));
    EXPECT_EQ(borrowed.columns().data() == lender.columns.data(), from_zero);
    EXPECT_EQ(borrowed.values().data(), lender.values.data());
    EXPECT_TRUE(borrowed.borrows());
  });
  EXPECT_FALSE(owned.borrows());
}

using Matrix = Csr<double, std::int32_t>;

Matrix small_matrix() {
  return Matrix(2, 3, {0, 2, 3}, {0, 2, 1}, {1, 2, 3});
}

TEST(BorrowedCsr, ACopyOwnsItsArraysAndOutlivesTheCallers) {
  const Matrix owned = small_matrix();
  for_each_lender(owned, [&](const auto& arrays) {
    auto lender = std::make_unique<std::decay_t<decltype(arrays)>>(arrays);
    Matrix assigned;
    const Matrix borrowed = lender->lend();
    Matrix copy = borrowed;
    assigned = borrowed;
    lender.reset();
    for (Matrix* matrix : {&copy, &assigned}) {
      EXPECT_FALSE(matrix->borrows());
      EXPECT_EQ(*matrix, owned);
      matrix->mutable_values()[0] = 7;
      EXPECT_EQ(matrix->values()[0], 7);
    }
  });
}

TEST(BorrowedCsr, MovingCopiesNothing) {
  for_each_lender(small_matrix(), [&](const auto& lender) {
    Matrix borrowed = lender.lend();
    const auto* columns = borrowed.columns().data();
    Matrix moved = std::move(borrowed);
    Matrix assigned;
    assigned = std::move(moved);
    EXPECT_TRUE(assigned.borrows());
    EXPECT_EQ(assigned.columns().data(), columns);
    EXPECT_EQ(assigned.values().data(), lender.values.data());
    EXPECT_EQ(assigned, small_matrix());
  });
  Matrix owned = small_matrix();
  const double* values = owned.values().data();
  Matrix moved = std::move(owned);
  EXPECT_EQ(moved.values().data(), values);
  EXPECT_EQ(moved.mutable_values().data(), values);
}

TEST(BorrowedCsr, AssigningAMatrixToItselfChangesNothing) {
  const auto lender = lender_of<Offset>(small_matrix(), IndexBase::zero);
  Matrix borrowed = lender.lend();
  const Matrix& same = borrowed;
  borrowed = same;
  EXPECT_EQ(borrowed, small_matrix());
  Matrix owned = small_matrix();
  const Matrix& itself = owned;
  owned = itself;
  EXPECT_EQ(owned, small_matrix());
}

TEST(BorrowedCsr, ValuesCannotBeChangedThroughIt) {
  for_each_lender(small_matrix(), [&](const auto& lender) {
    Matrix borrowed = lender.lend();
    EXPECT_THROW(borrowed.mutable_values(), InvalidArgument);
    EXPECT_EQ(borrowed, small_matrix());
  });
}

TEST(BorrowedCsr, TheEmptyMatrixCanBeBorrowed) {
  const std::vector<std::int32_t> offsets{0};
  EXPECT_EQ(Matrix::borrow(0, 0, offsets, {}, {}), Matrix());
  const std::vector<std::int32_t> from_one(4, 1);
  EXPECT_EQ(Matrix::borrow(3, 2, from_one, {}, {}, IndexBase::one),
            Matrix(3, 2, {0, 0, 0, 0}, {}, {}));
}

TEST(BorrowedCsr, IsRefusedForTheReasonsThatOwnedArraysAre) {
  const auto expect_refused = [](std::int32_t rows, std::int32_t cols, const Array<Offset>& offsets,
                                 const Array<std::int32_t>& columns, const Array<double>& values) {
    std::string why;
    try {
      Matrix(rows, cols, offsets, columns, values);
      FAIL() << "the owned matrix is not refused";
    } catch (const InvalidMatrix& error) {
      why = error.what();
    }
    SCOPED_TRACE(why);
    for (const int base : {0, 1}) {
      std::vector<Offset> wide;
      std::vector<std::int32_t> narrow, shifted;
      for (const Offset offset : offsets) {
        wide.push_back(offset + base);
        narrow.push_back(static_cast<std::int32_t>(offset + base));
      }
      for (const std::int32_t column : columns) shifted.push_back(column + base);
      const auto counting_from = static_cast<IndexBase>(base);
      test::expect_invalid(
          [&] { Matrix::borrow(rows, cols, wide, shifted, values, counting_from); }, why);
      test::expect_invalid(
          [&] { Matrix::borrow(rows, cols, narrow, shifted, values, counting_from); }, why);
    }
  };
  expect_refused(1, 1, {0}, {}, {});
  expect_refused(1, 1, {}, {}, {});
  expect_refused(1, 1, {0, 1}, {0}, {});
  expect_refused(1, 1, {1, 1}, {0}, {1});
  expect_refused(1, 1, {0, 2}, {0}, {1});
  expect_refused(2, 1, {0, 2, 1}, {0}, {1});
  expect_refused(2, 1, {0, -1, 1}, {0}, {1});
  expect_refused(1, 1, {0, 1}, {1}, {1});
  expect_refused(1, 1, {0, 1}, {-1}, {1});
  expect_refused(1, 3, {0, 2}, {1, 1}, {1, 1});
  expect_refused(3, 3, {0, 1, 3, 3}, {0, 2, 1}, {1, 1, 1});
  expect_refused(-1, 3, {0}, {}, {});
}

// One less than the smallest number does not exist.
TEST(BorrowedCsr, NumbersFarBelowTheBaseAreRefusedToo) {
  constexpr auto lowest = std::numeric_limits<std::int32_t>::min();
  constexpr auto lowest_offset = std::numeric_limits<Offset>::min();
  const std::vector<Offset> offsets{1, 2};
  const std::vector<double> values{1};
  const auto borrow = [&](const std::vector<Offset>& from, const std::vector<std::int32_t>& of) {
    return Matrix::borrow(static_cast<std::int32_t>(from.size()) - 1,
                          std::numeric_limits<std::int32_t>::max(), from, of, values,
                          IndexBase::one);
  };
  EXPECT_NO_THROW(borrow(offsets, {1}));
  EXPECT_THROW(borrow(offsets, {lowest}), InvalidMatrix);
  EXPECT_THROW(borrow(offsets, {0}), InvalidMatrix);
  EXPECT_THROW(borrow({lowest_offset, 2}, {1}), InvalidMatrix);
  EXPECT_THROW(borrow({1, lowest_offset}, {1}), InvalidMatrix);
  EXPECT_THROW(borrow({1, lowest_offset, 2}, {1}), InvalidMatrix);
}

// Enough rows that the checks are really split among threads.
TEST(BorrowedCsr, IsCheckedByAllThreads) {
  constexpr std::int32_t n = 20000;
  auto lender = lender_of<std::int32_t>(Matrix(), IndexBase::one);
  lender.rows = lender.cols = n;
  for (std::int32_t row = 0; row < n; ++row) {
    lender.offsets.push_back(row + 2);
    lender.columns.push_back(row + 1);
    lender.values.push_back(row);
  }
  for (const int threads : {1, 4}) {
    const ThreadCountScope scope(threads);
    EXPECT_EQ(lender.lend().nnz(), n);
    lender.columns[17000] = n + 1;
    test::expect_invalid([&] { lender.lend(); }, "row 17000: column 20000 is outside 0 … 19999");
    lender.columns[17000] = 17001;
  }
}

TEST(BorrowedCsr, PlansOutliveTheArrays) {
  const MachineProfile machine = test::imaginary_machine();
  constexpr std::int32_t n = 200;
  test::Entries<double, std::int32_t> entries(n, n, 1);
  for (std::int32_t row = 0; row < n; ++row) {
    for (std::int32_t column : {row - 1, row, row + 3}) {
      if (column >= 0 && column < n) entries.add(row, column);
    }
  }
  const Matrix owned = entries.coo().to_csr();
  const std::vector<double> x = test::random_vector<double>(n, 1);
  const auto powers_of = [&](const auto& plan) {
    std::vector<double> powers(3 * x.size());
    auto workspace = plan.make_workspace();
    plan.apply(x, powers, workspace);
    return powers;
  };
  for (const PowerStrategy strategy : {PowerStrategy::spmv, PowerStrategy::levels}) {
    for (const Format format : {Format::csr, Format::sell, Format::packed_sell}) {
      SCOPED_TRACE(testing::Message() << name_of(strategy) << " " << name_of(format));
      const PowerOptions options{.power = 3,
                                 .strategy = strategy,
                                 .format = format,
                                 .autotune = false,
                                 .threads = 1,
                                 .profile = &machine};
      auto lender = std::make_unique<Lender<std::int32_t, double, std::int32_t>>(
          lender_of<std::int32_t>(owned, IndexBase::zero));
      const auto plan = plan_powers(lender->lend(), options);
      lender.reset();
      EXPECT_EQ(powers_of(plan), powers_of(plan_powers(owned, options)));
    }
  }
}

}  // namespace
}  // namespace strata

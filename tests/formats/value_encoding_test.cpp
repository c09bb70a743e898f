// The values of packed SELL in every encoding.
#include "strata/formats/value_encoding.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "strata/gen/generate.hpp"
#include "tests/support/repeated_values.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::Repeats;

template <class T>
class ValueEncodingTyped : public testing::Test {};
TYPED_TEST_SUITE(ValueEncodingTyped, test::AllTypes);

TYPED_TEST(ValueEncodingTyped, EveryBitComesBack) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    for (const Repeats repeats : test::kRepeats) {
      const Csr<V, I> csr = test::with_repeats(entries.to_csr(), repeats);
      for (const AllowedValues& allowed : test::kAllowedValues) {
        for (const Offset height : {4, 32}) {
          SCOPED_TRACE(testing::Message()
                       << name << ", repeats " << static_cast<int>(repeats) << ", set "
                       << &allowed - test::kAllowedValues << ", C = " << height);
          const auto packed = PackedSell<V, I>::from_csr(
              csr, {.slice_height = height, .sort_window = 6, .max_fill = 1e9, .values = allowed});
          const Csr<V, I> back = packed.to_csr();
          EXPECT_TRUE(std::ranges::equal(back.row_offsets(), csr.row_offsets()));
          EXPECT_TRUE(std::ranges::equal(back.columns(), csr.columns()));
          EXPECT_TRUE(test::same_bits(back.values(), csr.values()));
        }
      }
    }
  }
}

TYPED_TEST(ValueEncodingTyped, NewValuesAreEncodedAnewOnTheSameColumns) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    const Csr<V, I> csr = entries.to_csr();
    auto packed = PackedSell<V, I>::from_csr(test::with_repeats(csr, Repeats::by_offset),
                                             {.slice_height = 8, .max_fill = 1e9});
    const std::vector<SliceEncoding> encodings(packed.encodings().begin(),
                                               packed.encodings().end());
    // From few values to many and back, more than once.
    for (const Repeats repeats : {Repeats::never, Repeats::few, Repeats::special, Repeats::hundreds,
                                  Repeats::never, Repeats::one_value}) {
      SCOPED_TRACE(testing::Message() << name << ", repeats " << static_cast<int>(repeats));
      const Csr<V, I> changed = test::with_repeats(csr, repeats);
      packed.assign_values(changed);
      EXPECT_TRUE(test::same_bits(packed.to_csr().values(), changed.values()));
      EXPECT_TRUE(std::ranges::equal(packed.encodings(), encodings));
    }
  }
}

using Matrix = Csr<double, std::int32_t>;
using Packed = PackedSell<double, std::int32_t>;

Matrix stencil(std::string_view spec, Repeats repeats) {
  return test::with_repeats(generate<double, std::int32_t>(spec), repeats);
}

Offset slices_with(const Packed& packed, ValueEncoding encoding) {
  return packed.value_encoding_counts()[static_cast<std::size_t>(encoding)];
}

TEST(ValueEncoding, EachIsChosenWhereItIsTheCheapest) {
  const std::map<Repeats, ValueEncoding> expected{
      {Repeats::one_value, ValueEncoding::constant},
      {Repeats::by_offset, ValueEncoding::constant},
      {Repeats::random_diagonal, ValueEncoding::mixed},
      {Repeats::few, ValueEncoding::dict8},
      {Repeats::hundreds, ValueEncoding::dict16},
      {Repeats::few_and_diagonal, ValueEncoding::mixed},
      {Repeats::special, ValueEncoding::dict8},
      {Repeats::never, ValueEncoding::full},
  };
  // More rows than a table has values: a diagonal of its own has no codes.
  for (const auto& [repeats, encoding] : expected) {
    SCOPED_TRACE(static_cast<int>(repeats));
    const Packed packed = Packed::from_csr(stencil("stencil5:256x320", repeats));
    // But for the ends of the lines of the grid, which are in two slices of eight.
    EXPECT_GE(slices_with(packed, encoding), packed.slices() * 3 / 4 - 16);
  }
}

TEST(ValueEncoding, BytesAreCountedAsTheyAreStored) {
  for (const Repeats repeats : test::kRepeats) {
    const Matrix matrix = stencil("stencil5:64x64", repeats);
    const Packed packed = Packed::from_csr(matrix);
    const Footprint footprint = packed.footprint();
    EXPECT_EQ(footprint, Packed::footprint_of(matrix));
    Offset blocks = 0;
    for (const Offset begin : packed.code_offsets()) blocks = std::max(blocks, begin);
    EXPECT_LT(blocks, std::ssize(packed.codes()));
    EXPECT_EQ(footprint.bytes() - packed.slices() * 26 - 16,
              std::ssize(packed.codes()) + std::ssize(packed.data()) + packed.table().size() * 8);
    EXPECT_EQ(packed.bytes_before_slices().back(),
              std::ssize(packed.codes()) + std::ssize(packed.data()) + packed.slices() * 26);
  }
}

TEST(ValueEncoding, SlicesInsideAStencilShareTheirDescription) {
  const Packed packed = Packed::from_csr(generate<double, std::int32_t>("stencil7:32x32x64"));
  const std::set<Offset> blocks(packed.code_offsets().begin(), packed.code_offsets().end());
  EXPECT_EQ(packed.slices(), 2048);
  EXPECT_LT(blocks.size(), 12);
  EXPECT_LT(packed.footprint().bytes_per_entry(), 0.15);
}

TEST(ValueEncoding, NothingIsEncodedWhereThatIsNotAllowed) {
  for (const Repeats repeats : test::kRepeats) {
    const Matrix matrix = stencil("stencil5:40x40", repeats);
    const Packed packed =
        Packed::from_csr(matrix, {.values = AllowedValues::of(StoredValues::full)});
    EXPECT_TRUE(packed.has_full_values());
    EXPECT_EQ(slices_with(packed, ValueEncoding::full), packed.slices());
    EXPECT_EQ(packed.full_values().size(), packed.entry_offsets().back());
  }
  EXPECT_THROW(Packed::from_csr(stencil("stencil5:40x40", Repeats::few)).full_values(),
               InvalidArgument);
}

// Of which two thirds of the bytes would be full columns anyway.
TEST(ValueEncoding, AFewConstantsAmongFullColumnsAreNotWorthwhile) {
  const Packed packed = Packed::from_csr(generate<double, std::int32_t>("band:200000,width=7"));
  EXPECT_TRUE(packed.has_full_values());
}

TEST(ValueEncoding, ATableThatSavesNothingIsNotStored) {
  Array<Offset> offsets(65, 0);
  Array<std::int32_t> columns(64);
  Array<double> values(64);
  for (int row = 0; row < 64; ++row) {
    offsets[row + 1] = row + 1;
    columns[row] = row;
    values[row] = row + 1;
  }
  const Matrix diagonal(64, 64, std::move(offsets), std::move(columns), std::move(values));
  EXPECT_TRUE(Packed::from_csr(diagonal).has_full_values());
}

}  // namespace
}  // namespace strata

// A conversion to packed SELL that is written piece by piece has the bytes of one that is stored.
#include "strata/formats/packed_sell_conversion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/gen/generate.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/repeated_values.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <Value V, Index I>
void expect_same_slices(const PackedSellSlices<V, I>& a, const PackedSellSlices<V, I>& b) {
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  EXPECT_EQ(a.nnz(), b.nnz());
  EXPECT_EQ(a.slice_height(), b.slice_height());
  EXPECT_EQ(a.run_length(), b.run_length());
  EXPECT_EQ(a.code_bytes(), b.code_bytes());
  EXPECT_EQ(a.footprint().bytes(), b.footprint().bytes());
  EXPECT_TRUE(std::ranges::equal(a.entry_offsets(), b.entry_offsets()));
  EXPECT_TRUE(std::ranges::equal(a.code_offsets(), b.code_offsets()));
  EXPECT_TRUE(std::ranges::equal(a.data_offsets(), b.data_offsets()));
  EXPECT_TRUE(std::ranges::equal(a.encodings(), b.encodings()));
  EXPECT_TRUE(std::ranges::equal(a.value_encodings(), b.value_encodings()));
  EXPECT_TRUE(std::ranges::equal(a.row_of_slot(), b.row_of_slot()));
}

// The last pieces first, each of them by any thread.
template <Value V, Index I>
void expect_same_in_pieces(const Csr<V, I>& csr, const PackedSellOptions& options, I piece) {
  const auto stored = PackedSell<V, I>::from_csr(csr, options);
  const PackedSellConversion<V, I> conversion(csr, options);
  expect_same_slices<V, I>(conversion.slices(), stored);
  const I slices = conversion.slices().slices();
  ASSERT_EQ(conversion.codes_before(slices), std::ssize(stored.codes()));
  ASSERT_EQ(conversion.data_before(slices), std::ssize(stored.data()));
  std::vector<std::byte> codes(stored.codes().size());
  std::vector<std::byte> data(stored.data().size());
  PresenceBits presence = conversion.no_presence();
  const Offset pieces = ceil_div<Offset>(slices, piece);
  parallel_dynamic(pieces, 1, [&](Offset number, Offset) {
    const auto begin = static_cast<I>((pieces - 1 - number) * piece);
    const I end = std::min<I>(begin + piece, slices);
    conversion.write_data(begin, end, data.data() + conversion.data_before(begin), presence);
    conversion.write_codes(begin, end, codes.data() + conversion.codes_before(begin));
  });
  EXPECT_TRUE(std::ranges::equal(codes, stored.codes()));
  EXPECT_TRUE(std::ranges::equal(data, stored.data()));
  EXPECT_TRUE(std::ranges::equal(presence.words(), stored.presence().words()));
  EXPECT_EQ(conversion.stored().to_csr(), csr);
}

template <class T>
class PackedSellConversions : public testing::Test {};
TYPED_TEST_SUITE(PackedSellConversions, test::AllTypes);

TYPED_TEST(PackedSellConversions, PiecesHaveTheBytesOfTheWhole) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    for (const Offset slice_height : {4, 32}) {
      for (const Offset sort_window : {1, 24}) {
        for (const I piece : {1, 7}) {
          expect_same_in_pieces<V, I>(
              csr, {.slice_height = slice_height, .sort_window = sort_window, .max_fill = 1e9},
              piece);
        }
      }
    }
  }
}

TYPED_TEST(PackedSellConversions, EncodedValuesAreWrittenWhereTheyBelong) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const auto csr = generate<V, I>("stencil27:9x7x11");
  for (const test::Repeats repeats : test::kRepeats) {
    SCOPED_TRACE(static_cast<int>(repeats));
    if (repeats == test::Repeats::special) continue;  // NaNs are not equal to themselves
    const auto repeated = test::with_repeats(csr, repeats);
    for (const StoredValues values : {StoredValues::full, StoredValues::few, StoredValues::all}) {
      expect_same_in_pieces<V, I>(
          repeated, {.slice_height = 8, .stored_values = static_cast<Offset>(values)}, 5);
    }
  }
}

// So many slices that they are looked at by all threads.
TEST(PackedSellConversion, NumberOfThreadsChangesNothing) {
  for (const char* spec : {"stencil7:26x26x26", "mesh:17000,dim=3,nnzr=15", "band:17000,width=5"}) {
    SCOPED_TRACE(spec);
    const auto csr = generate<double, std::int32_t>(spec);
    const PackedSellOptions options{.slice_height = 4};
    const auto alone = [&] {
      const ThreadCountScope one(1);
      return PackedSell<double, std::int32_t>::from_csr(csr, options);
    }();
    for (const int threads : {2, 3, 16}) {
      const ThreadCountScope scope(threads);
      expect_same_in_pieces<double, std::int32_t>(csr, options, 100);
      const auto together = PackedSell<double, std::int32_t>::from_csr(csr, options);
      expect_same_slices<double, std::int32_t>(together, alone);
      EXPECT_TRUE(std::ranges::equal(together.codes(), alone.codes()));
      EXPECT_TRUE(std::ranges::equal(together.data(), alone.data()));
    }
  }
}

TEST(PackedSellConversion, RefusesHopelessFill) {
  const auto csr = generate<double, std::int32_t>("arrow:1000");
  using Conversion = PackedSellConversion<double, std::int32_t>;
  EXPECT_THROW(Conversion(csr, {.max_fill = 1.0}), InvalidArgument);
}

}  // namespace
}  // namespace strata

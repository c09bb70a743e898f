// What the host prepares for the kernels on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "strata/kernels/gpu/arrivals.hpp"
#include "strata/kernels/gpu/csr_split.hpp"
#include "strata/kernels/gpu/dispatch.hpp"
#include "strata/kernels/gpu/slice_groups.hpp"
#include "strata/kernels/gpu/slice_headers.hpp"
#include "tests/kernels/gpu/step_cases.hpp"
#include "tests/support/types.hpp"

namespace strata::gpu {
namespace {

template <class Types>
class GpuLayout : public testing::Test {};
TYPED_TEST_SUITE(GpuLayout, test::AllTypes);

TYPED_TEST(GpuLayout, HeadersSayWhatTheSlicesSay) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const Offset height : {4, 32}) {
    for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
      SCOPED_TRACE(name);
      const auto matrix = PackedSell<V, I>::from_csr(
          entries.to_csr(), {.slice_height = height, .sort_window = 1, .max_fill = 1e9});
      const Array<SliceHeader> headers = slice_headers(matrix);
      ASSERT_EQ(std::ssize(headers), matrix.slices());
      for (I slice = 0; slice < matrix.slices(); ++slice) {
        EXPECT_EQ(headers[slice].data * kCodeUnit, matrix.data_offsets()[slice]);
        EXPECT_EQ(headers[slice].values * kCodeUnit,
                  matrix.code_offsets()[slice] + value_block_begin(matrix.encoding(slice), height,
                                                                   matrix.width(slice),
                                                                   matrix.run_length()));
        EXPECT_EQ(headers[slice].value_encoding(), matrix.value_encoding(slice));
        EXPECT_EQ(headers[slice].codes * kCodeUnit, matrix.code_offsets()[slice]);
        EXPECT_EQ(headers[slice].width(), matrix.width(slice));
        EXPECT_EQ(headers[slice].encoding(), matrix.encoding(slice));
      }
    }
  }
}

SliceHeader header_of(std::uint32_t codes, EncodedKind kind) {
  const auto values =
      kind == EncodedKind::constants ? ValueEncoding::constant : ValueEncoding::dict8;
  return {codes + 7, codes, codes + 1, 5 * 64 + static_cast<std::uint32_t>(values) * 8};
}

// Every slice that the kernel takes, or every other, is in one group, with slices that are like it.
void expect_groups(const std::vector<SliceHeader>& headers, bool taken) {
  const auto kind = EncodedKind::constants;
  const SliceGroups found = slice_groups(headers, kind, taken);
  std::vector<int> seen(headers.size());
  for (const SliceGroup& group : found.groups) {
    ASSERT_GE(group.count, 1);
    ASSERT_LE(group.count, SliceGroup::kMost);
    for (int i = 0; i < SliceGroup::kMost; ++i) {
      const auto number = static_cast<std::size_t>(group.numbers[i]);
      ASSERT_LT(number, headers.size());
      EXPECT_EQ(group.codes, headers[number].codes);
      EXPECT_EQ(group.values, headers[number].values);
      EXPECT_EQ(group.shape, headers[number].shape);
      EXPECT_EQ(group.data[i], headers[number].data);
      if (i < group.count) {
        ++seen[number];
      } else {
        EXPECT_EQ(group.numbers[i], group.numbers[group.count - 1]);
      }
    }
  }
  for (std::size_t slice = 0; slice < headers.size(); ++slice) {
    EXPECT_EQ(seen[slice], headers[slice].is(kind) == taken ? 1 : 0) << slice;
  }
  // The groups of a range have all of its slices.
  const auto slices = static_cast<std::int32_t>(headers.size());
  for (const auto& [begin, end] :
       std::vector<std::pair<int, int>>{{0, slices},
                                        {slices / 3, slices / 2},
                                        {std::max(slices - 1, 0), slices},
                                        {0, 0},
                                        {63, 65}}) {
    const SliceRange range{std::min(begin, slices), std::min(end, slices)};
    const GroupRange groups = found.places.of(range);
    int members = 0;
    for (std::int32_t i = groups.begin; i < groups.end; ++i) {
      const SliceGroup& group = found.groups[static_cast<std::size_t>(i)];
      for (int member = 0; member < group.count; ++member) {
        const std::int32_t number = group.numbers[member];
        members += number >= range.begin && number < range.end ? 1 : 0;
      }
    }
    int expected = 0;
    for (std::int32_t slice = range.begin; slice < range.end; ++slice) {
      expected += seen[static_cast<std::size_t>(slice)];
    }
    EXPECT_EQ(members, expected) << begin << " to " << end;
  }
}

TEST(GpuLayout, GroupsHaveEverySliceOnce) {
  for (const int slices : {0, 1, 63, 64, 65, 1000, 9001}) {
    for (const std::uint32_t period : {1U, 9U, 40U, 100000U}) {
      SCOPED_TRACE(testing::Message() << slices << " slices, every " << period << " alike");
      std::vector<SliceHeader> headers;
      for (int slice = 0; slice < slices; ++slice) {
        const auto other = slice % 17 == 3;
        headers.push_back(header_of(static_cast<std::uint32_t>(slice) % period * 16,
                                    other ? EncodedKind::codes8 : EncodedKind::constants));
      }
      expect_groups(headers, true);
      expect_groups(headers, false);
    }
  }
}

TEST(GpuLayout, SlicesThatAreAlikeFillGroups) {
  std::vector<SliceHeader> headers;
  for (std::uint32_t slice = 0; slice < 9 * 400; ++slice) {
    headers.push_back(header_of(slice % 9 * 16, EncodedKind::constants));
  }
  EXPECT_LE(slice_groups(headers, EncodedKind::constants, true).groups.size(), 9 * 100 + 30);
}

using Wide = std::int64_t;

// No row has an entry, so that the arrays stay small.
Csr<float, Wide> empty_matrix(Wide rows, Wide cols) {
  return {rows, cols, Array<Offset>(rows + 1, 0), {}, {}};
}

TEST(GpuLayout, NumbersThatDoNotFitAreRefused) {
  const Wide wide = Wide{1} << 31;
  const auto csr = empty_matrix(5, wide);
  EXPECT_THROW(slice_headers(PackedSell<float, Wide>::from_csr(csr)), OverflowError);
  EXPECT_THROW(require_device_size(Sell<float, Wide>::from_csr(csr)), OverflowError);
  const auto narrower = empty_matrix(5, wide - 1);
  EXPECT_NO_THROW(slice_headers(PackedSell<float, Wide>::from_csr(narrower)));
  EXPECT_NO_THROW(require_device_size(Sell<float, Wide>::from_csr(narrower)));
}

TEST(GpuLayout, SlicesOfRowsEndWithTheLastSlice) {
  const auto matrix = Sell<float, std::int32_t>::from_csr({70, 70, Array<Offset>(71, 0), {}, {}},
                                                          {.slice_height = 8});
  EXPECT_EQ(slices_of(matrix, {16, 40}).begin, 2);
  EXPECT_EQ(slices_of(matrix, {16, 40}).end, 5);
  EXPECT_EQ(slices_of(matrix, {0, 70}).end, 9);
}

class SplitCsr : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Warps, SplitCsr, testing::Values(32, 64));

// Every entry and every row is in one part, in order, and no part is larger than a warp takes.
void expect_covers(std::span<const Offset> offsets, int warp_size) {
  const CsrParts split = split_csr(offsets, warp_size);
  const auto rows = static_cast<std::int32_t>(offsets.size()) - 1;
  const int most = products_of_part(warp_size);
  EXPECT_EQ(split.parts.back().first_entry, offsets.back());
  EXPECT_EQ(split.parts.back().first_row, rows);
  ASSERT_TRUE(rows == 0 || split.parts.front().first_row == 0);
  std::int32_t partial = 0;
  for (std::size_t number = 0; number + 1 < split.parts.size(); ++number) {
    const CsrPart& part = split.parts[number];
    const CsrPart& next = split.parts[number + 1];
    const Offset entries = next.first_entry - part.first_entry;
    if (part.partial >= 0) {
      EXPECT_EQ(part.partial, partial++);
      EXPECT_LE(entries, most * kPiece);
      EXPECT_LE(next.first_row, part.first_row + 1);
      EXPECT_TRUE(next.first_row > part.first_row || next.partial == partial);
    } else {
      EXPECT_EQ(part.first_entry, offsets[part.first_row]);
      EXPECT_GT(next.first_row, part.first_row);
      EXPECT_LE(next.first_row, part.first_row + most);
      EXPECT_LE(entries, next.first_row == part.first_row + 1 ? most * kWholeRow : most);
    }
  }
  EXPECT_EQ(split.partials(), partial);
}

// Longer rows have more pieces, and then longer ones.
TEST_P(SplitCsr, TheLengthOfARowDecidesAboutItsPieces) {
  const Offset most = products_of_part(GetParam());
  const auto pieces_of = [&](Offset length) {
    return split_csr(std::vector<Offset>{0, length}, GetParam()).partials();
  };
  EXPECT_EQ(pieces_of(most * kWholeRow), 0);
  EXPECT_EQ(pieces_of(most * kWholeRow + 1), kWholeRow + 1);
  EXPECT_EQ(pieces_of(most * kPieces), kPieces);
  EXPECT_EQ(pieces_of(most * kPieces + 1), kPieces / 2 + 1);
  EXPECT_EQ(pieces_of(most * kPieces * kPiece), kPieces);
  EXPECT_EQ(pieces_of(most * kPieces * kPiece * 2), kPieces * 2);
}

// Where other rows keep the device busy, pieces are longer.
TEST_P(SplitCsr, PiecesOfALargeMatrixAreLonger) {
  const Offset most = products_of_part(GetParam());
  std::vector<Offset> offsets{0, most * (kWholeRow + 1)};
  const Offset parts_of_piece = 4;
  while (offsets.back() < most * kPiecesOfMatrix * parts_of_piece) {
    offsets.push_back(offsets.back() + most);
  }
  EXPECT_EQ(split_csr(offsets, GetParam()).partials(), ceil_div<Offset>(kWholeRow + 1, 4));
}

// A second launch ends the long rows of parts, and those of a stream if they are many.
TEST_P(SplitCsr, PiecesOfAStreamEndTheirRowsUnlessThereAreTooManyToCount) {
  const StreamShape shape{GetParam(), 2};
  const auto split_into_stream = [&](std::span<const Offset> offsets) {
    return split_csr_stream(offsets, shape, StreamGather::automatic, GetParam());
  };
  const Offset length = Offset{shape.entries()} * kWholeStreamRow + 1;
  std::vector<Offset> offsets{0};
  while (std::ssize(offsets) <= kRowCounters) offsets.push_back(offsets.back() + length);
  EXPECT_EQ(std::ssize(split_into_stream(offsets).pieces), kRowCounters * (kWholeStreamRow + 1));
  offsets.push_back(offsets.back() + length);
  const CsrParts more = split_into_stream(offsets);
  EXPECT_TRUE(more.pieces.empty());
  EXPECT_EQ(more.partials(), (kRowCounters + 1) * (kWholeStreamRow + 1));

  const auto uneven = test::uneven_rows<double>(30000);
  EXPECT_TRUE(split_csr(uneven.row_offsets(), GetParam()).pieces.empty());
  const CsrParts split = split_into_stream(uneven.row_offsets());
  ASSERT_GT(split.partials(), 1);
  ASSERT_EQ(std::ssize(split.pieces), split.partials());
  for (const CsrPart& part : split.parts) {
    if (part.partial < 0) continue;
    const RowPieces& pieces = split.pieces[part.partial];
    EXPECT_EQ(split.long_rows[pieces.number].row, part.first_row);
    EXPECT_EQ(split.long_rows[pieces.number].first_partial, pieces.first_partial);
    EXPECT_EQ(split.long_rows[pieces.number + 1].first_partial, pieces.end_partial);
  }
}

TEST_P(SplitCsr, PartsCoverEveryRowAndAreNeverTooLarge) {
  for (const auto& [name, entries] : test::awkward_matrices<double, std::int32_t>()) {
    SCOPED_TRACE(name);
    expect_covers(entries.to_csr().row_offsets(), GetParam());
  }
  expect_covers(test::uneven_rows<double>(30000).row_offsets(), GetParam());
}

TEST_P(SplitCsr, PartsOfARangeAreThoseThatHoldItsRows) {
  const auto csr = test::uneven_rows<double>(30000);
  const CsrParts split = split_csr(csr.row_offsets(), GetParam());
  for (const RowRange<std::int32_t> rows : {RowRange<std::int32_t>{0, 1500},
                                            {5, 6},
                                            {4, 5},
                                            {6, 700},
                                            {700, 701},
                                            {1499, 1500},
                                            {400, 1000},
                                            {77, 77}}) {
    std::vector<std::int32_t> expected;
    for (std::size_t number = 0; number + 1 < split.parts.size(); ++number) {
      const std::int32_t first = split.parts[number].first_row;
      const std::int32_t end = std::max(split.parts[number + 1].first_row, first + 1);
      if (first < rows.end && rows.begin < end && rows.begin < rows.end) {
        expected.push_back(static_cast<std::int32_t>(number));
      }
    }
    const PartRange found = split.parts_of(rows);
    ASSERT_EQ(found.end - found.begin, std::ssize(expected));
    EXPECT_TRUE(expected.empty() || found.begin == expected.front());
    const PartRange long_rows = split.long_rows_of(rows);
    std::int32_t count = 0;
    for (const std::int32_t row : {5, 700, 1499}) count += rows.contains(row) ? 1 : 0;
    EXPECT_EQ(long_rows.end - long_rows.begin, count);
  }
}

TEST(GpuDispatch, MoreThanEightVectorsAreRefused) {
  EXPECT_THROW(with_vectors(9, [](auto) {}), InvalidArgument);
  EXPECT_THROW(with_vectors(0, [](auto) {}), InvalidArgument);
  for (int count = 1; count <= 8; ++count) {
    with_vectors(count, [&](auto vectors) {
      EXPECT_GE(vectors, count);
      EXPECT_TRUE(count == 1 || vectors < 2 * count);
    });
  }
}

TEST(GpuDispatch, OnlyPowersOfTwoInTheRangeHaveKernels) {
  int found = 0;
  EXPECT_TRUE((with_power_of_two<4, 32>(16, [&](auto size) { found = size; })));
  EXPECT_EQ(found, 16);
  for (const Offset size : {0, 2, 5, 64}) {
    EXPECT_FALSE((with_power_of_two<4, 32>(size, [](auto) {})));
  }
}

}  // namespace
}  // namespace strata::gpu

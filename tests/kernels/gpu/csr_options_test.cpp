// The kernels for CSR as data: names, rules, parameters, and how the host cuts rows for the stream.
#include "strata/kernels/gpu/csr_options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/kernels/gpu/csr_split.hpp"
#include "tests/kernels/gpu/step_cases.hpp"

namespace strata::gpu {
namespace {

TEST(CsrKernels, HaveNamesThatReadBack) {
  for (const CsrKernel kernel : kCsrKernels) {
    EXPECT_EQ(csr_kernel_named(name_of(kernel)), kernel);
    EXPECT_TRUE(name_of(kernel).starts_with("csr-"));
  }
  EXPECT_EQ(csr_kernel_named("csr"), CsrKernel::automatic);
  EXPECT_EQ(csr_kernel_named("csr-"), std::nullopt);
  EXPECT_EQ(csr_kernel_named("stream"), std::nullopt);
}

TEST(CsrKernels, GinkgoChoosesByEntriesAndTheLongestRow) {
  using enum GpuVendor;
  using enum CsrKernel;
  EXPECT_EQ(ginkgo_choice({1000, 1'000'000, 1024}, nvidia), classical);
  EXPECT_EQ(ginkgo_choice({1000, 1'000'001, 1024}, nvidia), balanced);
  EXPECT_EQ(ginkgo_choice({1000, 1'000'000, 1025}, nvidia), balanced);
  EXPECT_EQ(ginkgo_choice({1000, 100'000'000, 768}, amd), classical);
  EXPECT_EQ(ginkgo_choice({1000, 100'000'001, 768}, amd), balanced);
  EXPECT_EQ(ginkgo_choice({1000, 100'000'000, 769}, amd), balanced);
}

TEST(CsrKernels, AutomaticIsAStreamUnlessARowOfManyIsFarLongerThanOthers) {
  EXPECT_EQ(automatic_choice({1000, 7000, 7}), CsrKernel::stream);
  EXPECT_EQ(automatic_choice({2000000, 14000000, 92}), CsrKernel::stream);
  EXPECT_EQ(automatic_choice({2000000, 14000000, 93}), CsrKernel::balanced);
  EXPECT_EQ(automatic_choice({1000, 7000, 900}), CsrKernel::stream) << "few entries";
  EXPECT_EQ(automatic_choice({20000, 140000, 20000}), CsrKernel::stream) << "even in one row";
  EXPECT_EQ(automatic_choice({0, 0, 0}), CsrKernel::stream);
}

TEST(CsrKernels, RowsOfAMatrixAreCounted) {
  const std::vector<Offset> offsets{0, 2, 2, 9, 10};
  const CsrRows rows = csr_rows(offsets);
  EXPECT_EQ(rows.rows, 4);
  EXPECT_EQ(rows.nnz, 10);
  EXPECT_EQ(rows.longest, 7);
  EXPECT_EQ(csr_rows(std::vector<Offset>{0}).longest, 0);
}

TEST(RegulyRule, TakesThePowerOfTwoAboveTheRootOfTheMeanAndLeaves1500Blocks) {
  EXPECT_EQ(reguly_rule(1'000'000, 3'000'000).coop, 2);
  EXPECT_EQ(reguly_rule(1'000'000, 4'000'000).coop, 4);  // larger than the root, not equal
  EXPECT_EQ(reguly_rule(1'000'000, 7'000'000).coop, 4);
  EXPECT_EQ(reguly_rule(1'000'000, 27'000'000).coop, 8);
  EXPECT_EQ(reguly_rule(1'000, 4'000'000).coop, 32);
  EXPECT_EQ(reguly_rule(1'000, 0).coop, 1);
  for (const Offset rows :
       {Offset{0}, Offset{1}, Offset{50'000}, Offset{1'270'432}, Offset{1} << 40}) {
    const RegulyParameters parameters = reguly_rule(rows, 7 * rows);
    EXPECT_EQ(parameters.block_size, 128);
    const Offset blocks = reguly_blocks(rows, parameters);
    if (parameters.repeat > 1) {
      EXPECT_GE(blocks, 1500) << rows;
    }
    RegulyParameters more = parameters;
    ++more.repeat;
    EXPECT_LT(rows / (Offset{more.repeat} * 32), 1500) << "the largest repeat that leaves so many";
    EXPECT_EQ(blocks, ceil_div<Offset>(rows, Offset{parameters.repeat} * 32));
  }
}

TEST(RegulyParameters, ThatNoKernelHasAreRefused) {
  const RegulyTarget target;
  EXPECT_NO_THROW(require_valid({32, 1, 1024}, target));
  for (const RegulyParameters wrong : {RegulyParameters{0, 1, 128},
                                       {3, 1, 128},
                                       {64, 1, 128},
                                       {-1, 1, 128},
                                       {4, 0, 128},
                                       {4, 1, 0},
                                       {4, 1, 100},
                                       {4, 1, 1056},
                                       {1, 1, 1024}}) {
    EXPECT_THROW(require_valid(wrong, target), InvalidArgument)
        << wrong.coop << ' ' << wrong.repeat << ' ' << wrong.block_size;
    EXPECT_FALSE(is_valid(wrong, target));
  }
  EXPECT_THROW(require_valid({4, 1, 96}, {.warp = 64}), InvalidArgument);
  // A thread's sums are so many registers.
  EXPECT_TRUE(is_valid({2, 1, 1024}, {.value_bytes = 4}));
  EXPECT_TRUE(is_valid({2, 1, 512}, {.value_bytes = 8}));
  EXPECT_FALSE(is_valid({2, 1, 512}, {.value_bytes = 16}));
}

TEST(RegulySweep, ListsEveryCombinationThatThereIsAKernelFor) {
  const auto expect = [](const RegulyTarget& target, std::size_t count) {
    std::set<std::tuple<int, int, int>> seen;
    for (const RegulyParameters& parameters : RegulySweep{}.list(target)) {
      EXPECT_NO_THROW(require_valid(parameters, target));
      seen.insert({parameters.coop, parameters.repeat, parameters.block_size});
    }
    EXPECT_EQ(seen.size(), count);
    EXPECT_EQ(RegulySweep{}.list(target).size(), count);
  };
  // Of ten sizes, two are above 512 and four above 256.
  expect({32, 4}, 6 * (6 * 10 - 2));           // coop = 1
  expect({32, 8}, 6 * (6 * 10 - 4 - 2));       // coop = 1 and 2
  expect({32, 16}, 6 * (6 * 10 - 4 - 4 - 2));  // coop = 1, 2 and 4
  expect({64, 4}, 6 * (6 * 8 - 2));            // without 32 and 96
}

// ---- The stream

std::vector<Offset> offsets_of(const std::vector<int>& lengths) {
  std::vector<Offset> offsets{0};
  for (const int length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

struct PartText {
  std::int32_t rows;
  int threads_per_row;
  bool by_entries;
  bool operator==(const PartText&) const = default;
};
std::vector<PartText> parts_of(const std::vector<int>& lengths, const StreamShape& shape,
                               StreamGather gather = StreamGather::automatic) {
  const CsrParts split = split_csr_stream(offsets_of(lengths), shape, gather, 32);
  std::vector<PartText> parts;
  for (std::size_t i = 0; i + 1 < split.parts.size(); ++i) {
    const StreamWay way = StreamWay::of(split.parts[i].partial);
    parts.push_back({split.parts[i + 1].first_row - split.parts[i].first_row, 1 << way.log_threads,
                     way.by_entries});
  }
  return parts;
}

TEST(CsrStream, RowsThatAreAlikeKeepAllThreadsAtWork) {
  const StreamShape shape{128, 8};
  using Parts = std::vector<PartText>;
  // No more rows than threads.
  EXPECT_EQ(parts_of(std::vector<int>(256, 5), shape), (Parts{{128, 1, false}, {128, 1, false}}));
  EXPECT_EQ(parts_of(std::vector<int>(130, 7), shape), (Parts{{128, 1, false}, {2, 32, false}}));
  // 37 rows fit; 32 have four threads each.
  EXPECT_EQ(parts_of(std::vector<int>(64, 27), shape), (Parts{{32, 4, false}, {32, 4, false}}));
  // 113 rows fit; 64 would leave too much of the block unused.
  EXPECT_EQ(parts_of(std::vector<int>(120, 9), shape), (Parts{{113, 1, false}, {7, 16, false}}));
  // Nothing is left to keep together.
  EXPECT_EQ(parts_of(std::vector<int>(37, 27), shape), (Parts{{37, 2, false}}));
  EXPECT_EQ(parts_of(std::vector<int>(300, 0), shape),
            (Parts{{128, 1, false}, {128, 1, false}, {44, 2, false}}));
  EXPECT_EQ(parts_of({}, shape), Parts{});
}

TEST(CsrStream, RowsThatAreNotAreMultipliedByEntries) {
  std::vector<int> lengths(100, 3);
  const StreamShape shape{128, 8};
  lengths[50] = 16;
  EXPECT_FALSE(parts_of(lengths, shape).front().by_entries) << "twice what a thread reads";
  lengths[50] = 17;
  EXPECT_TRUE(parts_of(lengths, shape).front().by_entries);
  EXPECT_FALSE(parts_of(lengths, shape, StreamGather::by_rows).front().by_entries);
  EXPECT_TRUE(parts_of(std::vector<int>(9, 3), shape, StreamGather::by_entries).front().by_entries);
}

// Every row is in one part, within the limits, and its ends are those of the matrix.
TEST(CsrStream, LongRowsAmongShortOnesHaveMoreThreads) {
  const StreamShape shape{128, 8};
  std::vector<int> lengths(100, 2);
  lengths[50] = 64;
  EXPECT_EQ(parts_of(lengths, shape).front().rows, 100) << "as many as one thread adds up";
  lengths[50] = 700;
  // Up to the long row; then as many as leave it 16 threads, of which there are 8 with it.
  EXPECT_EQ(parts_of(lengths, shape),
            (std::vector<PartText>{{50, 2, false}, {8, 16, true}, {42, 2, false}}));
}

TEST(CsrStream, PartsHoldEveryRowOnce) {
  for (const StreamShape& shape : kStreamShapes) {
    for (const int warp : {32, 64}) {
      const auto csr = test::uneven_rows<float>(shape.entries() * kPiece * 5 / 2);
      const auto offsets = csr.row_offsets();
      const CsrParts split = split_csr_stream(offsets, shape, StreamGather::automatic, warp);
      const Array<std::uint16_t> ends = stream_row_ends(offsets, split);
      EXPECT_EQ(split.parts.front().first_row, 0);
      EXPECT_EQ(split.parts.back().first_row, csr.rows());
      EXPECT_EQ(split.parts.back().first_entry, csr.nnz());
      std::int32_t partials = 0;
      for (std::size_t i = 0; i + 1 < split.parts.size(); ++i) {
        const CsrPart& part = split.parts[i];
        const CsrPart& next = split.parts[i + 1];
        const Offset entries = next.first_entry - part.first_entry;
        if (part.partial >= 0) {
          EXPECT_EQ(part.partial, partials++);
          EXPECT_LE(entries, Offset{shape.entries()} * kPiece);
          continue;
        }
        EXPECT_EQ(part.first_entry, offsets[part.first_row]);
        const std::int32_t rows = next.first_row - part.first_row;
        ASSERT_GE(rows, 1);
        if (rows == 1) {
          EXPECT_EQ(ends[part.first_row], 0);
          continue;
        }
        EXPECT_LE(entries, shape.entries());
        const int threads = 1 << StreamWay::of(part.partial).log_threads;
        EXPECT_LE(threads, warp);
        EXPECT_LE(rows * threads, shape.threads);
        EXPECT_TRUE(threads == warp || 2 * rows * threads > shape.threads);
        for (std::int32_t row = part.first_row; row < next.first_row; ++row) {
          EXPECT_EQ(ends[row], offsets[row + 1] - part.first_entry);
        }
      }
      EXPECT_EQ(partials, split.partials());
      EXPECT_GT(partials, 0);
    }
  }
}

TEST(CsrStream, WaysReadBack) {
  for (int log_threads = 0; log_threads <= 6; ++log_threads) {
    for (const bool by_entries : {false, true}) {
      const std::int32_t code = StreamWay{log_threads, by_entries}.code();
      EXPECT_LT(code, 0);
      EXPECT_EQ(StreamWay::of(code).log_threads, log_threads);
      EXPECT_EQ(StreamWay::of(code).by_entries, by_entries);
    }
  }
}

}  // namespace
}  // namespace strata::gpu

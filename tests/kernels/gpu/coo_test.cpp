// COO on an emulated GPU, and how its entries are shared out.
#include "strata/kernels/gpu/coo.hpp"

#include "strata/formats/coo.hpp"
#include "tests/kernels/gpu/emulated.hpp"

namespace strata {
namespace {

using test::Index32;

// ---- the rules

TEST(CooSplit, OversubscriptionIsThePapers) {
  using enum gpu::GpuVendor;
  EXPECT_EQ(gpu::coo_oversubscription(nvidia, 0), 8);
  EXPECT_EQ(gpu::coo_oversubscription(nvidia, 199'999), 8);
  EXPECT_EQ(gpu::coo_oversubscription(nvidia, 200'000), 32);
  EXPECT_EQ(gpu::coo_oversubscription(nvidia, 1'999'999), 32);
  EXPECT_EQ(gpu::coo_oversubscription(nvidia, 2'000'000), 128);
  EXPECT_EQ(gpu::coo_oversubscription(amd, 99'999), 2);
  EXPECT_EQ(gpu::coo_oversubscription(amd, 100'000), 8);
  EXPECT_EQ(gpu::coo_oversubscription(amd, 9'999'999), 8);
  EXPECT_EQ(gpu::coo_oversubscription(amd, 10'000'000), 32);
}

TEST(CooSplit, ChunksAreWholeWarpsAndNoMoreThanAsked) {
  EXPECT_EQ(gpu::coo_chunk(0, 8, 32), 32);
  EXPECT_EQ(gpu::coo_chunk(gpu::kCoreWarps * 8 * 32, 8, 32), 32);
  EXPECT_EQ(gpu::coo_chunk(gpu::kCoreWarps * 8 * 32 + 1, 8, 32), 64);
  EXPECT_EQ(gpu::coo_chunk(gpu::kCoreWarps * 8 * 32 + 1, 8, 64), 64);
  EXPECT_THROW(gpu::coo_chunk(1, 0, 32), InvalidArgument);
  const Offset most = Offset{1} << 60;
  EXPECT_LE((most - 1) / gpu::coo_chunk(most, 128, 64) + 1, gpu::kCoreWarps * 128);
}

TEST(CooSplit, KnowsWhichRowsAreCutAndWhichAreEmpty) {
  const std::vector<Index32> rows{1, 1, 1, 2, 2, 4, 4, 4, 4, 4, 4, 4, 6};
  const auto split = gpu::split_coo<Index32>(rows, 8, 3);
  EXPECT_EQ(split.chunks, 5);
  ASSERT_EQ(split.cut_rows.size(), 1U);
  EXPECT_EQ(split.cut_rows[0].row, 4);
  EXPECT_EQ(split.cut_rows[0].first_chunk, 1);
  EXPECT_EQ(split.cut_rows[0].last_chunk, 3);
  EXPECT_EQ(split.most_pieces, 3);
  EXPECT_EQ(std::vector<Index32>(split.empty_rows.begin(), split.empty_rows.end()),
            (std::vector<Index32>{0, 3, 5, 7}));
  EXPECT_EQ(std::vector<Index32>(split.cut_into.begin(), split.cut_into.end()),
            (std::vector<Index32>{-1, -1, 0, 0, -1, -1}));
  const auto none = gpu::split_coo<Index32>({}, 2, 32);
  EXPECT_EQ(none.chunks, 0);
  EXPECT_TRUE(none.cut_into.empty());
  EXPECT_EQ(none.empty_rows.size(), 2U);
}

TEST(CooSplit, SortingKeepsTheOrderWithinRows) {
  const Coo<double, Index32> coo(3, 9, {2, 0, 2, 0}, {5, 8, 1, 8}, {1.0, 2.0, 3.0, 4.0});
  EXPECT_FALSE(gpu::in_row_order(coo.row_indices()));
  const auto sorted = gpu::sorted_by_rows(coo);
  EXPECT_TRUE(std::ranges::equal(sorted.row_indices(), std::vector{0, 0, 2, 2}));
  EXPECT_TRUE(std::ranges::equal(sorted.column_indices(), std::vector{8, 8, 5, 1}));
  EXPECT_TRUE(std::ranges::equal(sorted.values(), std::vector{2.0, 4.0, 1.0, 3.0}));
}

// ---- the kernels

template <class Types>
class GpuCoo : public testing::Test {};
TYPED_TEST_SUITE(GpuCoo, test::ValuesOnWarps);

TEST(CooSplit, TooManyCutRowsToCountArrivalsLeaveThemToASecondLaunch) {
  std::vector<Index32> rows{0};  // the row of each entry; chunks of 2 cut all others
  while (std::ssize(rows) <= 2 * gpu::kRowCounters) {
    rows.push_back(static_cast<Index32>(rows.size() + 1) / 2);
  }
  EXPECT_EQ(std::ssize(gpu::split_coo<Index32>(rows, gpu::kRowCounters + 2, 2).cut_rows),
            gpu::kRowCounters);
  EXPECT_FALSE(gpu::split_coo<Index32>(rows, gpu::kRowCounters + 2, 2).cut_into.empty());
  rows.insert(rows.end(), 2, gpu::kRowCounters + 1);
  const auto more = gpu::split_coo<Index32>(rows, gpu::kRowCounters + 2, 2);
  EXPECT_EQ(std::ssize(more.cut_rows), gpu::kRowCounters + 1);
  EXPECT_TRUE(more.cut_into.empty());
}

// With chunks of so many entries. Cut rows are ended by the last piece, or by `threads` threads
// each in a second launch.
constexpr int kLastPiece = 0;
template <int warp_size, int threads, Value V>
auto on_emulator(const Csr<V, Index32>& csr, Offset chunk) {
  using T = gpu::DeviceValue<V>;
  const auto matrix = Coo<V, Index32>::from_csr(csr);
  const auto split = gpu::split_coo(matrix.row_indices(), matrix.rows(), chunk);
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, split, values = test::device_copy(matrix.values())](const auto& arguments, auto,
                                                                   auto vectors) {
        std::vector<T> pieces(2 * static_cast<std::size_t>(split.chunks) * arguments.count,
                              gpu::device_value(test::not_a_number<V>()));
        std::vector<std::uint32_t> counters(split.cut_rows.size() + 1);
        const gpu::CooView<T> view{matrix.row_indices().data(),
                                   matrix.column_indices().data(),
                                   values.data(),
                                   matrix.nnz(),
                                   split.chunk,
                                   split.chunks,
                                   split.cut_rows.data(),
                                   static_cast<Index32>(split.cut_rows.size()),
                                   split.empty_rows.data(),
                                   static_cast<Index32>(split.empty_rows.size()),
                                   pieces.data(),
                                   split.cut_into.data(),
                                   threads == kLastPiece ? counters.data() : nullptr};
        test::launch_somehow<warp_size>(0, [&](auto& thread) {
          gpu::coo_step<gpu::FromMemory, gpu::WritesRows, vectors>(thread, view, arguments);
        });
        if constexpr (threads != kLastPiece) {
          test::launch_somehow<warp_size>(0, [&](auto& thread) {
            gpu::coo_cut_rows_step<gpu::WritesRows, threads>(thread, view, arguments);
          });
        }
        EXPECT_EQ(counters, std::vector<std::uint32_t>(counters.size())) << "counters stay 0";
      });
}

TYPED_TEST(GpuCoo, AgreesWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  for (const Offset chunk : {warp, 5 * warp}) {
    SCOPED_TRACE(testing::Message() << "chunks of " << chunk);
    test::expect_whole_gpu_steps_on_all<V>(
        [&](const Csr<V, Index32>& csr) { return on_emulator<warp, 1>(csr, chunk); });
    test::expect_whole_gpu_steps_on_all<V>(
        [&](const Csr<V, Index32>& csr) { return on_emulator<warp, kLastPiece>(csr, chunk); });
  }
}

// Longer than a chunk and than all that a warp has in flight, beside short and empty ones.
TYPED_TEST(GpuCoo, RowsOfAnyLengthAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::uneven_rows<V>(warp * 70);
  for (std::size_t number = 0; number < std::min<std::size_t>(7, test::kMostCases); ++number) {
    const Offset chunk = warp * (static_cast<Offset>(number) + 1);
    SCOPED_TRACE(testing::Message() << "chunks of " << chunk);
    test::expect_gpu_steps(csr, test::whole(csr), number, on_emulator<warp, warp>(csr, chunk));
    test::expect_gpu_steps(csr, test::whole(csr), number,
                           on_emulator<warp, kLastPiece>(csr, chunk));
  }
  test::expect_gpu_steps(csr, test::whole(csr), 3, on_emulator<warp, 1>(csr, 2 * warp));
}

TYPED_TEST(GpuCoo, NothingButEntriesLetsAnythingThrough) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::tridiagonal_with_a_hole<V, Index32>(70);
  for (const int count : {1, 3}) {
    test::expect_holes_let_nothing_through(csr, count, on_emulator<warp, 1>(csr, warp));
    test::expect_holes_let_nothing_through(csr, count, on_emulator<warp, kLastPiece>(csr, warp));
  }
}

// Grids and orders differ from launch to launch, and with them who comes last.
TYPED_TEST(GpuCoo, EveryRunGivesTheSameBits) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::uneven_rows<V>(warp * 20);
  const auto x = test::random_vector<V>(csr.cols(), 1);
  const auto run = on_emulator<warp, warp>(csr, 3 * warp);
  std::vector<V> first(csr.rows());
  run({}, {x.data(), nullptr, first.data(), 1}, csr.all_rows());
  const auto in_one_launch = on_emulator<warp, kLastPiece>(csr, 3 * warp);
  for (int again = 0; again < 5; ++again) {
    std::vector<V> out(csr.rows());
    run({}, {x.data(), nullptr, out.data(), 1}, csr.all_rows());
    EXPECT_EQ(out, first);
    in_one_launch({}, {x.data(), nullptr, out.data(), 1}, csr.all_rows());
    EXPECT_EQ(out, first) << "ended by the last piece";
  }
}

}  // namespace
}  // namespace strata

// ELLPACK on an emulated GPU, and how its rows are shared out.
#include "strata/kernels/gpu/ell.hpp"

#include "strata/formats/ell.hpp"
#include "tests/kernels/gpu/emulated.hpp"

namespace strata {
namespace {

using test::Index32;

TEST(EllGroups, AreThePapers) {
  using Groups = gpu::EllGroups;
  const Offset warps = 512;
  // At most a hundredth of the rows: a thread per row.
  EXPECT_EQ(gpu::ell_groups(10, 1000, warps), Groups());
  EXPECT_EQ(gpu::ell_groups(11, 1000, warps), (Groups{16, 1}));
  // The next power of two, at most 16.
  EXPECT_EQ(gpu::ell_groups(1, 99, warps), (Groups{1, 1}));
  EXPECT_EQ(gpu::ell_groups(3, 200, warps), (Groups{4, 1}));
  EXPECT_EQ(gpu::ell_groups(5, 200, warps), (Groups{8, 1}));
  EXPECT_EQ(gpu::ell_groups(9, 200, warps), (Groups{16, 1}));
  // Several blocks per row only where there are more warps than rows.
  EXPECT_EQ(gpu::ell_groups(1000, 100, warps), (Groups{16, 5}));
  EXPECT_EQ(gpu::ell_groups(50, 100, warps), (Groups{16, 3}));
  EXPECT_EQ(gpu::ell_groups(Offset{1} << 40, 1, warps), (Groups{16, 512}));
  EXPECT_EQ(gpu::ell_groups(0, 0, warps), Groups());
  EXPECT_EQ(gpu::ell_groups(0, 50, warps), Groups());
}

TEST(EllGroups, OthersThanThereAreKernelsForAreRefused) {
  EXPECT_NO_THROW(gpu::require_ell_groups({16, 3}));
  EXPECT_THROW(gpu::require_ell_groups({3, 1}), InvalidArgument);
  EXPECT_THROW(gpu::require_ell_groups({32, 1}), InvalidArgument);
  EXPECT_THROW(gpu::require_ell_groups({0, 1}), InvalidArgument);
  EXPECT_THROW(gpu::require_ell_groups({4, 0}), InvalidArgument);
}

TEST(RowThreads, HaveAFewGathersEach) {
  EXPECT_EQ(gpu::row_threads(0, 0, 32), 1);
  EXPECT_EQ(gpu::row_threads(400, 100, 32), 1);
  EXPECT_EQ(gpu::row_threads(500, 100, 32), 2);
  EXPECT_EQ(gpu::row_threads(2700, 100, 32), 8);
  EXPECT_EQ(gpu::row_threads(2700, 100, 4), 4);
  EXPECT_EQ(gpu::row_threads(Offset{1} << 60, 1, 64), 64);
}

template <class Types>
class GpuEll : public testing::Test {};
TYPED_TEST_SUITE(GpuEll, test::ValuesOnWarps);

template <int warp_size, Value V>
auto on_emulator(const Csr<V, Index32>& csr) {
  const auto matrix = Ell<V, Index32>::from_csr(csr, {.max_fill = 1e9});
  return test::emulated<V>(matrix.rows(), matrix.cols(),
                           [matrix, values = test::device_copy(matrix.values())](
                               const auto& arguments, auto rows, auto vectors) {
                             const gpu::EllView<gpu::DeviceValue<V>> view{
                                 matrix.columns().data(), values.data(),
                                 matrix.row_lengths().data(), matrix.rows(), matrix.width()};
                             test::launch_somehow<warp_size>(0, [&](auto& thread) {
                               gpu::ell_step<gpu::FromMemory, vectors, gpu::gathers_ahead(vectors)>(
                                   thread, view, arguments, rows);
                             });
                           });
}

template <int warp_size, Value V>
auto in_groups(const Csr<V, Index32>& csr, gpu::EllGroups groups) {
  using T = gpu::DeviceValue<V>;
  const auto matrix = Ell<V, Index32>::from_csr(csr, {.max_fill = 1e9});
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, groups, values = test::device_copy(matrix.values())](const auto& arguments,
                                                                    auto rows, auto vectors) {
        const gpu::EllView<T> view{matrix.columns().data(), values.data(),
                                   matrix.row_lengths().data(), matrix.rows(), matrix.width()};
        std::vector<T> partials(
            groups.blocks_per_row == 1
                ? 0
                : static_cast<std::size_t>(matrix.rows()) * groups.blocks_per_row * arguments.count,
            gpu::device_value(test::not_a_number<V>()));
        test::launch_somehow<warp_size>(sizeof(T) * warp_size, [&](auto& thread) {
          gpu::ell_groups_step<gpu::FromMemory, vectors, gpu::gathers_ahead(vectors)>(
              thread, view, groups, arguments, rows, partials.data());
        });
        if (groups.blocks_per_row == 1) return;
        test::launch_somehow<warp_size>(0, [&](auto& thread) {
          gpu::ell_partials_step(thread, groups.blocks_per_row, arguments, rows, partials.data());
        });
      });
}

constexpr gpu::EllGroups kSomeGroups[] = {{1, 1}, {2, 1}, {8, 1}, {16, 1}, {16, 3}};

TYPED_TEST(GpuEll, GroupsAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  for (const gpu::EllGroups groups : kSomeGroups) {
    SCOPED_TRACE(testing::Message()
                 << groups.groups << " groups, " << groups.blocks_per_row << " blocks");
    test::expect_gpu_steps_on_all<V>(1, [&](const Csr<V, Index32>& csr) {
      return in_groups<TypeParam::warp_size>(csr, groups);
    });
  }
}

// Rows that are longer than all groups take at once, beside empty ones.
TYPED_TEST(GpuEll, GroupsTakeRowsOfAnyLength) {
  using V = typename TypeParam::Value;
  const auto csr = test::uneven_rows<V>(500);
  for (const gpu::EllGroups groups : kSomeGroups) {
    test::expect_gpu_steps(csr, 1, 5, in_groups<TypeParam::warp_size>(csr, groups));
  }
}

TYPED_TEST(GpuEll, AnySplitOfTheRowsIntoGroupsGivesTheSameBits) {
  using V = typename TypeParam::Value;
  const auto csr = test::uneven_rows<V>(300);
  const auto x = test::random_vector<V>(csr.cols(), 1);
  const auto run = in_groups<TypeParam::warp_size>(csr, {16, 3});
  std::vector<V> whole(csr.rows());
  std::vector<V> pieces(csr.rows());
  run({}, {x.data(), nullptr, whole.data(), 1}, csr.all_rows());
  for (Index32 begin = 0; begin < csr.rows(); begin += 377) {
    run({}, {x.data(), nullptr, pieces.data(), 1}, {begin, std::min(begin + 377, csr.rows())});
  }
  EXPECT_EQ(whole, pieces);
}

TYPED_TEST(GpuEll, AThreadPerRowAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  test::expect_gpu_steps_on_all<V>(
      1, [](const Csr<V, Index32>& csr) { return on_emulator<TypeParam::warp_size>(csr); });
}

TYPED_TEST(GpuEll, PaddingNeverLetsAnythingThrough) {
  using V = typename TypeParam::Value;
  const auto csr = test::tridiagonal_with_a_hole<V, Index32>(70);
  for (const int count : {1, 3}) {
    test::expect_holes_let_nothing_through(csr, count, on_emulator<TypeParam::warp_size>(csr));
    test::expect_holes_let_nothing_through(csr, count,
                                           in_groups<TypeParam::warp_size>(csr, {2, 1}));
  }
}

// Padding of an empty row stands in column 0, of others in their last column.
TYPED_TEST(GpuEll, EmptyRowsStayZeroWhateverIsInX) {
  using V = typename TypeParam::Value;
  test::Entries<V, Index32> entries(40, 40, 3);
  for (Index32 row = 0; row < 40; row += 3) {
    for (Index32 column = 0; column <= row % 5; ++column) entries.add(row, column);
  }
  const Csr<V, Index32> csr = entries.coo().to_csr();
  const std::vector<V> x(40, test::not_a_number<V>());
  std::vector<V> out(40, V{7});
  on_emulator<TypeParam::warp_size>(csr)({}, {x.data(), nullptr, out.data(), 1}, csr.all_rows());
  for (Index32 row = 0; row < 40; ++row) {
    if (row % 3 == 0) {
      EXPECT_NE(out[row], out[row]);
    } else {
      EXPECT_EQ(out[row], V{});
    }
  }
}

}  // namespace
}  // namespace strata

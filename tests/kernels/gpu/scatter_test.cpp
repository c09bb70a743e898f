// Products that add to elements of y all over, on an emulated GPU: transposed and symmetric CSR;
// and how they are shared out.
#include "strata/kernels/gpu/scatter.hpp"

#include "strata/formats/symmetric_csr.hpp"
#include "strata/gen/generate.hpp"
#include "tests/kernels/gpu/emulated.hpp"

namespace strata {
namespace {

using gpu::ScatterTargets;
using test::Index32;

// ---- how they are shared out

// Every entry is in the window of its part, and the lists of the tiles have all windows.
void expect_windows_cover(const Csr<double, Index32>& csr, ScatterTargets targets,
                          const gpu::ScatterSplit& split) {
  Index32 row = 0;
  for (Index32 part = 0; part < split.count(); ++part) {
    const auto& begin = split.parts[part];
    const auto& end = split.parts[part + 1];
    ASSERT_EQ(begin.first_row, row);
    const auto expect_inside = [&](Index32 element) {
      ASSERT_GE(element, begin.first_element);
      ASSERT_LT(element - begin.first_element, end.window - begin.window);
      const Index32 tile = element / gpu::kScatterTile;
      EXPECT_TRUE(std::binary_search(split.tile_parts.begin() + split.tiles[tile],
                                     split.tile_parts.begin() + split.tiles[tile + 1], part));
    };
    for (; row < end.first_row; ++row) {
      for (const Index32 column : csr.pattern().columns_of(row)) expect_inside(column);
      if (targets == ScatterTargets::columns_and_rows) expect_inside(row);
    }
  }
  EXPECT_EQ(row, csr.rows());
}

TEST(ScatterSplit, WindowsCoverWhatTheirPartsAddTo) {
  for (const char* text : {"stencil5:60x50", "arrow:3000", "rmat:11,edges=8"}) {
    SCOPED_TRACE(text);
    const auto csr = generate<double, Index32>(text);
    for (const auto targets : {ScatterTargets::columns, ScatterTargets::columns_and_rows}) {
      const auto split = gpu::split_scatter(csr.pattern(), targets, 100);
      expect_windows_cover(csr, targets, split);
      EXPECT_LE(split.elements(), gpu::kScatterWindows * (csr.nnz() + csr.rows()));
    }
  }
}

TEST(ScatterSplit, BandsHaveManyPartsAndRandomMatricesAreRefused) {
  const auto band = generate<double, Index32>("stencil5:300x300");
  const auto split = gpu::split_scatter(band.pattern(), ScatterTargets::columns);
  EXPECT_GT(split.count(), band.nnz() / (2 * gpu::kScatterEntries));
  EXPECT_TRUE(gpu::can_scatter(band.pattern(), ScatterTargets::columns));
  const auto random = generate<double, Index32>("rmat:16,edges=16");
  EXPECT_FALSE(gpu::can_scatter(random.pattern(), ScatterTargets::columns));
  EXPECT_THROW(gpu::split_scatter(random.pattern(), ScatterTargets::columns), InvalidArgument);
}

// ---- the kernels

template <class Types>
class GpuScatter : public testing::Test {};
TYPED_TEST_SUITE(GpuScatter, test::ValuesOnWarps);

template <int warp_size, bool kRows, Value V>
auto on_emulator(const Csr<V, Index32>& csr, gpu::Mirror mirror, Offset entries_of_part) {
  using T = gpu::DeviceValue<V>;
  constexpr auto targets = kRows ? ScatterTargets::columns_and_rows : ScatterTargets::columns;
  const auto split = gpu::split_scatter(csr.pattern(), targets, entries_of_part);
  const Index32 outputs = kRows ? csr.rows() : csr.cols();
  return test::emulated<V>(
      outputs, csr.rows(),
      [csr, split, mirror, outputs, values = test::device_copy(csr.values())](const auto& arguments,
                                                                              auto, auto vectors) {
        std::vector<T> windows(static_cast<std::size_t>(split.elements()) * arguments.count,
                               gpu::device_value(test::not_a_number<V>()));
        const gpu::ScatterView<T> view{
            {csr.row_offsets().data(), csr.columns().data(), values.data(), csr.rows()},
            split.parts.data(),
            split.count(),
            split.tiles.data(),
            split.tile_parts.data(),
            outputs,
            mirror,
            windows.data()};
        test::launch_somehow<warp_size>(0, [&](auto& thread) {
          gpu::scatter_step<gpu::FromMemory, kRows, vectors>(thread, view, arguments);
        });
        test::launch_somehow<warp_size>(
            0, [&](auto& thread) { gpu::scatter_windows_step(thread, view, arguments); });
      });
}

// With `change` of every value.
template <Value V, class Change>
Csr<V, Index32> changed(const Csr<V, Index32>& csr, const Change& change) {
  Array<V> values(csr.values().begin(), csr.values().end());
  std::ranges::transform(values, values.begin(), change);
  return Csr<V, Index32>(
      csr.rows(), csr.cols(), Array<Offset>(csr.row_offsets().begin(), csr.row_offsets().end()),
      Array<Index32>(csr.columns().begin(), csr.columns().end()), std::move(values));
}

template <Value V>
Csr<V, Index32> conjugated(const Csr<V, Index32>& csr) {
  return changed(csr, [](V value) { return conjugate(value); });
}

template <Value V>
std::vector<Csr<V, Index32>> matrices() {
  std::vector<Csr<V, Index32>> all;
  for (const auto& [name, entries] : test::awkward_matrices<V, Index32>()) {
    all.push_back(entries.to_csr());
  }
  all.push_back(test::uneven_rows<V>(700));
  return all;
}

TYPED_TEST(GpuScatter, TransposedProductsAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  std::size_t number = 0;
  for (const auto& csr : matrices<V>()) {
    SCOPED_TRACE(testing::Message() << "matrix " << number);
    const auto transpose = transposed(csr);
    for (const Offset entries : {1, 40, 100000}) {
      test::expect_gpu_steps(transpose, test::whole(transpose), number++,
                             on_emulator<warp, false>(csr, gpu::Mirror::same, entries));
    }
    test::expect_gpu_steps(conjugated(transpose), test::whole(transpose), number++,
                           on_emulator<warp, false>(csr, gpu::Mirror::conjugate, 30));
  }
}

// The lower triangle of the first rows and columns, with the diagonal that the symmetry allows.
template <Value V>
Csr<V, Index32> lower_of(const Csr<V, Index32>& csr, Symmetry symmetry) {
  const Index32 n = std::min(csr.rows(), csr.cols());
  Array<Index32> rows;
  Array<Index32> columns;
  Array<V> values;
  for (Index32 row = 0; row < n; ++row) {
    for (Offset k = csr.row_offsets()[row]; k < csr.row_offsets()[row + 1]; ++k) {
      const Index32 column = csr.columns()[k];
      if (column > row) continue;
      V value = csr.values()[k];
      if (column == row && symmetry == Symmetry::skew_symmetric) value = V{};
      if (column == row && symmetry == Symmetry::hermitian) value = V(std::real(value));
      rows.push_back(row);
      columns.push_back(column);
      values.push_back(value);
    }
  }
  return Coo<V, Index32>(n, n, std::move(rows), std::move(columns), std::move(values)).to_csr();
}

TYPED_TEST(GpuScatter, SymmetricProductsAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const std::pair<Symmetry, gpu::Mirror> kinds[] = {
      {Symmetry::symmetric, gpu::Mirror::same},
      {Symmetry::skew_symmetric, gpu::Mirror::negative},
      {Symmetry::hermitian, gpu::Mirror::conjugate}};
  std::size_t number = 0;
  for (const auto& csr : matrices<V>()) {
    for (const auto& [symmetry, mirror] : kinds) {
      SCOPED_TRACE(testing::Message() << "case " << number);
      const auto lower = lower_of(csr, symmetry);
      const auto full = SymmetricCsr<V, Index32>(lower, symmetry).to_csr();
      const Offset entries = number % 2 == 0 ? 1 : 60;
      test::expect_gpu_steps(full, test::whole(full), number++,
                             on_emulator<warp, true>(lower, mirror, entries));
    }
  }
}

TYPED_TEST(GpuScatter, NothingButEntriesLetsAnythingThrough) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::tridiagonal_with_a_hole<V, Index32>(70);
  for (const int count : {1, 3}) {
    test::expect_holes_let_nothing_through(
        csr, count, on_emulator<warp, false>(transposed(csr), gpu::Mirror::same, 20));
  }
}

// Grids and orders differ from launch to launch.
TYPED_TEST(GpuScatter, EveryRunGivesTheSameBits) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::uneven_rows<V>(600);
  const auto x = test::random_vector<V>(csr.rows(), 1);
  const auto run = on_emulator<warp, false>(csr, gpu::Mirror::same, 50);
  std::vector<V> first(csr.cols());
  run({}, {x.data(), nullptr, first.data(), 1}, {0, csr.cols()});
  for (int again = 0; again < 5; ++again) {
    std::vector<V> out(csr.cols());
    run({}, {x.data(), nullptr, out.data(), 1}, {0, csr.cols()});
    EXPECT_EQ(out, first);
  }
}

}  // namespace
}  // namespace strata

// The kernels behind DeviceSpace on emulated threads, in warps of 32 and of 64 and in any order of
// the threads, against sums by the processor.

#include <gtest/gtest.h>

#include "strata/solvers/gpu/block_bodies.hpp"
#include "strata/solvers/gpu/program_pass.hpp"
#include "tests/kernels/gpu/emulated.hpp"
#include "tests/solvers/gpu/numbers.hpp"

namespace strata {
namespace {

template <class Types>
class SpaceBodies : public testing::Test {};
TYPED_TEST_SUITE(SpaceBodies, test::ValuesOnWarps);

template <Value V>
V host_value(const gpu::DeviceValue<V>& value) {
  if constexpr (is_complex<V>) {
    return V(value.re, value.im);
  } else {
    return value;
  }
}
template <Value V>
V conjugate(V value) {
  if constexpr (is_complex<V>) return std::conj(value);
  return value;
}

// x = x + a y, z = x − w∘y, (x, x), (z, y), ratio: the last block to arrive has it all.
TYPED_TEST(SpaceBodies, APassAssignsAndAddsUpWhateverTheOrderOfBlocks) {
  using V = typename TypeParam::Value;
  using T = gpu::DeviceValue<V>;
  constexpr int warp = TypeParam::warp_size;
  for (const std::size_t rows : {0U, 1U, 777U, 2000U}) {
    const auto x = test::solver_numbers<V>(rows, 1), y = test::solver_numbers<V>(rows, 2);
    const auto w = test::solver_numbers<V>(rows, 3);
    std::vector<T> first;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      auto device_x = test::device_copy(std::span<const V>(x));
      auto device_y = test::device_copy(std::span<const V>(y));
      auto device_w = test::device_copy(std::span<const V>(w));
      std::vector<T> z(rows), scalars(8), sums(gpu::kPassDots * gpu::kPassBlocks);
      std::vector<std::uint32_t> arrivals(1);
      scalars[0] = gpu::device_value(V(3));
      gpu::ProgramPass<T> pass;
      pass.rows = static_cast<std::int64_t>(rows);
      pass.vectors[0] = device_x.data();
      pass.vectors[1] = device_y.data();
      pass.vectors[2] = device_w.data();
      pass.vectors[3] = z.data();
      pass.loaded = 3;
      pass.stored = 1 | 8;
      const T one = gpu::device_value(V(1));
      pass.assignments[0] = {{{one, -1, 1, 0}, {one, 0, 2, 0}}, 2, 1};
      pass.assignments[1] = {{{one, -1, 1, 0}, {gpu::device_value(V(-1)), -1, 2, 4}}, 2, 8};
      pass.assignment_count = 2;
      pass.dots[0] = {1, 1, 1};
      pass.dots[1] = {8, 2, 2};
      pass.dot_count = 2;
      pass.writes[0] = {gpu::device_value(V(5)), 4};
      pass.write_count = 1;
      const std::int32_t locals[] = {3, 2, 1, 4, 0};
      std::copy(std::begin(locals), std::end(locals), pass.locals);
      pass.local_count = 5;
      pass.steps[0] = {0, 1, 2, solvers::Operation::divide_nonzero};  // scalar 3 = (z, y) / (x, x)
      pass.steps[1] = {4, 0, 3, solvers::Operation::add};             // scalar 0 = that + 5
      pass.step_count = 2;
      pass.scalars = scalars.data();
      pass.sums = sums.data();
      pass.arrivals = arrivals.data();
      emulator::launch<warp>(
          3, gpu::kPassThreads, gpu::kPassShared * sizeof(T),
          {seed == 1 ? emulator::Order::round_robin : emulator::Order::uneven, seed},
          [&](auto& thread) { gpu::run_pass<4, 2>(thread, pass); });
      V square = V(0), product = V(0);
      const double tolerance = test::sum_tolerance<V>(10);
      for (std::size_t i = 0; i < rows; ++i) {
        const V new_x = x[i] + V(3) * y[i];
        const V new_z = new_x - w[i] * y[i];
        ASSERT_LE(std::abs(host_value<V>(device_x[i]) - new_x), tolerance);
        ASSERT_LE(std::abs(host_value<V>(z[i]) - new_z), tolerance);
        ASSERT_EQ(host_value<V>(device_y[i]), y[i]);
        square += conjugate(new_x) * new_x;
        product += conjugate(new_z) * y[i];
      }
      const double bound =
          test::sum_tolerance<V>(static_cast<Offset>(rows)) * (1 + std::abs(square));
      EXPECT_LE(std::abs(host_value<V>(scalars[1]) - square), bound);
      EXPECT_LE(std::abs(host_value<V>(scalars[2]) - product), bound);
      const V ratio = square == V(0) ? V(0) : product / square;
      EXPECT_LE(std::abs(host_value<V>(scalars[3]) - ratio), bound);
      EXPECT_LE(std::abs(host_value<V>(scalars[0]) - (ratio + V(5))), bound);
      EXPECT_EQ(host_value<V>(scalars[4]), V(5));
      EXPECT_EQ(arrivals[0], 0U);
      if (first.empty()) first = scalars;
      for (std::size_t k = 0; k < scalars.size(); ++k) {
        EXPECT_EQ(host_value<V>(scalars[k]), host_value<V>(first[k]));
      }
    }
  }
}

TYPED_TEST(SpaceBodies, BlocksAreMultipliedInTilesOfColumns) {
  using V = typename TypeParam::Value;
  using T = gpu::DeviceValue<V>;
  constexpr int warp = TypeParam::warp_size;
  constexpr int width = gpu::kGramColumns<T>;
  const int rows = 301;
  for (const auto& [m, n] : {std::pair{1, 1}, {11, 6}, {40, 5}}) {
    for (const bool interleaved : {false, true}) {
      SCOPED_TRACE(testing::Message() << m << " and " << n);
      const auto a = test::solver_numbers<V>(m * rows, 1), b = test::solver_numbers<V>(n * rows, 2);
      const auto c = test::solver_numbers<V>(m * n, 3), by = test::solver_numbers<V>(n * n, 4);
      const auto device_a = test::device_copy(std::span<const V>(a));
      auto device_b = test::device_copy(std::span<const V>(b));
      const auto device_c = test::device_copy(std::span<const V>(c));
      const auto device_by = test::device_copy(std::span<const V>(by));
      const auto at = [&](int row, int column, int columns) {
        return static_cast<std::size_t>(interleaved ? row * columns + column : column * rows + row);
      };
      const gpu::BlockView<const T> of_a{device_a.data(), interleaved ? m : 1,
                                         interleaved ? 1 : rows, m};
      const gpu::BlockView<T> of_b{device_b.data(), interleaved ? n : 1, interleaved ? 1 : rows, n};

      const int tiles_of_a = (m + width - 1) / width, tiles = tiles_of_a * ((n + 3) / 4);
      const int panels = (tiles + gpu::kGramTiles - 1) / gpu::kGramTiles, row_blocks = 2;
      std::vector<T> products(static_cast<std::size_t>(m * n)),
          sums(static_cast<std::size_t>(tiles * width * 4 * row_blocks));
      std::vector<std::uint32_t> arrivals(static_cast<std::size_t>(panels));
      const gpu::GramArguments<T> gram{
          .a = of_a,
          .b = {device_b.data(), of_b.row_stride, of_b.column_stride, n},
          .rows = rows,
          .target = products.data(),
          .sums = sums.data(),
          .arrivals = arrivals.data(),
          .row_blocks = row_blocks,
          .tiles_of_a = tiles_of_a,
          .tiles = tiles};
      emulator::launch<warp>(panels * row_blocks, gpu::kGramThreads,
                             gpu::kGramShared<T> * sizeof(T), {emulator::Order::uneven, 7},
                             [&](auto& thread) { gpu::gram<4>(thread, gram); });
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          V sum = V(0);
          for (int r = 0; r < rows; ++r) sum += conjugate(a[at(r, i, m)]) * b[at(r, j, n)];
          const V found = host_value<V>(products[static_cast<std::size_t>(i + j * m)]);
          EXPECT_LE(std::abs(found - sum), test::sum_tolerance<V>(rows)) << i << ", " << j;
        }
      }
      for (const std::uint32_t arrival : arrivals) EXPECT_EQ(arrival, 0U);

      const gpu::AddProductArguments<T> add{
          of_a, of_b, rows, gpu::device_value(V(-2)), device_c.data(), m};
      emulator::launch<warp>(2, 2 * warp, static_cast<std::size_t>(m) * 8 * sizeof(T), {},
                             [&](auto& thread) { gpu::add_product<8>(thread, add); });
      const gpu::TransformArguments<T> transform{of_b, rows, device_by.data(), 0};
      emulator::launch<warp>(2, gpu::kBlockThreads,
                             static_cast<std::size_t>(n * gpu::transform_rows<T>(n)) * sizeof(T),
                             {}, [&](auto& thread) { gpu::transform(thread, transform); });
      for (int r = 0; r < rows; ++r) {
        std::vector<V> row;
        for (int j = 0; j < n; ++j) {
          V value = b[at(r, j, n)];
          for (int i = 0; i < m; ++i) {
            value -= V(2) * a[at(r, i, m)] * c[static_cast<std::size_t>(i + j * m)];
          }
          row.push_back(value);
        }
        for (int j = 0; j < n; ++j) {
          V value = V(0);
          for (int i = 0; i < n; ++i) {
            value += row[static_cast<std::size_t>(i)] * by[static_cast<std::size_t>(i + j * n)];
          }
          ASSERT_LE(std::abs(host_value<V>(device_b[at(r, j, n)]) - value),
                    test::sum_tolerance<V>(200));
        }
      }
    }
  }
}

}  // namespace
}  // namespace strata

// Vectors in another order on an emulated GPU: as PaddedOrder moves them on the host.
#include "strata/kernels/gpu/reorder.hpp"

#include "strata/order/padded_order.hpp"
#include "tests/kernels/gpu/emulated.hpp"
#include "tests/support/orders.hpp"

namespace strata {
namespace {

using test::Index32;

template <class Types>
class GpuReorder : public testing::Test {};
TYPED_TEST_SUITE(GpuReorder, test::ValuesOnWarps);

template <int warp_size, class From, class To>
void reorder_on_emulator(const From& from, const To& to, const Index32* source, std::size_t lines,
                         int count) {
  const gpu::ReorderArguments<From, To> arguments{from, to, source, static_cast<Index32>(lines),
                                                  count};
  test::launch_somehow<warp_size>(0, [&](auto& thread) { gpu::reorder(thread, arguments); });
}

// The lines of `from` in the order of `source`, in an array of exactly their size.
template <int warp_size, class T>
std::vector<T> reordered_on_emulator(const std::vector<T>& from, const std::vector<Index32>& source,
                                     int count) {
  std::vector<T> to(source.size() * static_cast<std::size_t>(count));
  reorder_on_emulator<warp_size>(gpu::InterleavedLines<const T>{from.data(), count},
                                 gpu::InterleavedLines<T>{to.data(), count}, source.data(),
                                 source.size(), count);
  return to;
}

// Where a caller may have the elements of some vectors.
struct Strides {
  std::int64_t line = 1;
  std::int64_t element = 0;

  std::size_t at(std::size_t line_number, int v) const {
    return line_number * static_cast<std::size_t>(line) + static_cast<std::size_t>(element * v);
  }
  // Up to the last of them.
  std::size_t size(std::size_t lines, int count) const {
    return lines == 0 ? 0 : at(lines - 1, count - 1) + 1;
  }
};

// Interleaved vectors with these strides; -7 is between them.
template <Value V>
std::vector<V> spread(const std::vector<V>& interleaved, int count, const Strides& strides) {
  const std::size_t lines = interleaved.size() / static_cast<std::size_t>(count);
  std::vector<V> all(strides.size(lines, count), V(-7));
  for (std::size_t line = 0; line < lines; ++line) {
    for (int v = 0; v < count; ++v) all[strides.at(line, v)] = interleaved[line * count + v];
  }
  return all;
}

template <Value V>
void expect_same(const std::vector<V>& expected, const std::vector<gpu::DeviceValue<V>>& found) {
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto wanted = gpu::device_value(expected[i]);
    if constexpr (is_complex<V>) {
      ASSERT_TRUE(wanted.re == found[i].re && wanted.im == found[i].im) << "element " << i;
    } else {
      ASSERT_EQ(wanted, found[i]) << "element " << i;
    }
  }
}

TYPED_TEST(GpuReorder, VectorsGoWhereThePaddedOrderPutsThemAndBack) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  for (const Index32 rows : {0, 1, 63, 64, 1000}) {
    const PaddedOrder<Index32> order(rows, test::padded_rows<Index32>(rows, 1));
    std::vector<Index32> row_at;
    std::vector<Index32> position_of;
    for (Index32 i = 0; i < order.padded_rows(); ++i) row_at.push_back(order.row_at(i));
    for (Index32 i = 0; i < rows; ++i) position_of.push_back(order.position_of(i));
    for (int count = 1; count <= 8; ++count) {
      SCOPED_TRACE(testing::Message() << count << " vectors of " << rows << " rows");
      const auto x = test::random_vector<V>(static_cast<std::size_t>(rows) * count, 2);
      std::vector<V> expected(static_cast<std::size_t>(order.padded_rows()) * count);
      order.template gather<V>(x, expected, count);
      const auto moved =
          reordered_on_emulator<warp>(test::device_copy(std::span<const V>(x)), row_at, count);
      expect_same(expected, moved);
      expect_same(x, reordered_on_emulator<warp>(moved, position_of, count));
    }
  }
}

// Columns of a matrix with a leading dimension, rows of one that is wider, and columns as they are.
TYPED_TEST(GpuReorder, VectorsWithStridesGoTheSameWayAndNothingBetweenThemChanges) {
  using V = typename TypeParam::Value;
  using T = gpu::DeviceValue<V>;
  constexpr int warp = TypeParam::warp_size;
  for (const Index32 rows : {0, 1, 65, 300}) {
    const PaddedOrder<Index32> padded(rows, test::padded_rows<Index32>(rows, 1));
    std::vector<Index32> row_at;
    std::vector<Index32> position_of;
    for (Index32 i = 0; i < padded.padded_rows(); ++i) row_at.push_back(padded.row_at(i));
    for (Index32 i = 0; i < rows; ++i) position_of.push_back(padded.position_of(i));
    for (const int count : {1, 3, 8}) {
      for (const Strides& strides : {Strides{1, rows + 5}, Strides{11, 1}, Strides{20, 2}}) {
        for (const bool moves : {true, false}) {
          SCOPED_TRACE(testing::Message() << count << " vectors of " << rows << " rows, strides "
                                          << strides.line << " and " << strides.element);
          const auto x = test::random_vector<V>(static_cast<std::size_t>(rows) * count, 2);
          const std::size_t lines = moves ? row_at.size() : static_cast<std::size_t>(rows);
          std::vector<V> expected = x;
          if (moves) {
            expected.resize(lines * count);
            padded.template gather<V>(x, expected, count);
          }
          const std::vector<V> lying = spread(x, count, strides);
          const std::vector<T> from = test::device_copy(std::span<const V>(lying));
          std::vector<T> packed =
              test::device_copy(std::span<const V>(std::vector<V>(lines * count, V(-9))));
          reorder_on_emulator<warp>(
              gpu::StridedLines<const T>{from.data(), strides.line, strides.element},
              gpu::InterleavedLines<T>{packed.data(), count}, moves ? row_at.data() : nullptr,
              lines, count);
          expect_same(expected, packed);
          const std::vector<V> untouched(lying.size(), V(-7));
          std::vector<T> back = test::device_copy(std::span<const V>(untouched));
          reorder_on_emulator<warp>(
              gpu::InterleavedLines<const T>{packed.data(), count},
              gpu::StridedLines<T>{back.data(), strides.line, strides.element},
              moves ? position_of.data() : nullptr, static_cast<std::size_t>(rows), count);
          expect_same(lying, back);
        }
      }
    }
  }
}

}  // namespace
}  // namespace strata

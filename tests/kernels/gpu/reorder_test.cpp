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

// The lines of `from` in the order of `source`, in an array of exactly their size.
template <int warp_size, class T>
std::vector<T> reordered_on_emulator(const std::vector<T>& from, const std::vector<Index32>& source,
                                     int count) {
  std::vector<T> to(source.size() * static_cast<std::size_t>(count));
  const gpu::ReorderArguments<T> arguments{from.data(), to.data(), source.data(),
                                           static_cast<Index32>(source.size()), count};
  test::launch_somehow<warp_size>(0, [&](auto& thread) { gpu::reorder(thread, arguments); });
  return to;
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

}  // namespace
}  // namespace strata

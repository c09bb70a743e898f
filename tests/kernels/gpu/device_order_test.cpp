// Vectors between the orders of the caller and of a matrix, on a GPU itself.
#include "strata/kernels/gpu/device_order.hpp"

#include "tests/support/gpu.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/orders.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <class Types>
class GpuOrder : public test::GpuTest {};
TYPED_TEST_SUITE(GpuOrder, test::AllTypes);

template <Value V, Index I>
void expect_moves_like_the_host(const PaddedOrder<I>& order, int count) {
  SCOPED_TRACE(testing::Message() << count << " vectors of " << order.rows() << " rows");
  gpu::Stream stream;
  const gpu::DeviceOrder on_device(order, stream);
  EXPECT_EQ(on_device.is_identity(), order.is_identity());
  const auto x = test::random_vector<V>(static_cast<std::size_t>(order.rows()) * count, 2);
  Array<V> expected(static_cast<std::size_t>(order.padded_rows()) * count);
  order.template gather<V>(x, expected, count);
  const auto of_rows = gpu::to_device(std::span<const V>(x), stream);
  gpu::DeviceArray<V> moved(std::ssize(expected));
  gpu::DeviceArray<V> back(of_rows.size());
  on_device.gather(of_rows.span(), moved.span(), count, stream);
  on_device.scatter(moved.span(), back.span(), count, stream);
  EXPECT_EQ(gpu::to_host(moved.span(), stream), expected);
  EXPECT_TRUE(std::ranges::equal(gpu::to_host(back.span(), stream), x));
}

TYPED_TEST(GpuOrder, ScatterUndoesGatherAndPaddedRowsAreZero) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const I rows : {0, 1, 17, 256, 60000}) {
    const PaddedOrder<I> order(rows, test::padded_rows<I>(rows, 1));
    for (int count = 1; count <= 8; ++count) expect_moves_like_the_host<V, I>(order, count);
  }
}

TYPED_TEST(GpuOrder, AnOrderThatMovesNothingCopies) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const I rows : {0, 1, 1000}) {
    expect_moves_like_the_host<V, I>(PaddedOrder<I>::identity(rows), 3);
  }
}

class GpuOrders : public test::GpuTest {};

TEST_F(GpuOrders, VectorsOfAnotherSizeAreRefused) {
  gpu::Stream stream;
  const PaddedOrder<std::int32_t> order(3, {2, -1, 0, 1});
  const gpu::DeviceOrder on_device(order, stream);
  gpu::DeviceArray<double> rows(3), padded_rows(4), many(36);
  EXPECT_NO_THROW(on_device.gather(rows.span(), padded_rows.span(), 1, stream));
  EXPECT_THROW(on_device.gather(padded_rows.span(), padded_rows.span(), 1, stream),
               InvalidArgument);
  EXPECT_THROW(on_device.gather(rows.span(), rows.span(), 1, stream), InvalidArgument);
  EXPECT_THROW(on_device.scatter(padded_rows.span(), rows.span(), 2, stream), InvalidArgument);
  EXPECT_THROW(on_device.scatter(many.span(), many.subspan(0, 27), 9, stream), InvalidArgument);
}

}  // namespace
}  // namespace strata

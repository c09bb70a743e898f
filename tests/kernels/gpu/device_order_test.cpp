// Vectors between the orders of the caller and of a matrix, on a GPU itself.
#include "strata/kernels/gpu/device_order.hpp"

#include <algorithm>
#include <complex>
#include <vector>

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

// x with element v of row r at r + v·leading and -7 between the columns.
template <Value V>
std::vector<V> columns_of(const std::vector<V>& x, Offset rows, int count, Offset leading) {
  std::vector<V> columns(static_cast<std::size_t>(leading * count), V(-7));
  for (Offset row = 0; row < rows; ++row) {
    for (int v = 0; v < count; ++v) columns[row + v * leading] = x[row * count + v];
  }
  return columns;
}

TYPED_TEST(GpuOrder, VectorsWithStridesMoveLikeInterleavedOnes) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  gpu::Stream stream;
  for (const I rows : {0, 1, 1000}) {
    for (const auto& order :
         {PaddedOrder<I>(rows, test::padded_rows<I>(rows, 1)), PaddedOrder<I>::identity(rows)}) {
      const gpu::DeviceOrder on_device(order, stream);
      const int count = 3;
      const Offset leading = Offset{rows} + 7;
      const auto x = test::random_vector<V>(static_cast<std::size_t>(rows) * count, 2);
      Array<V> expected(static_cast<std::size_t>(order.padded_rows()) * count);
      order.template gather<V>(x, expected, count);
      const std::vector<V> columns = columns_of(x, rows, count, leading);
      const std::vector<V> untouched(columns.size(), V(-7));
      const auto from = gpu::to_device(std::span<const V>(columns), stream);
      auto back = gpu::to_device(std::span<const V>(untouched), stream);
      gpu::DeviceArray<V> moved(std::ssize(expected));
      on_device.gather(gpu::StridedLines<const V>{from.data(), 1, leading}, moved.span(), count,
                       stream);
      on_device.scatter(moved.span(), gpu::StridedLines<V>{back.data(), 1, leading}, count, stream);
      EXPECT_EQ(gpu::to_host(moved.span(), stream), expected);
      EXPECT_TRUE(std::ranges::equal(gpu::to_host(back.span(), stream), columns));
      gpu::DeviceArray<V> interleaved(std::ssize(x));
      gpu::interleave(gpu::StridedLines<const V>{from.data(), 1, leading}, interleaved.span(),
                      count, stream);
      EXPECT_TRUE(std::ranges::equal(gpu::to_host(interleaved.span(), stream), x));
    }
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
  const gpu::StridedLines<double> strided{many.data(), 2, 0};
  const gpu::StridedLines<const double> from{many.data(), 2, 0};
  EXPECT_NO_THROW(on_device.scatter(padded_rows.span(), strided, 1, stream));
  EXPECT_THROW(on_device.scatter(rows.span(), strided, 1, stream), InvalidArgument);
  EXPECT_THROW(on_device.gather(from, rows.span(), 1, stream), InvalidArgument);
  EXPECT_THROW(on_device.gather(from, many.span(), 9, stream), InvalidArgument);
  EXPECT_THROW(gpu::interleave(from, rows.span(), 2, stream), InvalidArgument);
  EXPECT_THROW(gpu::interleave(from, rows.span(), 0, stream), InvalidArgument);
  gpu::DeviceArray<std::complex<double>> numbers(4);
  auto* half = reinterpret_cast<std::complex<double>*>(many.data() + 1);
  EXPECT_THROW(
      on_device.scatter(numbers.span(), gpu::StridedLines<std::complex<double>>{half}, 1, stream),
      InvalidArgument);
}

}  // namespace
}  // namespace strata

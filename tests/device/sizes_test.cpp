// Sizes are checked before the runtime sees them, hence without a device.

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

#include "strata/device/array.hpp"
#include "strata/device/event.hpp"
#include "strata/device/graph.hpp"

namespace strata::test {
namespace {

using gpu::DeviceArray;
using gpu::DeviceSpan;
using gpu::PinnedArray;

template <class T>
inline constexpr bool moves_only =
    std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
    !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(moves_only<DeviceArray<double>> && moves_only<PinnedArray<double>> &&
              moves_only<gpu::Stream> && moves_only<gpu::Event> && moves_only<gpu::Graph>);

// Nothing becomes data of the other side by itself.
static_assert(!std::is_convertible_v<DeviceSpan<double>, std::span<double>>);
static_assert(!std::is_convertible_v<std::span<double>, DeviceSpan<double>>);
static_assert(std::is_convertible_v<DeviceSpan<double>, DeviceSpan<const double>>);
static_assert(!std::is_convertible_v<DeviceSpan<const double>, DeviceSpan<double>>);

TEST(DeviceSizes, ArraysWithoutElementsNeedNoDevice) {
  DeviceArray<double> array;
  EXPECT_EQ(array.size(), 0);
  array = DeviceArray<double>(0);
  EXPECT_TRUE(array.empty());
  EXPECT_EQ(array.data(), nullptr);
  EXPECT_TRUE(array.subspan(0, 0).empty());
  EXPECT_EQ(PinnedArray<int>(0).span().size(), 0U);
}

TEST(DeviceSizes, ImpossibleArraysAreRefused) {
  EXPECT_THROW(DeviceArray<double>(-1), InvalidArgument);
  EXPECT_THROW(PinnedArray<double>(-1), InvalidArgument);
  EXPECT_THROW(DeviceArray<double>(std::numeric_limits<Offset>::max() / 2), OverflowError);
  EXPECT_THROW(PinnedArray<double>(std::numeric_limits<Offset>::max() / 2), OverflowError);
}

TEST(DeviceSizes, SubspansStayInside) {
  double memory[8];
  const DeviceSpan<double> span(memory, 8);
  const DeviceSpan<const double> part = span.subspan(3, 4);
  EXPECT_EQ(part.data(), memory + 3);
  EXPECT_EQ(part.size(), 4);
  EXPECT_EQ(part.bytes(), 32);
  EXPECT_TRUE(span.subspan(8, 0).empty());
  for (const auto& [first, count] : {std::pair<Offset, Offset>{-1, 2}, {0, 9}, {8, 1}, {0, -1}}) {
    EXPECT_THROW(span.subspan(first, count), InvalidArgument) << first << " " << count;
  }
  EXPECT_THROW(span.subspan(std::numeric_limits<Offset>::max(), 2), InvalidArgument);
}

TEST(DeviceSizes, CopiesNeedPlacesOfOneSize) {
  EXPECT_NO_THROW(gpu::detail::require_same_size(3, 3));
  EXPECT_THROW(gpu::detail::require_same_size(3, 4), InvalidArgument);
}

}  // namespace
}  // namespace strata::test

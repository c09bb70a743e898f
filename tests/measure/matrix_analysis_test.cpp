#include "strata/measure/matrix_analysis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <numeric>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/formats/registry.hpp"
#include "strata/gen/generate.hpp"
#include "strata/model/balance.hpp"

namespace strata::test {
namespace {

AnyMatrix stencil() {
  return generate<double, std::int32_t>("stencil5:30x20");
}

// A matrix of one entry, as wide as the type of its indices allows.
template <Index I>
Csr<double, I> one_entry(I rows, I cols) {
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1, 1);
  offsets[0] = 0;
  return {rows, cols, std::move(offsets), Array<I>{0}, Array<double>{1.0}};
}

TEST(ProductWork, KnowsFlopsAndBytesByTheTypes) {
  const ProductWork real = work_of(stencil());
  EXPECT_EQ(real.rows, 600);
  EXPECT_EQ(real.cols, 600);
  EXPECT_EQ(real.entries, 2900);
  EXPECT_EQ(real.flops(), 2 * 2900);
  EXPECT_EQ(real.vector_bytes(), 8 * 1200);
  EXPECT_EQ(real.minimum_bytes(), 8 * (2900 + 1200));

  const ProductWork complex = work_of(converted_to(stencil(), Precision::single_complex, 64));
  EXPECT_EQ(complex.value_bytes, 8);
  EXPECT_EQ(complex.index_bytes, 8);
  EXPECT_EQ(complex.flops(), 8 * 2900);
}

TEST(ProductWork, BalanceIsThatOfTheModelWithXLoadedOnce) {
  EXPECT_DOUBLE_EQ(work_of(stencil()).csr_balance(), minimum_crs_balance(2900.0 / 600));
  const ProductWork complex = work_of(converted_to(stencil(), Precision::double_complex, 32));
  EXPECT_DOUBLE_EQ(complex.csr_balance(), minimum_crs_balance(2900.0 / 600, {16, 4}) / 4);
  // Per entry a value and an index; all of x; per row an offset, and y in and out.
  const ProductWork wide{.rows = 10, .cols = 1000, .entries = 50};
  EXPECT_DOUBLE_EQ(wide.csr_balance(), (50 * 12 + 1000 * 8 + 10 * 20) / 100.0);
}

TEST(ProductWork, WithoutEntriesHasNoBalance) {
  EXPECT_THROW(static_cast<void>(ProductWork{.rows = 3, .cols = 3}.csr_balance()), InvalidArgument);
  EXPECT_THROW(static_cast<void>(ProductWork{}.csr_balance()), InvalidArgument);
}

TEST(ProductWork, BytesBeyond64BitsAreAnError) {
  constexpr auto kWidest = std::numeric_limits<std::int64_t>::max();
  const ProductWork too_wide = work_of(one_entry<std::int64_t>(1, kWidest));
  EXPECT_THROW(static_cast<void>(too_wide.vector_bytes()), OverflowError);
  EXPECT_THROW(static_cast<void>(too_wide.minimum_bytes()), OverflowError);
  const ProductWork wide = work_of(one_entry<std::int64_t>(1, kWidest / 8 - 2));
  EXPECT_EQ(wide.minimum_bytes(), (kWidest / 8) * 8);
}

TEST(LevelSummary, OfAStencilFollowsItsLines) {
  const auto levels = level_summary(generate<double, std::int32_t>("stencil5:3x100"));
  ASSERT_TRUE(levels);
  EXPECT_GE(levels->count, 50);
  EXPECT_LE(levels->max_rows, 6);
  EXPECT_GE(levels->max_window_rows, 3 * 300 / levels->count);
  EXPECT_LE(levels->max_window_rows, 3 * levels->max_rows);
  EXPECT_EQ(levels->components, 1);
  EXPECT_FALSE(levels->root.empty());
  EXPECT_EQ(std::ssize(levels->rows), levels->count);
  EXPECT_EQ(std::ranges::max(levels->rows), levels->max_rows);
  EXPECT_EQ(std::accumulate(levels->rows.begin(), levels->rows.end(), Offset{0}), 300);
}

TEST(LevelSummary, WindowsOfFewLevelsAreAllRows) {
  const auto levels = level_summary(generate<double, std::int64_t>("arrow:50"));
  ASSERT_TRUE(levels);
  EXPECT_LE(levels->count, 3);
  EXPECT_EQ(levels->max_window_rows, 50);
}

TEST(LevelSummary, RectanglesHaveNone) {
  EXPECT_FALSE(level_summary(one_entry<std::int32_t>(2, 3)));
}

TEST(FormatSummary, HasTheBytesThatTheFormatHasWhenBuilt) {
  const AnyMatrix matrix = stencil();
  const auto& csr = std::get<Csr<double, std::int32_t>>(matrix);
  for (const FormatSpec& spec : usual_specs(statistics_of(matrix))) {
    const FormatSummary format = format_summary(matrix, spec);
    EXPECT_EQ(format.label, label_of(spec));
    ASSERT_TRUE(format.footprint) << format.refusal;
    EXPECT_EQ(*format.footprint, footprint(csr, spec)) << format.label;
    const bool packed = spec.format() == Format::packed_sell;
    ASSERT_EQ(format.encodings.has_value(), packed);
    if (!packed) continue;
    const auto sum = [](const auto& slices) {
      return std::accumulate(slices.begin(), slices.end(), Offset{0});
    };
    const Offset slices = ceil_div<Offset>(600, spec.parameter("slice_height").value());
    EXPECT_EQ(sum(format.encodings->columns), slices);
    EXPECT_EQ(sum(format.encodings->values), slices);
    const bool full = name_of(spec) == "packed-sell-full";
    EXPECT_EQ(format.encodings->values[static_cast<std::size_t>(ValueEncoding::full)] == slices,
              full);
  }
}

TEST(DistinctValues, AreCountedUpToTheLargestTable) {
  EXPECT_EQ(distinct_values(stencil()), 2);
  EXPECT_EQ(
      distinct_values(generate<double, std::int32_t>("band:60000,width=5,coefficients=random")),
      std::nullopt);
}

TEST(FormatSummary, SaysWhyAFormatCannotHoldTheMatrix) {
  // An offset per column is beyond 64 bits of bytes.
  const AnyMatrix matrix = one_entry<std::int64_t>(1, std::numeric_limits<std::int64_t>::max());
  const FormatSummary format = format_summary(matrix, FormatSpec(Format::csc));
  EXPECT_FALSE(format.footprint);
  EXPECT_FALSE(format.refusal.empty());
  EXPECT_FALSE(format.encodings);
}

TEST(SmallestFormat, TakesTheFewestBytesOfThoseWithAKernel) {
  for (const char* spec : {"stencil27:8x8x8", "arrow:300", "rmat:8,edges=4"}) {
    const AnyMatrix matrix = generate<double, std::int32_t>(spec);
    const MatrixStatistics statistics = statistics_of(matrix);
    for (const KernelTarget target : {KernelTarget::processor, KernelTarget::gpu}) {
      const FormatSpec smallest = smallest_format(matrix, statistics, target);
      EXPECT_TRUE(has_kernel(smallest, target));
      const Offset bytes = format_summary(matrix, smallest).footprint.value().bytes();
      int others = 0;
      for (const FormatSummary& other : summaries_with_kernel(matrix, statistics, target)) {
        EXPECT_TRUE(has_kernel(other.spec, target));
        ++others;
        if (!other.footprint) continue;
        EXPECT_LE(bytes, other.footprint->bytes()) << spec << ' ' << other.label;
      }
      EXPECT_GT(others, 3);
    }
  }
}

}  // namespace
}  // namespace strata::test

#include "strata/model/trace.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/generate.hpp"
#include "tests/support/matrices.hpp"

namespace strata {
namespace {

using I = std::int32_t;

constexpr int kPower = 4;
constexpr Offset kLine = 64;
// Holds all arrays of these tests, which are stored one after the other, in whichever set they
// fall; or a window of a sweep, wherever that is.
constexpr CacheShape kLarge{.bytes = 1 << 24, .ways = 16};
constexpr CacheShape kSmall{.bytes = 1 << 15};

// A tile per group of so many rows.
Tiling<I> tiled(const Csr<double, I>& matrix, I group_rows) {
  std::vector<I> groups;
  for (I row = 0; row < matrix.rows(); row += group_rows) groups.push_back(row);
  groups.push_back(matrix.rows());
  return make_tiling<I>(matrix.pattern(), matrix.row_offsets(),
                        {groups, std::numeric_limits<Offset>::max(), 1});
}

template <class T>
Offset lines_of(std::span<const T> array) {
  return ceil_div<Offset>(static_cast<Offset>(array.size_bytes()), kLine);
}

constexpr auto kFull = static_cast<Offset>(StoredValues::full);

// The lines of all arrays, each of which starts with a line; with full values.
template <Value V>
SweepMisses all_lines(const Csr<V, I>& matrix) {
  return {.values = lines_of(matrix.values()),
          .indices = lines_of(matrix.columns()) + lines_of(matrix.row_offsets())};
}
template <Value V>
SweepMisses all_lines(const Sell<V, I>& matrix) {
  return {.values = lines_of(matrix.values()),
          .indices = lines_of(matrix.columns()) + lines_of(matrix.slice_offsets()) +
                     lines_of(matrix.row_of_slot())};
}
template <Value V>
SweepMisses all_lines(const PackedSell<V, I>& matrix) {
  return {.values = lines_of(matrix.data()),
          .indices = lines_of(matrix.codes()) + lines_of(matrix.entry_offsets()) +
                     lines_of(matrix.code_offsets()) + lines_of(matrix.data_offsets()) +
                     lines_of(matrix.encodings()) + lines_of(matrix.value_encodings()) +
                     lines_of(matrix.row_of_slot())};
}

// Lines that several slices read, and that may therefore stay in a cache which holds no matrix.
template <class Matrix>
Offset shared_lines(const Matrix&) {
  return 0;
}
template <Value V>
Offset shared_lines(const PackedSell<V, I>& matrix) {
  const auto offsets = matrix.code_offsets();
  const std::set<Offset> blocks(offsets.begin(), offsets.end());
  return std::ssize(blocks) < std::ssize(offsets) ? lines_of(matrix.codes()) : 0;
}

template <class Matrix>
SweepMisses misses_of(const Matrix& matrix, const Tiling<I>& tiling, const Schedule& schedule,
                      const CacheShape& shape) {
  CacheSimulator cache(shape);
  const SweepMisses misses =
      play_sweep(matrix, tiling, schedule, place_arrays(matrix, schedule.power), cache);
  EXPECT_EQ(misses.total(), cache.counts().misses());
  return misses;
}

// Claims about a matrix whose x is used within a few neighbouring rows.
template <class Matrix>
void expect_closed_forms(const Matrix& matrix, const Tiling<I>& tiling) {
  const SweepMisses once = all_lines(matrix);
  const Offset vector_lines =
      ceil_div<Offset>(Offset{matrix.rows()} * sizeof(typename Matrix::value_type), kLine);
  const Schedule plain = plain_schedule(tiling, kPower);
  const Schedule sweep = wavefront_schedule(tiling, kPower);
  const auto expect = [&](const SweepMisses& misses, Offset matrix_loads, Offset vector_loads) {
    EXPECT_EQ(misses.values, matrix_loads * once.values);
    EXPECT_LE(misses.indices, matrix_loads * once.indices);
    EXPECT_GE(misses.indices,
              matrix_loads * once.indices - (matrix_loads - 1) * shared_lines(matrix));
    EXPECT_EQ(misses.vectors, vector_loads * vector_lines);
  };
  // Everything fits, in any order.
  expect(misses_of(matrix, tiling, plain, kLarge), 1, kPower + 1);
  expect(misses_of(matrix, tiling, sweep, kLarge), 1, kPower + 1);
  // A window fits: the wavefront loads everything once, repeated products load it every time.
  expect(misses_of(matrix, tiling, sweep, kSmall), 1, kPower + 1);
  expect(misses_of(matrix, tiling, plain, kSmall), kPower, 2 * kPower);
}

TEST(Trace, CountsAreTheClosedFormsForCsr) {
  const auto matrix = generate<double, I>("band:4000,width=5");
  expect_closed_forms(matrix, tiled(matrix, 40));
}

TEST(Trace, CountsAreTheClosedFormsForSell) {
  const auto matrix = generate<double, I>("band:4000,width=5");
  for (const Offset sort_window : {1, 64}) {
    expect_closed_forms(
        Sell<double, I>::from_csr(matrix, {.slice_height = 16, .sort_window = sort_window}),
        tiled(matrix, 64));
  }
}

// Three unknowns per node, in a band that is not the same everywhere: slices that share their
// columns have no runs.
Csr<double, I> runs_in_a_band() {
  constexpr I kNodes = 1400;
  test::Entries<double, I> entries(3 * kNodes, 3 * kNodes, 1);
  const Random random(2);
  for (I node = 0; node < kNodes; ++node) {
    const auto far = [&](int which) {
      return 1 + static_cast<I>(random.below(2 * node + which, 3));
    };
    for (const I other : {node - far(0), node, node + far(1)}) {
      if (other < 0 || other >= kNodes) continue;
      for (I i = 0; i < 9; ++i) entries.add(3 * node + i / 3, 3 * other + i % 3);
    }
  }
  return entries.coo().to_csr();
}

TEST(Trace, CountsAreTheClosedFormsForEveryEncoding) {
  for (const SliceEncoding encoding : kSliceEncodings) {
    SCOPED_TRACE(name_of(encoding));
    const bool runs = has_runs(encoding);
    const auto matrix = runs ? runs_in_a_band() : generate<double, I>("band:4000,width=5");
    const bool is8 = encoding == SliceEncoding::delta8 || encoding == SliceEncoding::run8;
    const bool is16 = encoding == SliceEncoding::delta16 || encoding == SliceEncoding::run16;
    // The slices at both ends reach outside the matrix and cannot be dia.
    const PackedSellOptions options{.slice_height = 16,
                                    .max_fill = 1e9,
                                    .allowed = {.dia = encoding == SliceEncoding::dia,
                                                .delta8 = is8,
                                                .delta16 = is16,
                                                .runs = runs},
                                    .stored_values = kFull};
    const auto packed = PackedSell<double, I>::from_csr(matrix, options);
    EXPECT_GT(packed.encoding_counts()[static_cast<std::size_t>(encoding)], 200);
    expect_closed_forms(packed, tiled(matrix, 64));
  }
}

TEST(Trace, FewerBytesAreFewerMisses) {
  const auto matrix = generate<double, I>("stencil27:12x12x24");
  const auto tiling = tiled(matrix, 144);
  const Schedule plain = plain_schedule(tiling, 2);
  const auto packed =
      PackedSell<double, I>::from_csr(matrix, {.slice_height = 8, .stored_values = kFull});
  const SweepMisses of_csr = misses_of(matrix, tiling, plain, kSmall);
  const SweepMisses of_packed = misses_of(packed, tiling, plain, kSmall);
  // Twice, and what slices share perhaps more often.
  EXPECT_GE(of_packed.indices, 2 * packed.footprint().index_bytes / kLine);
  EXPECT_LT(of_packed.indices, of_csr.indices / 2);
  // Encoded ones are read again and again, but from few lines.
  const auto encoded = PackedSell<double, I>::from_csr(matrix, {.slice_height = 8});
  EXPECT_LT(encoded.footprint().bytes(), packed.footprint().bytes() / 8);
  EXPECT_LT(misses_of(encoded, tiling, plain, kLarge).values,
            misses_of(packed, tiling, plain, kLarge).values / 8);
}

TEST(Trace, TilesMayCutSlices) {
  const auto matrix = generate<double, I>("band:1000,width=5");
  const auto sorted = Sell<double, I>::from_csr(matrix, {.slice_height = 16, .sort_window = 48});
  const auto tiling = tiled(matrix, 37);
  const SweepMisses misses = misses_of(sorted, tiling, wavefront_schedule(tiling, 3), kLarge);
  EXPECT_EQ(misses.values, all_lines(sorted).values);
  EXPECT_EQ(misses.indices, all_lines(sorted).indices);
}

TEST(Trace, VectorsMayShareTheirPlace) {
  // Only the last power is wanted: power k overwrites power k − 2.
  const auto matrix = generate<double, I>("band:4000,width=5");
  const auto tiling = tiled(matrix, 40);
  const Schedule sweep = wavefront_schedule(tiling, kPower);
  SweepAddresses addresses = place_arrays(matrix, kPower);
  for (int k = 2; k <= kPower; ++k) addresses.vectors[k] = addresses.vectors[k - 2];
  CacheSimulator cache(kSmall);
  EXPECT_EQ(play_sweep(matrix, tiling, sweep, addresses, cache).vectors, 2 * 500);
}

TEST(Trace, OtherTypesHaveOtherSizes) {
  const auto matrix =
      converted<std::complex<float>, std::int64_t>(generate<double, I>("band:4000,width=5"));
  const std::vector<std::int64_t> groups{0, 2000, 4000};
  const auto tiling = make_tiling<std::int64_t>(matrix.pattern(), matrix.row_offsets(),
                                                {groups, Offset{1} << 40, 1});
  CacheSimulator cache(kLarge);
  const SweepMisses misses =
      play_sweep(matrix, tiling, plain_schedule(tiling, 2), place_arrays(matrix, 2), cache);
  EXPECT_EQ(misses.values, lines_of(matrix.values()));
  EXPECT_EQ(misses.indices, lines_of(matrix.columns()) + lines_of(matrix.row_offsets()));
  EXPECT_EQ(misses.vectors, 3 * 500);
}

TEST(Trace, AwkwardMatricesTouchNothingOutsideTheirArrays) {
  for (const auto& [name, entries] : test::awkward_matrices<double, I>()) {
    SCOPED_TRACE(name);
    const Csr<double, I> matrix = entries.to_csr();
    if (matrix.rows() != matrix.cols()) continue;
    const auto tiling = tiled(matrix, 7);
    const Schedule sweep = wavefront_schedule(tiling, 3);
    const auto check = [&](const auto& format) {
      const SweepMisses misses = misses_of(format, tiling, sweep, kLarge);
      EXPECT_LE(misses.values, all_lines(format).values);
      EXPECT_LE(misses.indices, all_lines(format).indices);
    };
    // The constants of encoded values lie among the codes of columns.
    const auto check_encoded = [&](const PackedSell<double, I>& packed) {
      const SweepMisses misses = misses_of(packed, tiling, sweep, kLarge);
      const SweepMisses all = all_lines(packed);
      EXPECT_LE(misses.values + misses.indices,
                all.values + all.indices + lines_of(packed.table().values()));
    };
    check(matrix);
    check(
        Sell<double, I>::from_csr(matrix, {.slice_height = 4, .sort_window = 8, .max_fill = 1e9}));
    const PackedSellOptions options{.slice_height = 8, .max_fill = 1e9};
    check_encoded(PackedSell<double, I>::from_csr(matrix, options));
    PackedSellOptions in_full = options;
    in_full.stored_values = kFull;
    check(PackedSell<double, I>::from_csr(matrix, in_full));
  }
}

TEST(Trace, WhatDoesNotBelongTogetherIsRefused) {
  const auto matrix = generate<double, I>("band:100,width=3");
  const auto other = generate<double, I>("band:101,width=3");
  const auto tiling = tiled(matrix, 10);
  const Schedule plain = plain_schedule(tiling, 2);
  CacheSimulator cache({.bytes = 4096});
  EXPECT_THROW(play_sweep(other, tiling, plain, place_arrays(other, 2), cache), InvalidArgument);
  EXPECT_THROW(play_sweep(matrix, tiling, plain, place_arrays(matrix, 3), cache), InvalidArgument);
}

}  // namespace
}  // namespace strata

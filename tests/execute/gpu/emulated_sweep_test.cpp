// The portable wavefront sweep on emulated GPUs, with warps of 32 and of 64.
#include "strata/execute/gpu/portable_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "strata/base/internal/sanitizers.hpp"
#include "strata/execute/gpu/ring.hpp"
#include "strata/execute/gpu/tile_stream.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/repeated_values.hpp"

namespace strata::gpu {
namespace {

using emulator::LaunchOptions;
using emulator::Order;

// A sweep over a matrix, ready to be launched on any number of workers.
template <Value V>
struct Prepared {
  SliceTiles tiles;
  WorkerSweep sweep;
  TileStream<V> stream;
  std::vector<std::uint32_t> signals;
  SweepControl control{};
  std::uint64_t timeout_ns = 1'000'000'000;
  std::optional<std::uint32_t> stress_seed;  // none: by the seed of the launch
  const V* before = nullptr;                 // y_−1

  template <Index I>
  Prepared(const PackedSell<V, I>& matrix, Offset tile_bytes, bool gather, int workers)
      : tiles(gather ? gather_slices(matrix, tile_bytes) : cut_slices(matrix, tile_bytes)),
        sweep(inputs_of(matrix, tiles), workers),
        stream(matrix, tiles, sweep),
        signals(static_cast<std::size_t>(kMaxSweepPower) * workers * sweep.mailboxes(), 0) {}

  int lag() const {
    return (sweep.dependency_distance(2) + sweep.workers() - 1) / sweep.workers() + 1;
  }
};

template <Value V>
struct Coefficients {
  V alpha{1};
  V shift{};
  V beta{};
};

template <int warp, bool encoded, int height, int vectors, Value V>
void launch_sweep(Prepared<V>& sweep, std::vector<std::vector<V>>& y, int count,
                  const Coefficients<V>& coefficients, const LaunchOptions& options) {
  using T = DeviceValue<V>;
  SweepArguments<T> arguments;
  arguments.records = sweep.stream.records.data();
  arguments.places = sweep.stream.places.data();
  arguments.tiles = sweep.sweep.tiles();
  arguments.rows = {sweep.stream.presence.empty() ? nullptr : sweep.stream.presence.data(), nullptr,
                    sweep.stream.rows};
  arguments.signals = sweep.signals.data();
  arguments.mailboxes = sweep.sweep.mailboxes();
  arguments.control = &sweep.control;
  arguments.timeout_ns = sweep.timeout_ns;
  arguments.stress_seed = sweep.stress_seed.value_or(static_cast<std::uint32_t>(options.seed));
  arguments.power = static_cast<int>(y.size()) - 1;
  arguments.count = count;
  for (std::size_t k = 0; k < y.size(); ++k) {
    arguments.vectors[k] = reinterpret_cast<T*>(y[k].data());
  }
  for (int k = 0; k < arguments.power; ++k) {
    arguments.alpha[k] = device_value(coefficients.alpha);
    arguments.shift[k] = device_value(coefficients.shift);
    const bool has_previous = k > 0 || sweep.before != nullptr;
    arguments.beta[k] = device_value(has_previous ? coefficients.beta : V{});
  }
  arguments.before = reinterpret_cast<const T*>(sweep.before);
  arguments.table = reinterpret_cast<const T*>(sweep.stream.table.data());
  arguments.table_size = static_cast<std::int32_t>(sweep.stream.table.size());
  const auto shared_bytes =
      static_cast<std::size_t>(near_table_bytes(arguments.table_size, sizeof(V)));
  emulator::launch<warp>(sweep.sweep.workers(), 2 * warp, shared_bytes, options, [&](auto& thread) {
    gpu::sweep<encoded, height, vectors, 4>(thread, arguments, sweep.lag());
  });
}

template <int warp, Value V>
void launch_sweep(Prepared<V>& sweep, std::vector<std::vector<V>>& y, int count,
                  const Coefficients<V>& coefficients, const LaunchOptions& options) {
  const auto on = [&]<bool encoded, int height>() {
    if (count == 1) {
      launch_sweep<warp, encoded, height, 1>(sweep, y, count, coefficients, options);
    } else {
      launch_sweep<warp, encoded, height, 4>(sweep, y, count, coefficients, options);
    }
  };
  const auto with = [&]<int height>(std::integral_constant<int, height>) {
    if (sweep.stream.encoded) {
      on.template operator()<true, height>();
    } else {
      on.template operator()<false, height>();
    }
  };
  switch (sweep.stream.slice_height) {
    case 4: return with(std::integral_constant<int, 4>());
    case 8: return with(std::integral_constant<int, 8>());
    case 16: return with(std::integral_constant<int, 16>());
    default: return with(std::integral_constant<int, 32>());
  }
}

// y_k by the reference kernel, one vector after another.
template <Value V, Index I>
std::vector<std::vector<V>> by_reference(const Csr<V, I>& matrix, const std::vector<V>& x,
                                         int power, int count, const Coefficients<V>& c) {
  const auto rows = static_cast<std::size_t>(matrix.rows());
  std::vector<std::vector<V>> y(power + 1, std::vector<V>(x.size()));
  y[0] = x;
  std::vector<V> in(rows);
  std::vector<V> out(rows);
  for (int k = 1; k <= power; ++k) {
    for (int v = 0; v < count; ++v) {
      for (std::size_t row = 0; row < rows; ++row) in[row] = y[k - 1][row * count + v];
      reference::spmv(matrix, V{1}, in, V{}, out, matrix.all_rows());
      for (std::size_t row = 0; row < rows; ++row) {
        V result = c.alpha * (out[row] - c.shift * in[row]);
        if (k > 1) result += c.beta * y[k - 2][row * count + v];
        y[k][row * count + v] = result;
      }
    }
  }
  return y;
}

template <Value V>
void expect_close(const std::vector<std::vector<V>>& expected,
                  const std::vector<std::vector<V>>& found, double tolerance) {
  for (std::size_t k = 1; k < expected.size(); ++k) {
    double scale = 0;
    double error = 0;
    for (std::size_t i = 0; i < expected[k].size(); ++i) {
      scale = std::max<double>(scale, std::abs(expected[k][i]));
      error = std::max<double>(error, std::abs(expected[k][i] - found[k][i]));
      ASSERT_FALSE(std::isnan(std::abs(found[k][i]))) << "power " << k << " element " << i;
    }
    EXPECT_LE(error, tolerance * scale) << "power " << k;
  }
}

// Vectors of the powers, filled with what must be overwritten.
template <Value V>
std::vector<std::vector<V>> powers_of(const std::vector<V>& x, int power) {
  const V poison = V(std::numeric_limits<float>::quiet_NaN());
  std::vector<std::vector<V>> y(power + 1, std::vector<V>(x.size(), poison));
  y[0] = x;
  return y;
}

template <Value V, Index I>
PackedSell<V, I> packed(const Csr<V, I>& matrix, Offset height, const AllowedValues& values = {}) {
  return PackedSell<V, I>::from_csr(matrix, {.slice_height = height,
                                             .max_fill = std::numeric_limits<double>::infinity(),
                                             .allowed = {.runs = false},
                                             .values = values});
}
constexpr AllowedValues kFull = AllowedValues::of(StoredValues::full);

template <class V>
class GpuSweep : public testing::Test {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuSweep, Values);

TYPED_TEST(GpuSweep, AgreesWithTheReferenceOnAwkwardMatrices) {
  using V = TypeParam;
  const double tolerance = sizeof(decltype(std::abs(V{}))) == 4 ? 2e-5 : 1e-13;
  std::uint64_t seed = 0;
  for (const auto& [name, entries] : test::awkward_matrices<V, std::int32_t>()) {
    const auto matrix = entries.to_csr();
    if (matrix.rows() != matrix.cols() || matrix.rows() > 2000) continue;
    SCOPED_TRACE(name);
    for (const Offset height : {4, 8, 16, 32}) {
      ++seed;
      const auto stored = packed(matrix, height);
      const int power = static_cast<int>(1 + seed % 4);
      const int count = seed % 3 == 0 ? 3 : 1;
      const int workers = static_cast<int>(1 + seed % 5);
      const Coefficients<V> coefficients{V(0.5), V(seed % 2 == 0 ? 0 : 1),
                                         V(seed % 3 == 1 ? -0.25 : 0)};
      const auto x = test::random_vector<V>(static_cast<std::size_t>(matrix.rows()) * count, seed);
      const auto expected = by_reference(matrix, x, power, count, coefficients);
      Prepared<V> sweep(stored, 600, seed % 2 == 0, workers);
      auto y = powers_of(x, power);
      const LaunchOptions options{Order::random, seed};
      if (seed % 2 == 0) {
        launch_sweep<32>(sweep, y, count, coefficients, options);
      } else {
        launch_sweep<64>(sweep, y, count, coefficients, options);
      }
      expect_close(expected, y, tolerance);
    }
  }
}

// y_0 … y_p, a power at a time: no tile waits for another.
template <int warp, Value V, Index I>
std::vector<std::vector<V>> by_plain_steps(const PackedSell<V, I>& matrix, const std::vector<V>& x,
                                           int power, int count,
                                           const Coefficients<V>& coefficients) {
  Prepared<V> sweep(matrix, 600, false, 3);
  auto y = powers_of(x, power);
  for (int k = 1; k <= power; ++k) {
    sweep.before = k > 1 ? y[k - 2].data() : nullptr;
    std::vector<std::vector<V>> step{y[k - 1], y[k]};
    launch_sweep<warp>(sweep, step, count, coefficients, {});
    y[k] = step[1];
  }
  return y;
}

// How many slices of each encoding have been compared.
using SlicesSeen = std::array<Offset, kValueEncodings.size()>;

// Several threads of a row share its entries by their places, holes included: the order of a sum is
// that of the columns, in which values have no say.
template <Value V, Index I>
bool same_columns(const PackedSell<V, I>& a, const PackedSell<V, I>& b) {
  return std::ranges::equal(a.encodings(), b.encodings()) &&
         std::ranges::equal(a.entry_offsets(), b.entry_offsets());
}

template <int warp, Value V, Index I>
void expect_bits_of_plain_steps(const Csr<V, I>& matrix, Offset height, std::uint64_t seed,
                                SlicesSeen& seen) {
  const Random random(seed);
  const int power = static_cast<int>(1 + random.below(0, 4));
  const int count = random.below(1, 4) == 0 ? 3 : 1;
  const int workers = static_cast<int>(1 + random.below(2, 5));
  const bool gather = random.below(3, 2) == 0;
  const Coefficients<V> coefficients{V(0.5), V(random.below(4, 2) == 0 ? 0 : 1), V(-0.25)};
  auto x = test::random_vector<V>(static_cast<std::size_t>(matrix.rows()) * count, seed);
  // What holes and padding must not let through.
  if (random.below(5, 3) == 0 && !x.empty()) {
    x[x.size() / 2] = V(std::numeric_limits<float>::infinity());
  }
  const auto full = packed(matrix, height, kFull);
  const auto expected = by_plain_steps<warp>(full, x, power, count, coefficients);
  for (const AllowedValues& allowed : test::kAllowedValues) {
    const auto stored = packed(matrix, height, allowed);
    ASSERT_TRUE(same_columns(full, stored));
    for (std::size_t e = 0; e < kValueEncodings.size(); ++e) {
      seen[e] += stored.has_full_values() ? 0 : stored.value_encoding_counts()[e];
    }
    Prepared<V> sweep(stored, 600, gather, workers);
    auto y = powers_of(x, power);
    launch_sweep<warp>(sweep, y, count, coefficients, {Order::random, seed});
    for (int k = 1; k <= power; ++k) {
      EXPECT_TRUE(test::same_results(y[k], expected[k])) << "power " << k << " of " << power;
    }
  }
}

TYPED_TEST(GpuSweep, BitsAreThoseOfPlainStepsOnFullValues) {
  using V = TypeParam;
  std::array<SlicesSeen, 4> seen{};  // by height
  std::uint64_t seed = 0;
  for (const auto& [name, entries] : test::awkward_matrices<V, std::int32_t>()) {
    if (entries.rows() != entries.cols() || entries.rows() > 2000) continue;
    for (const test::Repeats repeats : test::kRepeats) {
      const auto matrix = test::with_repeats(entries.to_csr(), repeats);
      for (std::size_t h = 0; h < seen.size(); ++h) {
        const Offset height = std::array{4, 8, 16, 32}[h];
        SCOPED_TRACE(testing::Message()
                     << name << ", C = " << height << ", repeats " << static_cast<int>(repeats));
        ++seed;
#ifdef STRATA_ADDRESS_SANITIZER
        // Fibers take several times as long.
        if (seed % 11 != 0) continue;
#endif
        if (seed % 3 == 0) {
          expect_bits_of_plain_steps<64>(matrix, height, seed, seen[h]);
        } else {
          expect_bits_of_plain_steps<32>(matrix, height, seed, seen[h]);
        }
      }
    }
  }
#ifndef STRATA_ADDRESS_SANITIZER
  for (std::size_t h = 0; h < seen.size(); ++h) {
    for (const ValueEncoding encoding : kValueEncodings) {
      // Four floats are hardly more than what describes a column of a mixed slice.
      if (encoding == ValueEncoding::mixed && h == 0 && sizeof(V) == 4) continue;
      EXPECT_GT(seen[h][static_cast<std::size_t>(encoding)], 0) << h << ", " << name_of(encoding);
    }
  }
#endif
}

TEST(GpuSweep, BitsDependOnNeitherTilesNorWorkersNorTiming) {
  const auto matrix = generate<double, std::int32_t>("mesh:700,dim=2,nnzr=7");
  const auto stored = packed(matrix, 8);
  const auto x = test::random_vector<double>(matrix.rows(), 5);
  std::vector<std::vector<double>> first;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    Prepared<double> sweep(stored, 400 + 300 * static_cast<Offset>(seed % 5), seed % 2 == 1,
                           static_cast<int>(1 + seed % 7));
    auto y = powers_of(x, 3);
    launch_sweep<32>(sweep, y, 1, {0.3}, {seed % 3 == 0 ? Order::uneven : Order::random, seed});
    if (first.empty()) first = y;
    EXPECT_EQ(first, y) << "seed " << seed;
  }
}

TEST(GpuSweep, RunsAgainAndAgainWithoutPreparation) {
  const auto matrix = generate<double, std::int32_t>("stencil5:20x20");
  Prepared<double> sweep(packed(matrix, 4), 300, false, 5);
  const auto x = test::random_vector<double>(matrix.rows(), 5);
  auto first = powers_of(x, 4);
  launch_sweep<32>(sweep, first, 1, {}, {Order::random, 1});
  for (const std::uint32_t signals : sweep.signals) ASSERT_EQ(signals, 0U);
  auto second = powers_of(x, 4);
  launch_sweep<32>(sweep, second, 1, {}, {Order::uneven, 2});
  EXPECT_EQ(first, second);
}

TEST(GpuSweep, AHangBecomesAnError) {
  const auto matrix = generate<double, std::int32_t>("stencil5:20x20");
  Prepared<double> sweep(packed(matrix, 4), 300, false, 4);
  sweep.timeout_ns = 2000;
  // Signals that never arrive.
  for (const RecordPlace& place : sweep.stream.places) {
    reinterpret_cast<TileRecord*>(sweep.stream.records.data() + place.begin * kRecordUnit)
        ->readers = 0;
  }
  auto y = powers_of(test::random_vector<double>(matrix.rows(), 5), 3);
  LaunchOptions options;
  options.timeout = 100'000;
  launch_sweep<32>(sweep, y, 1, {}, options);
  EXPECT_EQ(sweep.control.stuck, 1U);
}

// No worker waits for one that does not go on; the others leave, and so does that one.
TEST(GpuSweep, AWorkerThatStopsMakesAllGiveUp) {
  const auto matrix = generate<double, std::int32_t>("stencil5:20x20");
  Prepared<double> sweep(packed(matrix, 4), 300, false, 4);
  sweep.timeout_ns = 2000;
  sweep.stress_seed = kStall;
  auto y = powers_of(test::random_vector<double>(matrix.rows(), 5), 3);
  LaunchOptions options;
  options.timeout = 100'000;
  launch_sweep<32>(sweep, y, 1, {}, options);
  EXPECT_EQ(sweep.control.stuck, 1U);
}

// A reading of the clock after a long time says that the kernel was stopped, not that it has
// waited.
TEST(GpuSweep, TimeThatAKernelDoesNotRunIsNoWaiting) {
  struct Clock {
    std::uint64_t now = 1;
    std::uint64_t nanoseconds() const { return now; }
    std::uint32_t load_flag(const std::uint32_t* flag) const { return *flag; }
    void store_flag(std::uint32_t* flag, std::uint32_t value) const { *flag = value; }
  } clock;
  SweepControl control{};
  constexpr std::uint64_t kTimeout = 3 * kLongestGap;
  Waiting waiting = wait_longer(clock, &control, {}, kTimeout);
  for (int stop = 0; stop < 2; ++stop) {
    clock.now += 1000 * kLongestGap;
    waiting = wait_longer(clock, &control, waiting, kTimeout);
    EXPECT_FALSE(waiting.given_up);
  }
  clock.now += kLongestGap;
  waiting = wait_longer(clock, &control, waiting, kTimeout);
  EXPECT_TRUE(waiting.given_up);
  EXPECT_EQ(control.stuck, 1U);
  EXPECT_TRUE(wait_longer(clock, &control, {}, kTimeout).given_up) << "another thread has";
}

TEST(Ring, CountsBytesBeyondThirtyTwoBits) {
  const hopper::Ring ring{.teams = 1, .team_warps = 4, .slots = 3, .slot_bytes = 2'000'000'000};
  EXPECT_EQ(ring.shared_bytes(2, 4), 6'000'000'000 + 3 * 4 * 8 + 16 + 16);
}

TEST(Ring, HasRoomForTheTable) {
  hopper::Ring ring{.teams = 1, .team_warps = 4, .slots = 3, .slot_bytes = 256};
  const std::int64_t without = ring.shared_bytes(2, 4);
  ring.table_bytes = static_cast<std::uint32_t>(near_table_bytes(3, sizeof(float)));
  EXPECT_EQ(ring.shared_bytes(2, 4), without + 16);
  EXPECT_EQ(near_table_bytes(0, sizeof(double)), 0);
  EXPECT_EQ(near_table_bytes(65536, sizeof(double)), 2048);
}

TEST(TileSlice, FindsValueBlocksWherePackedSellHasThem) {
  for (const SliceEncoding encoding : kSliceEncodings) {
    if (has_runs(encoding)) continue;  // which sweeps refuse
    for (const int height : {4, 8, 16, 32}) {
      for (const int width : {0, 1, 3, 7, 8, 27, 1000}) {
        EXPECT_EQ(value_block_place(encoding, width, height),
                  value_block_begin(encoding, height, width, 1))
            << name_of(encoding) << ", C = " << height << ", width " << width;
      }
    }
  }
}

TEST(TileStream, ItsSizesAreKnownBeforeItIsMade) {
  for (const char* spec : {"stencil27:12x12x12", "anderson:12x12x12", "mesh:3000,dim=2,nnzr=9",
                           "stencil7:12x12x12,coefficients=200", "arrow:500"}) {
    const auto matrix = generate<double, std::int32_t>(spec);
    for (const AllowedValues& allowed : {AllowedValues{}, kFull}) {
      const auto stored = packed(matrix, 8, allowed);
      const SliceTiles tiles = cut_slices(stored, 3000);
      const WorkerSweep sweep(inputs_of(stored, tiles), 5);
      const TileStreamSizes sizes = tile_stream_sizes(stored, tiles, sweep);
      const TileStream<double> stream(stored, tiles, sweep);
      EXPECT_EQ(sizes.record_bytes, std::ssize(stream.records));
      EXPECT_EQ(sizes.tiles, std::ssize(stream.places));
      EXPECT_EQ(sizes.rows, stored.rows());
      EXPECT_EQ(sizes.table_values, std::ssize(stream.table));
      EXPECT_EQ(sizes.encoded, !stored.has_full_values());
      std::uint32_t largest = 0;
      for (const RecordPlace& place : stream.places) largest = std::max(largest, place.bytes);
      EXPECT_EQ(sizes.largest_record, largest);
    }
  }
}

// Tiles keep their slices, so that as many warps have work; their records are what is stored.
TEST(TileStream, EncodedValuesMakeSmallerRecordsOfTheSameTiles) {
  const auto matrix = generate<double, std::int32_t>("stencil27:32x32x20");
  const auto sizes_of = [&](const AllowedValues& allowed) {
    const auto stored = packed(matrix, 32, allowed);
    const SliceTiles tiles = cut_slices(stored, 8 * 7100);
    return tile_stream_sizes(stored, tiles, WorkerSweep(inputs_of(stored, tiles), 4));
  };
  const TileStreamSizes full = sizes_of(kFull);
  const TileStreamSizes encoded = sizes_of({});
  EXPECT_EQ(full.tiles, encoded.tiles);
  EXPECT_GT(full.record_bytes, 20 * encoded.record_bytes);
  EXPECT_GT(full.largest_record, 8 * encoded.largest_record);
}

TEST(TileStream, SlicesOfATileShareEqualCodeBlocks) {
  const auto stored = packed(generate<double, std::int32_t>("stencil5:64x64"), 32);
  const SliceTiles tiles = cut_slices(stored, 1 << 20);
  ASSERT_EQ(tiles.tiles(), 1);
  const WorkerSweep sweep(inputs_of(stored, tiles), 1);
  const TileStream<double> stream(stored, tiles, sweep);
  const auto& tile = *reinterpret_cast<const TileRecord*>(stream.records.data());
  const auto place = [&](int slice) { return tile.slice_list()[slice].codes; };
  // Lines of 64 points are two slices each.
  EXPECT_EQ(place(2), place(4));
  EXPECT_NE(place(2), place(3));
  EXPECT_EQ(place(3), place(5));
}

TEST(TileStream, GatheredTilesReadFewerColumns) {
  // Four slices of a line read nine lines of the same length; four above each other read 18 of a
  // quarter of it.
  const auto matrix = generate<double, std::int32_t>("stencil27:128x32x5");
  const auto stored = packed(matrix, 32);
  const auto columns_read = [&](const SliceTiles& tiles) {
    std::size_t columns = 0;
    for (std::int32_t tile = 0; tile < tiles.tiles(); ++tile) {
      std::vector<std::int32_t> read;
      for (const std::int32_t slice : tiles.slices_of(tile)) {
        for (Offset lane = 0; lane < 32; ++lane) {
          for (Offset entry = 0; entry < stored.width(slice); ++entry) {
            read.push_back(stored.column(slice * Offset{32} + lane, entry));
          }
        }
      }
      std::ranges::sort(read);
      columns += std::unique(read.begin(), read.end()) - read.begin();
    }
    return columns;
  };
  const SliceTiles lines = cut_slices(stored, 4 * 7100);
  const SliceTiles patches = gather_slices(stored, 4 * 7100);
  EXPECT_EQ(lines.slices.size(), patches.slices.size());
  EXPECT_LT(columns_read(patches), 0.7 * static_cast<double>(columns_read(lines)));
}

TEST(TileStream, RefusesRectangularMatrices) {
  test::Entries<double, std::int32_t> entries(3, 5, 1);
  entries.add(0, 4);
  const auto stored = packed(entries.coo().to_csr(), 4);
  EXPECT_THROW(inputs_of(stored, cut_slices(stored, 100)), InvalidArgument);
}

}  // namespace
}  // namespace strata::gpu

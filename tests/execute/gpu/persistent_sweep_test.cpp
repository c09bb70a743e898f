// Wavefront sweeps on the GPU of this machine.
#include "strata/execute/gpu/persistent_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "strata/base/random.hpp"
#include "strata/device/error.hpp"
#include "strata/device/graph.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/repeated_values.hpp"

namespace strata::gpu {
namespace {

using test::on_gpu_or_emulated;

class PersistentSweepTest : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << why_no_device();
  }
};

// y_0 … y_p on the device, the powers poisoned, and steps that make them.
template <Value V>
struct TestVectors {
  std::vector<DeviceArray<V>> y;
  SweepSteps<V> steps;

  TestVectors(const std::vector<V>& x, int power, Stream& stream) {
    const std::vector<V> poison(x.size(), V(std::numeric_limits<float>::quiet_NaN()));
    for (int k = 0; k <= power; ++k) {
      y.push_back(to_device(std::span<const V>(k == 0 ? x : poison), stream));
      steps.vectors.push_back(y.back().data());
    }
    for (int k = 1; k <= power; ++k) {
      steps.steps.push_back({V(0.5), V(1), k == 1 ? V{} : V(-0.25)});
    }
  }
};

template <Value V>
struct OnDevice {
  Stream stream;
  PersistentSweep<V> sweep;
  typename PersistentSweep<V>::Workspace workspace;

  OnDevice(const PackedSell<V, std::int32_t>& matrix, const SweepShape& shape,
           bool gather = false) {
    const SliceTiles tiles =
        gather ? gather_slices(matrix, shape.tile_bytes) : cut_slices(matrix, shape.tile_bytes);
    const WorkerSweep dealt(inputs_of(matrix, tiles), shape.workers);
    sweep = PersistentSweep<V>(
        std::make_shared<const DeviceTiles<V>>(TileStream<V>(matrix, tiles, dealt), dealt, stream),
        shape);
    workspace = sweep.make_workspace(stream);
  }

  // y_1 … y_p, in vectors that start as NaN.
  std::vector<Array<V>> run(const std::vector<V>& x, int power, std::uint32_t stress_seed = 0) {
    TestVectors<V> vectors(x, power, stream);
    vectors.steps.stress_seed = stress_seed;
    sweep.run(vectors.steps, workspace, stream);
    stream.synchronize();
    sweep.require_ended(workspace, stream);
    std::vector<Array<V>> found;
    for (int k = 1; k <= power; ++k) found.push_back(to_host(vectors.y[k].span(), stream));
    return found;
  }
};

// y_0 … y_p by the reference kernel.
template <Value V>
std::vector<std::vector<V>> expected_powers(const Csr<V, std::int32_t>& matrix,
                                            const std::vector<V>& x, int count, int power) {
  const auto rows = static_cast<std::size_t>(matrix.rows());
  std::vector<std::vector<V>> y{x};
  std::vector<V> in(rows);
  std::vector<V> out(rows);
  for (int k = 1; k <= power; ++k) {
    y.emplace_back(x.size());
    for (int v = 0; v < count; ++v) {
      for (std::size_t row = 0; row < rows; ++row) in[row] = y[k - 1][row * count + v];
      reference::spmv(matrix, V{1}, in, V{}, out, matrix.all_rows());
      for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t i = row * count + v;
        y[k][i] = V(0.5) * (out[row] - in[row]);
        if (k > 1) y[k][i] -= V(0.25) * y[k - 2][i];
      }
    }
  }
  return y;
}

// As far as there are powers.
template <Value V>
void expect_powers(const std::vector<std::vector<V>>& expected, const std::vector<Array<V>>& found,
                   double tolerance) {
  for (std::size_t k = 1; k <= found.size(); ++k) {
    double scale = 0;
    double error = 0;
    for (std::size_t i = 0; i < expected[k].size(); ++i) {
      const V here = found[k - 1][i];
      ASSERT_FALSE(std::isnan(std::abs(here))) << "power " << k << " element " << i;
      scale = std::max<double>(scale, std::abs(expected[k][i]));
      error = std::max<double>(error, std::abs(expected[k][i] - here));
    }
    EXPECT_LE(error, tolerance * scale) << "power " << k;
  }
}

template <Value V>
PackedSell<V, std::int32_t> packed(const Csr<V, std::int32_t>& matrix, Offset height,
                                   const AllowedValues& values = {},
                                   const AllowedEncodings& allowed = {.runs = false}) {
  return PackedSell<V, std::int32_t>::from_csr(matrix,
                                               {.slice_height = height,
                                                .max_fill = std::numeric_limits<double>::infinity(),
                                                .allowed = allowed,
                                                .values = values});
}
constexpr AllowedValues kFull = AllowedValues::of(StoredValues::full);

template <Value V>
void check_all_shapes(const char* spec, double tolerance) {
  const auto matrix = generate<V, std::int32_t>(spec);
  const DeviceProperties device = device_properties(current_device());
  for (const int count : {1, 3}) {
    const auto x = test::random_vector<V>(static_cast<std::size_t>(matrix.rows()) * count, 3);
    const auto expected = expected_powers(matrix, x, count, 8);
    for (const Offset height : {8, 16, 32}) {
      const auto stored = packed(matrix, height, height == 16 ? kFull : AllowedValues{});
      for (const int power : {1, 2, 3, 5, 8}) {
        for (SweepShape shape : sweep_shapes<V>(device, power, count, height)) {
          SCOPED_TRACE(testing::Message()
                       << spec << ", C=" << height << ", p=" << power << ", "
                       << name_of(shape.placement) << ", " << count << " vectors");
          OnDevice<V> run(stored, shape);
          expect_powers(expected, run.run(x, power), tolerance);
        }
      }
    }
  }
}

TEST_F(PersistentSweepTest, AgreesWithTheReferenceInEveryShape) {
  check_all_shapes<double>(on_gpu_or_emulated("stencil27:20x20x60", "stencil27:6x6x60"), 1e-13);
  check_all_shapes<float>(on_gpu_or_emulated("stencil7:30x30x60", "stencil7:8x8x60"), 2e-5);
  check_all_shapes<std::complex<double>>(
      on_gpu_or_emulated("mesh:20000,dim=2,nnzr=9", "mesh:2000,dim=2,nnzr=9"), 1e-13);
  check_all_shapes<std::complex<float>>(
      on_gpu_or_emulated("band:30000,width=9", "band:3000,width=9"), 2e-5);
}

// Columns have the same places whatever the values are, so that sums have one order. Heights,
// powers and numbers of vectors take turns.
template <Value V>
void expect_bits_of_full_values(const char* spec, const AllowedEncodings& columns,
                                const std::vector<Offset>& heights) {
  const auto pattern = generate<V, std::int32_t>(spec);
  const DeviceProperties device = device_properties(current_device());
  std::uint32_t trial = 0;
  for (const test::Repeats repeats : test::kRepeats) {
    const auto matrix = test::with_repeats(pattern, repeats);
    for (const Offset height : heights) {
      const auto full = packed(matrix, height, kFull, columns);
      std::vector<PackedSell<V, std::int32_t>> encoded;
      for (const AllowedValues& allowed : test::kAllowedValues) {
        encoded.push_back(packed(matrix, height, allowed, columns));
        ASSERT_TRUE(std::ranges::equal(encoded.back().encodings(), full.encodings()));
        ASSERT_TRUE(std::ranges::equal(encoded.back().entry_offsets(), full.entry_offsets()));
      }
      const int power = static_cast<int>(1 + ++trial % 4);
      const int count = trial % 3 == 0 ? 3 : 1;
      const auto x = test::random_vector<V>(static_cast<std::size_t>(matrix.rows()) * count, 3);
      for (const SweepShape& shape : sweep_shapes<V>(device, power, count, height)) {
        SCOPED_TRACE(testing::Message()
                     << spec << ", repeats " << static_cast<int>(repeats) << ", C=" << height
                     << ", p=" << power << ", " << name_of(shape.placement) << ", " << count
                     << " vectors" << (shape.specialised ? ", specialised" : ""));
        const auto expected = OnDevice<V>(full, shape).run(x, power);
        for (const auto& stored : encoded) {
          const auto found = OnDevice<V>(stored, shape).run(x, power, trial);
          for (int k = 0; k < power; ++k) {
            const std::vector<V> here(found[k].begin(), found[k].end());
            const std::vector<V> there(expected[k].begin(), expected[k].end());
            EXPECT_TRUE(test::same_results(here, there)) << "power " << k + 1;
          }
        }
      }
    }
  }
}

TEST_F(PersistentSweepTest, BitsAreThoseOfFullValues) {
  const char* stencil = on_gpu_or_emulated("stencil27:12x12x30", "stencil27:5x5x16");
  const char* mesh = on_gpu_or_emulated("mesh:5000,dim=2,nnzr=9", "mesh:600,dim=2,nnzr=9");
  expect_bits_of_full_values<double>(stencil, {}, {8, 16, 32});
  expect_bits_of_full_values<double>(mesh, {}, {32});
  expect_bits_of_full_values<float>(stencil, {.dia = false}, {8, 32});
  expect_bits_of_full_values<std::complex<double>>(stencil, {}, {16});
  expect_bits_of_full_values<std::complex<float>>(mesh, {.dia = false, .delta8 = false}, {8});
}

// A workspace outlasts new values, however they are stored.
TEST_F(PersistentSweepTest, WorkspacesFitTilesOfOtherValues) {
  const auto matrix = generate<double, std::int32_t>("stencil27:8x8x40");
  const auto other = test::with_repeats(matrix, test::Repeats::never);
  const auto x = test::random_vector<double>(matrix.rows(), 5);
  const DeviceProperties device = device_properties(current_device());
  for (const SweepShape& shape : sweep_shapes<double>(device, 2, 1, 32)) {
    OnDevice<double> encoded(packed(matrix, 32), shape);
    OnDevice<double> full(packed(other, 32), shape);
    const auto expected = full.run(x, 2);
    full.workspace = std::move(encoded.workspace);
    EXPECT_EQ(full.run(x, 2), expected);
  }
}

TEST_F(PersistentSweepTest, EncodedValuesMakeLongerWindows) {
  const auto matrix = generate<double, std::int32_t>("stencil27:32x32x40");
  const DeviceProperties device = device_properties(current_device());
  std::vector<SweepShape> shapes = sweep_shapes<double>(device, 2, 1, 32);
  std::erase_if(shapes, [](const SweepShape& shape) { return !shape.specialised; });
  if (shapes.empty()) GTEST_SKIP() << "windows of other kernels do not depend on bytes";
  for (const SweepShape& shape : shapes) {
    const auto window = [&](const AllowedValues& values) {
      const auto stored = packed(matrix, 32, values);
      const SliceTiles tiles = cut_slices(stored, shape.tile_bytes);
      const WorkerSweep sweep(inputs_of(stored, tiles), shape.workers);
      const TileStreamSizes sizes = tile_stream_sizes(stored, tiles, sweep);
      return lay_out_sweep(SweepTiles(sizes, sweep), shape).window_tiles;
    };
    EXPECT_GT(window({}), 2 * window(kFull)) << name_of(shape.placement);
  }
}

TEST_F(PersistentSweepTest, BitsDependOnNeitherShapeNorTilesNorTiming) {
  const auto matrix = generate<double, std::int32_t>(on_gpu_or_emulated(
      "mesh:60000,dim=3,nnzr=15,aspect=1x1x8", "mesh:4000,dim=3,nnzr=15,aspect=1x1x8"));
  const auto stored = packed(matrix, 16);
  const auto x = test::random_vector<double>(matrix.rows(), 5);
  const DeviceProperties device = device_properties(current_device());
  const Random random(17);
  std::vector<Array<double>> first;
  for (std::uint32_t trial = 0; trial < on_gpu_or_emulated(16U, 6U); ++trial) {
    for (SweepShape shape : sweep_shapes<double>(device, 3, 1, 16)) {
      shape.tile_bytes =
          2000 + static_cast<Offset>(random.below(trial, 1 + shape.tile_bytes - 2000));
      try {
        OnDevice<double> run(stored, shape, trial % 2 == 1);
        const auto found = run.run(x, 3, trial);
        if (first.empty()) first = found;
        EXPECT_EQ(first, found) << "trial " << trial << ", " << name_of(shape.placement);
        EXPECT_EQ(first, run.run(x, 3)) << "again";
      } catch (const InvalidArgument&) {
        // This window is too small for three powers.
      }
    }
  }
  EXPECT_FALSE(first.empty());
}

// A worker that does not go on, a run behind it, and a graph: all end, the error is reported once,
// and then everything works again.
TEST_F(PersistentSweepTest, ASweepThatGivesUpEndsAndLeavesAWorkspaceAsNew) {
  const auto matrix =
      generate<double, std::int32_t>(on_gpu_or_emulated("stencil27:24x24x120", "stencil27:8x8x40"));
  const auto x = test::random_vector<double>(matrix.rows(), 5);
  const DeviceProperties device = device_properties(current_device());
  for (const Offset height : {8, 32}) {
    const auto stored = packed(matrix, height);
    for (const int power : {2, 3}) {
      for (const SweepShape& shape : sweep_shapes<double>(device, power, 1, height)) {
        SCOPED_TRACE(testing::Message() << name_of(shape.placement) << ", "
                                        << (shape.specialised ? "specialised" : "portable")
                                        << ", p=" << power << ", C=" << height);
        OnDevice<double> on(stored, shape);
        const auto expected = on.run(x, power);
        TestVectors<double> sweep(x, power, on.stream);
        const Graph graph =
            Graph::capture(on.stream, [&] { on.sweep.run(sweep.steps, on.workspace, on.stream); });
        SweepSteps<double> stalled = sweep.steps;
        stalled.stress_seed = kStall;
        stalled.timeout_ns = 20'000'000;
        on.sweep.run(stalled, on.workspace, on.stream);
        graph.launch(on.stream);
        on.stream.synchronize();
        EXPECT_THROW(on.sweep.require_ended(on.workspace, on.stream), DeviceError);
        EXPECT_NO_THROW(on.sweep.require_ended(on.workspace, on.stream));
        graph.launch(on.stream);
        on.stream.synchronize();
        on.sweep.require_ended(on.workspace, on.stream);
        for (int k = 1; k <= power; ++k) {
          EXPECT_EQ(to_host(sweep.y[k].span(), on.stream), expected[k - 1]);
        }
      }
    }
  }
}

// Sweeps that would fill the device each, in streams of different priority, among kernels that
// compete for it: none may have some of its blocks resident and wait for the others forever.
TEST_F(PersistentSweepTest, SweepsInSeveralStreamsDoNotBlockEachOther) {
  const auto matrix =
      generate<double, std::int32_t>(on_gpu_or_emulated("stencil7:40x40x160", "stencil7:8x8x40"));
  const auto stored = packed(matrix, 32);
  const DeviceProperties device = device_properties(current_device());
  const auto x = test::random_vector<double>(matrix.rows(), 5);
  for (const SweepShape& shape : sweep_shapes<double>(device, 3, 1, 32)) {
    SCOPED_TRACE(name_of(shape.placement));
    OnDevice<double> normal(stored, shape);
    const auto expected = normal.run(x, 3);
    Stream high(StreamPriority::high);
    Stream other(StreamPriority::high);
    auto workspace = normal.sweep.make_workspace(high);
    TestVectors<double> in_normal(x, 3, normal.stream);
    TestVectors<double> in_high(x, 3, high);
    const DevicePackedSell<double> plain(stored, other);
    DeviceArray<double> y(plain.rows());
    const auto start = to_device(std::span<const double>(x), other);
    for (int repeat = 0; repeat < on_gpu_or_emulated(200, 20); ++repeat) {
      normal.sweep.run(in_normal.steps, normal.workspace, normal.stream);
      step(plain, {}, {start.span(), {}, y.span(), 1}, plain.all_rows(), other);
      normal.sweep.run(in_high.steps, workspace, high);
    }
    normal.stream.synchronize();
    high.synchronize();
    other.synchronize();
    normal.sweep.require_ended(normal.workspace, normal.stream);
    normal.sweep.require_ended(workspace, high);
    for (int k = 1; k <= 3; ++k) {
      EXPECT_EQ(to_host(in_normal.y[k].span(), normal.stream), expected[k - 1]);
      EXPECT_EQ(to_host(in_high.y[k].span(), high), expected[k - 1]);
    }
  }
}

TEST_F(PersistentSweepTest, RefusesWorkspacesOfOtherSweeps) {
  const auto stored = packed(generate<double, std::int32_t>("stencil5:100x100"), 32);
  const auto x = test::random_vector<double>(stored.rows(), 5);
  const DeviceProperties device = device_properties(current_device());
  for (const SweepShape& shape : sweep_shapes<double>(device, 2, 1, 32)) {
    OnDevice<double> on(stored, shape);
    TestVectors<double> sweep(x, 2, on.stream);
    PersistentSweep<double>::Workspace never_made;
    EXPECT_THROW(on.sweep.run(sweep.steps, never_made, on.stream), InvalidArgument);
    for (const SweepShape& taller : sweep_shapes<double>(device, 3, 1, 32)) {
      if (taller.placement != shape.placement || taller.specialised != shape.specialised) continue;
      OnDevice<double> other(stored, taller);
      EXPECT_THROW(on.sweep.run(sweep.steps, other.workspace, on.stream), InvalidArgument);
    }
    PersistentSweep<double> moved = std::move(on.sweep);
    EXPECT_THROW(on.sweep.run(sweep.steps, on.workspace, on.stream), InvalidArgument);
    EXPECT_THROW(on.sweep.make_workspace(on.stream), InvalidArgument);
    EXPECT_NO_THROW(moved.run(sweep.steps, on.workspace, on.stream));
    on.stream.synchronize();
  }
}

TEST_F(PersistentSweepTest, CanBeCapturedIntoAGraph) {
  const auto matrix =
      generate<double, std::int32_t>(on_gpu_or_emulated("stencil5:300x300", "stencil5:60x60"));
  const auto stored = packed(matrix, 32);
  const DeviceProperties device = device_properties(current_device());
  const auto x = test::random_vector<double>(matrix.rows(), 5);
  for (const SweepShape& shape : sweep_shapes<double>(device, 2, 1, 32)) {
    OnDevice<double> on_device(stored, shape);
    const auto expected = on_device.run(x, 2);
    TestVectors<double> sweep(x, 2, on_device.stream);
    const Graph graph = Graph::capture(on_device.stream, [&] {
      on_device.sweep.run(sweep.steps, on_device.workspace, on_device.stream);
    });
    for (int repeat = 0; repeat < 5; ++repeat) graph.launch(on_device.stream);
    EXPECT_EQ(to_host(sweep.y[2].span(), on_device.stream), expected[1]);
  }
}

}  // namespace
}  // namespace strata::gpu

// Waves on the GPU of this machine.
#include "strata/execute/gpu/device_wave.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "strata/base/random.hpp"
#include "strata/device/graph.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "tests/support/matrices.hpp"

namespace strata::gpu {
namespace {

class DeviceWaveTest : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << why_no_device();
  }
};

template <Value V>
struct OnDevice {
  Stream stream;
  DeviceWave<V> wave;
  typename DeviceWave<V>::Workspace workspace;

  OnDevice(const PackedSell<V, std::int32_t>& matrix, const WaveShape& shape, bool gather = false) {
    const SliceTiles tiles =
        gather ? gather_slices(matrix, shape.tile_bytes) : cut_slices(matrix, shape.tile_bytes);
    const Wave dealt(inputs_of(matrix, tiles), shape.workers);
    wave = DeviceWave<V>(
        std::make_shared<const DeviceTiles<V>>(TileStream<V>(matrix, tiles, dealt), dealt, stream),
        shape);
    workspace = wave.make_workspace(stream);
  }

  // y_1 … y_p, in vectors that start as NaN.
  std::vector<Array<V>> run(const std::vector<V>& x, int power, std::uint32_t disturbance = 0) {
    const std::vector<V> poison(x.size(), V(std::numeric_limits<float>::quiet_NaN()));
    std::vector<DeviceArray<V>> y;
    WaveSteps<V> steps;
    for (int k = 0; k <= power; ++k) {
      y.push_back(to_device(std::span<const V>(k == 0 ? x : poison), stream));
      steps.vectors.push_back(y.back().data());
    }
    for (int k = 1; k <= power; ++k) {
      steps.steps.push_back({V(0.5), V(1), k == 1 ? V{} : V(-0.25)});
    }
    steps.disturbance = disturbance;
    wave.run(steps, workspace, stream);
    stream.synchronize();
    wave.require_ended(workspace, stream);
    std::vector<Array<V>> found;
    for (int k = 1; k <= power; ++k) found.push_back(to_host(y[k].span(), stream));
    return found;
  }
};

template <Value V>
void expect_powers(const Csr<V, std::int32_t>& matrix, const std::vector<V>& x, int count,
                   const std::vector<Array<V>>& found, double tolerance) {
  const auto rows = static_cast<std::size_t>(matrix.rows());
  std::vector<std::vector<V>> y{x};
  std::vector<V> in(rows);
  std::vector<V> out(rows);
  for (std::size_t k = 1; k <= found.size(); ++k) {
    y.emplace_back(x.size());
    double scale = 0;
    double error = 0;
    for (int v = 0; v < count; ++v) {
      for (std::size_t row = 0; row < rows; ++row) in[row] = y[k - 1][row * count + v];
      reference::spmv(matrix, V{1}, in, V{}, out, matrix.all_rows());
      for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t i = row * count + v;
        V result = V(0.5) * (out[row] - in[row]);
        if (k > 1) result -= V(0.25) * y[k - 2][i];
        y[k][i] = result;
        ASSERT_FALSE(std::isnan(std::abs(found[k - 1][i]))) << "power " << k << " element " << i;
        scale = std::max<double>(scale, std::abs(result));
        error = std::max<double>(error, std::abs(result - found[k - 1][i]));
      }
    }
    EXPECT_LE(error, tolerance * scale) << "power " << k;
  }
}

template <Value V>
PackedSell<V, std::int32_t> packed(const Csr<V, std::int32_t>& matrix, Offset height) {
  return PackedSell<V, std::int32_t>::from_csr(
      matrix, {.slice_height = height, .max_fill = std::numeric_limits<double>::infinity()});
}

template <Value V>
void check_all_shapes(const char* spec, double tolerance) {
  const auto matrix = generate<V, std::int32_t>(spec);
  const DeviceProperties device = device_properties(current_device());
  for (const Offset height : {8, 16, 32}) {
    const auto stored = packed(matrix, height);
    for (const int count : {1, 3}) {
      const auto x = test::random_vector<V>(static_cast<std::size_t>(matrix.rows()) * count, 3);
      for (const int power : {1, 2, 3, 5, 8}) {
        for (WaveShape shape : wave_shapes<V>(device, power, count, height)) {
          SCOPED_TRACE(testing::Message() << spec << ", C=" << height << ", p=" << power << ", "
                                          << name_of(shape.home) << ", " << count << " vectors");
          OnDevice<V> run(stored, shape);
          expect_powers(matrix, x, count, run.run(x, power), tolerance);
        }
      }
    }
  }
}

TEST_F(DeviceWaveTest, AgreesWithTheReferenceInEveryShape) {
  check_all_shapes<double>("stencil27:20x20x60", 1e-13);
  check_all_shapes<float>("stencil7:30x30x60", 2e-5);
  check_all_shapes<std::complex<double>>("mesh:20000,dim=2,nnzr=9", 1e-13);
  check_all_shapes<std::complex<float>>("band:30000,width=9", 2e-5);
}

TEST_F(DeviceWaveTest, BitsDependOnNeitherShapeNorTilesNorTiming) {
  const auto matrix = generate<double, std::int32_t>("mesh:60000,dim=3,nnzr=15,aspect=1x1x8");
  const auto stored = packed(matrix, 16);
  const auto x = test::random_vector<double>(matrix.rows(), 5);
  const DeviceProperties device = device_properties(current_device());
  const Random random(17);
  std::vector<Array<double>> first;
  for (std::uint32_t trial = 0; trial < 40; ++trial) {
    for (WaveShape shape : wave_shapes<double>(device, 3, 1, 16)) {
      shape.tile_bytes =
          2000 + static_cast<Offset>(random.below(trial, 1 + shape.tile_bytes - 2000));
      try {
        OnDevice<double> run(stored, shape, trial % 2 == 1);
        const auto found = run.run(x, 3, trial);
        if (first.empty()) first = found;
        EXPECT_EQ(first, found) << "trial " << trial << ", " << name_of(shape.home);
        EXPECT_EQ(first, run.run(x, 3)) << "again";
      } catch (const InvalidArgument&) {
        // This window is too small for three powers.
      }
    }
  }
  EXPECT_FALSE(first.empty());
}

TEST_F(DeviceWaveTest, CanBeCapturedIntoAGraph) {
  const auto matrix = generate<double, std::int32_t>("stencil5:300x300");
  const auto stored = packed(matrix, 32);
  const DeviceProperties device = device_properties(current_device());
  const auto x = test::random_vector<double>(matrix.rows(), 5);
  for (const WaveShape& shape : wave_shapes<double>(device, 2, 1, 32)) {
    OnDevice<double> on_device(stored, shape);
    const auto expected = on_device.run(x, 2);
    std::vector<DeviceArray<double>> y;
    WaveSteps<double> steps;
    for (int k = 0; k <= 2; ++k) {
      y.push_back(to_device(std::span<const double>(x), on_device.stream));
      steps.vectors.push_back(y.back().data());
    }
    for (int k = 1; k <= 2; ++k) steps.steps.push_back({0.5, 1, k == 1 ? 0 : -0.25});
    const Graph graph = Graph::capture(on_device.stream, [&] {
      on_device.wave.run(steps, on_device.workspace, on_device.stream);
    });
    for (int repeat = 0; repeat < 5; ++repeat) graph.launch(on_device.stream);
    EXPECT_EQ(to_host(y[2].span(), on_device.stream), expected[1]);
  }
}

}  // namespace
}  // namespace strata::gpu

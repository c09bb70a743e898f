// Sweeps by levels on the GPU of this machine: a kernel per group and power, launched and captured,
// in every format.
#include "strata/execute/gpu/level_sweep.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "strata/gen/generate.hpp"
#include "strata/order/level_groups.hpp"
#include "strata/plans/basis.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/step_check.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;

template <Value V>
using Steps = std::vector<StepCoefficients<V>>;

// Groups begin on whole windows of whatever is sorted below.
constexpr I kAlignment = 64;

// A matrix in the order of its levels, and its groups as tiles.
template <Value V>
struct InLevels {
  Csr<V, I> csr;
  Tiling<I> tiling;

  InLevels(const Csr<V, I>& matrix, Offset group_entries) {
    const auto groups = group_levels(matrix.pattern(), find_levels(matrix.pattern()),
                                     {.group_entries = group_entries, .alignment = kAlignment});
    csr = reordered(matrix, groups.order);
    const std::vector<Offset> entries_before(csr.row_offsets().begin(), csr.row_offsets().end());
    tiling = make_tiling<I>(csr.pattern(), entries_before,
                            {groups.group_offsets, std::numeric_limits<Offset>::max(), kAlignment});
  }

  Schedule levels(int power) const { return wavefront_schedule(tiling, power); }
};

// body(matrix) for all formats, with a matrix on the device.
template <Value V, class Body>
void in_every_format(const Csr<V, I>& csr, Stream& stream, const Body& body) {
  constexpr double kAnyFill = 1e9;
  const auto run = [&](const std::string& name, const auto& matrix) {
    SCOPED_TRACE(name);
    body(matrix);
  };
  run("CSR by rows", DeviceCsr<V>(csr, stream, {CsrKernel::classical}));
  run("CSR in parts", DeviceCsr<V>(csr, stream, {CsrKernel::balanced}));
  run("ELL", DeviceEll<V>(Ell<V, I>::from_csr(csr, {.max_fill = kAnyFill}), stream));
  for (const auto& [height, window] : {std::pair<Offset, Offset>{8, 1}, {32, 64}}) {
    run("SELL", DeviceSell<V>(
                    Sell<V, I>::from_csr(
                        csr, {.slice_height = height, .sort_window = window, .max_fill = kAnyFill}),
                    stream));
    run("packed SELL", DevicePackedSell<V>(PackedSell<V, I>::from_csr(csr, {.slice_height = height,
                                                                            .sort_window = window,
                                                                            .max_fill = kAnyFill}),
                                           stream));
  }
}

// y_−1, y_0 and what a sweep makes of them.
template <Value V>
struct Vectors {
  std::vector<V> before;
  std::vector<V> x;
  int count;

  Vectors(I rows, int vectors)
      : before(test::random_vector<V>(static_cast<std::size_t>(rows) * vectors, 4)),
        x(test::random_vector<V>(before.size(), 5)),
        count(vectors) {}
};

template <Value V>
DeviceArray<V> poisoned(Offset size, Stream& stream) {
  const std::vector<V> poison(static_cast<std::size_t>(size), test::not_a_number<V>());
  return to_device(std::span<const V>(poison), stream);
}

enum class How { launched, captured };

// y_1 … y_p one after another, in vectors that start as NaN.
template <class Matrix, Value V>
Array<V> all_powers(const LevelSweep<V>& sweep, const Matrix& matrix, const Vectors<V>& given,
                    const Steps<V>& steps, How how, Stream& stream) {
  const auto before = to_device(std::span<const V>(given.before), stream);
  const auto x = to_device(std::span<const V>(given.x), stream);
  auto block = poisoned<V>(x.size() * sweep.power(), stream);
  auto vectors = SweepVectors<V>::all(x.span(), block.span(), sweep.power(), given.count);
  vectors.before = before.span();
  DeviceScratch<V> scratch(matrix.scratch_elements(given.count));
  vectors.scratch = scratch.span();
  if (how == How::launched) {
    sweep.run(matrix, vectors, steps, stream);
  } else {
    const Graph graph = sweep.capture(matrix, vectors, steps, stream);
    EXPECT_GE(graph.nodes(), std::ssize(sweep.launches()));
    for (int repeat = 0; repeat < 3; ++repeat) graph.launch(stream);
  }
  return to_host(block.span(), stream);
}

// y_p in place of y_{p−2}, in sweeps of so many powers each: x and y_−1 are overwritten.
template <class Matrix, Value V>
Array<V> last_power(const std::vector<LevelSweep<V>>& sweeps, const Matrix& matrix,
                    const Vectors<V>& given, const Steps<V>& steps, Stream& stream) {
  auto even = to_device(std::span<const V>(given.x), stream);
  auto odd = to_device(std::span<const V>(given.before), stream);
  DeviceScratch<V> scratch(matrix.scratch_elements(given.count));
  std::size_t done = 0;
  for (const LevelSweep<V>& sweep : sweeps) {
    auto& x = done % 2 == 0 ? even : odd;
    auto& other = done % 2 == 0 ? odd : even;
    auto vectors =
        SweepVectors<V>::last(x.span(), other.span(), x.span(), sweep.power(), given.count);
    vectors.before = other.span();
    vectors.scratch = scratch.span();
    const auto power = static_cast<std::size_t>(sweep.power());
    sweep.run(matrix, vectors, std::span(steps).subspan(done, power), stream);
    done += power;
  }
  return to_host(done % 2 == 0 ? even.span() : odd.span(), stream);
}

template <Value V>
Csr<V, I> with_sizes_of_values(const Csr<V, I>& csr) {
  Array<V> values;
  for (const V value : csr.values()) values.push_back(V(std::abs(value)));
  return {csr.rows(),
          csr.cols(),
          {csr.row_offsets().begin(), csr.row_offsets().end()},
          {csr.columns().begin(), csr.columns().end()},
          std::move(values)};
}

// The powers by the reference kernel; errors are measured by those of the numbers' sizes.
template <Value V>
void expect_powers(const Csr<V, I>& csr, const Vectors<V>& given, const Steps<V>& steps,
                   const Array<V>& found) {
  const Csr<V, I> sizes_of_csr = with_sizes_of_values(csr);
  const auto sizes = [](std::vector<V> vector) {
    for (V& element : vector) element = V(std::abs(element));
    return vector;
  };
  std::vector<std::vector<V>> y{given.before, given.x};
  std::vector<std::vector<V>> bound{sizes(given.before), sizes(given.x)};
  Offset longest = 0;
  for (I row = 0; row < csr.rows(); ++row) {
    longest = std::max<Offset>(longest, csr.pattern().row_length(row));
  }
  for (std::size_t k = 1; k <= steps.size(); ++k) {
    const StepCoefficients<V>& step = steps[k - 1];
    y.push_back(test::expected_step(csr, step, y[k], y[k - 1], given.count));
    const StepCoefficients<V> size{V(std::abs(step.alpha)), -V(std::abs(step.shift)),
                                   V(std::abs(step.beta))};
    bound.push_back(test::expected_step(sizes_of_csr, size, bound[k], bound[k - 1], given.count));
    for (std::size_t i = 0; i < given.x.size(); ++i) {
      const double allowed = test::tolerance<V>(longest + 2) * static_cast<double>(k) *
                             static_cast<double>(std::abs(bound[k + 1][i]));
      const V result = found[(k - 1) * given.x.size() + i];
      ASSERT_LE(std::abs(result - y[k + 1][i]), allowed) << "power " << k << " element " << i;
    }
  }
}

template <Value V>
Steps<V> steps_of(const Basis& basis, int power) {
  Steps<V> steps;
  for (int k = 1; k <= power; ++k) steps.push_back(basis.step<V>(k));
  return steps;
}

// Every kind of step, and one that begins with y_−1 as the second of two sweeps does.
template <Value V>
std::vector<Steps<V>> all_steps(int power) {
  std::vector<std::complex<double>> shifts;
  for (int k = 1; k <= power; ++k) shifts.emplace_back(0.3 * k);
  Steps<V> second = steps_of<V>(Basis::chebyshev(-4, 4), power + 1);
  second.erase(second.begin());
  return {steps_of<V>(Basis::monomial(), power), steps_of<V>(Basis::newton(shifts, 3.0), power),
          steps_of<V>(Basis::chebyshev(-4, 4), power), second};
}

template <class V>
class GpuLevelSweep : public test::GpuTest {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuLevelSweep, Values);

TYPED_TEST(GpuLevelSweep, AgreesWithTheReferenceOnAwkwardMatricesInEveryFormat) {
  using V = TypeParam;
  Stream stream;
  std::size_t number = 0;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    if (csr.rows() != csr.cols()) continue;
    const int power = 1 + static_cast<int>(number % 4);
    const auto steps = all_steps<V>(power)[number % 4];
    const InLevels<V> in_levels(csr, 1 + static_cast<Offset>(number % 3) * 40);
    const Vectors<V> given(in_levels.csr.rows(), 1 + static_cast<int>(number % 8));
    const LevelSweep<V> sweep(in_levels.tiling, in_levels.levels(power));
    in_every_format(in_levels.csr, stream, [&](const auto& matrix) {
      expect_powers(in_levels.csr, given, steps,
                    all_powers(sweep, matrix, given, steps, How::launched, stream));
    });
    ++number;
  }
}

TYPED_TEST(GpuLevelSweep, AgreesWithTheReferenceInEveryBasis) {
  using V = TypeParam;
  Stream stream;
  for (const char* spec : {"stencil7:9x8x40", "mesh:2500,dim=3,nnzr=15,aspect=1x1x6"}) {
    SCOPED_TRACE(spec);
    const InLevels<V> in_levels(generate<V, I>(spec), 3000);
    ASSERT_GT(in_levels.tiling.groups(), 4);
    const LevelSweep<V> sweep(in_levels.tiling, in_levels.levels(5));
    for (const Steps<V>& steps : all_steps<V>(5)) {
      for (const int count : {1, 3}) {
        const Vectors<V> given(in_levels.csr.rows(), count);
        in_every_format(in_levels.csr, stream, [&](const auto& matrix) {
          expect_powers(in_levels.csr, given, steps,
                        all_powers(sweep, matrix, given, steps, How::launched, stream));
        });
      }
    }
  }
}

TYPED_TEST(GpuLevelSweep, BitsDependOnNeitherGroupsNorGraphsNorPlaces) {
  using V = TypeParam;
  Stream stream;
  const InLevels<V> in_levels(generate<V, I>("mesh:4000,dim=2,nnzr=9"), 2000);
  const auto sweep_of = [&](int power) {
    return LevelSweep<V>(in_levels.tiling, in_levels.levels(power));
  };
  const LevelSweep<V> levels = sweep_of(5);
  const LevelSweep<V> plain(in_levels.tiling, plain_schedule(in_levels.tiling, 5), {.merge = true});
  const std::vector<LevelSweep<V>> at_once{levels};
  const std::vector<LevelSweep<V>> in_two{sweep_of(3), sweep_of(2)};
  EXPECT_EQ(plain.launches().size(), 5);
  EXPECT_GT(levels.launches().size(), 20);
  const auto steps = all_steps<V>(5).back();
  for (const int count : {1, 4, 7}) {
    SCOPED_TRACE(testing::Message() << count << " vectors");
    const Vectors<V> given(in_levels.csr.rows(), count);
    in_every_format(in_levels.csr, stream, [&](const auto& matrix) {
      const auto expected = all_powers(plain, matrix, given, steps, How::launched, stream);
      EXPECT_EQ(all_powers(plain, matrix, given, steps, How::captured, stream), expected);
      EXPECT_EQ(all_powers(levels, matrix, given, steps, How::launched, stream), expected);
      EXPECT_EQ(all_powers(levels, matrix, given, steps, How::captured, stream), expected);
      const Array<V> last(expected.end() - std::ssize(given.x), expected.end());
      EXPECT_EQ(last_power(at_once, matrix, given, steps, stream), last);
      EXPECT_EQ(last_power(in_two, matrix, given, steps, stream), last);
    });
  }
}

class GpuLevelSweeps : public test::GpuTest {};

// A graph has a node per launch, and reads the vectors that are there when it runs.
TEST_F(GpuLevelSweeps, AGraphRunsOnWhatTheVectorsHold) {
  Stream stream;
  const InLevels<double> in_levels(generate<double, I>("stencil5:40x90"), 1000);
  const DeviceEll<double> matrix(Ell<double, I>::from_csr(in_levels.csr), stream);
  const LevelSweep<double> sweep(in_levels.tiling, in_levels.levels(3));
  const auto steps = steps_of<double>(Basis::monomial(), 3);
  const Vectors<double> given(in_levels.csr.rows(), 1);
  auto x = poisoned<double>(std::ssize(given.x), stream);
  auto block = poisoned<double>(3 * x.size(), stream);
  const Graph graph =
      sweep.capture(matrix, SweepVectors<double>::all(x.span(), block.span(), 3), steps, stream);
  EXPECT_EQ(graph.nodes(), std::ssize(sweep.launches()));
  copy(std::span<const double>(given.x), x.span(), stream);
  graph.launch(stream);
  EXPECT_EQ(to_host(block.span(), stream),
            all_powers(sweep, matrix, given, steps, How::launched, stream));
}

TEST_F(GpuLevelSweeps, EmptyMatricesLaunchNothing) {
  Stream stream;
  const InLevels<double> in_levels(Csr<double, I>{}, 1);
  const LevelSweep<double> sweep(in_levels.tiling, in_levels.levels(2));
  EXPECT_TRUE(sweep.launches().empty());
  const auto steps = steps_of<double>(Basis::monomial(), 2);
  const DeviceCsr<double> matrix(in_levels.csr, stream);
  const Vectors<double> given(0, 1);
  EXPECT_TRUE(all_powers(sweep, matrix, given, steps, How::launched, stream).empty());
  EXPECT_TRUE(all_powers(sweep, matrix, given, steps, How::captured, stream).empty());
}

TEST_F(GpuLevelSweeps, WrongArgumentsAreRefused) {
  Stream stream;
  const InLevels<double> in_levels(generate<double, I>("stencil5:32x40"), 500);
  const I rows = in_levels.csr.rows();
  const LevelSweep<double> sweep(in_levels.tiling, in_levels.levels(2));
  const DeviceCsr<double> matrix(in_levels.csr, stream);
  const DeviceCsr<double> other(generate<double, I>("stencil5:3x3"), stream);
  DeviceArray<double> x(rows), block(2 * rows);
  const Steps<double> two(2);
  const auto all = SweepVectors<double>::all(x.span(), block.span(), 2);
  EXPECT_NO_THROW(sweep.run(matrix, all, two, stream));
  EXPECT_THROW(sweep.run(other, all, two, stream), InvalidArgument);
  EXPECT_THROW(sweep.run(matrix, all, Steps<double>(3), stream), InvalidArgument);
  auto few = all;
  few.powers.pop_back();
  EXPECT_THROW(sweep.run(matrix, few, two, stream), InvalidArgument);
  auto on_itself = all;
  on_itself.powers[1] = on_itself.powers[0];
  EXPECT_THROW(sweep.run(matrix, on_itself, two, stream), InvalidArgument);
  auto overlapping = all;
  overlapping.powers[1] = block.subspan(rows - 1, rows);
  EXPECT_THROW(sweep.run(matrix, overlapping, two, stream), InvalidArgument);
  auto too_many = all;
  too_many.count = 2;
  EXPECT_THROW(sweep.run(matrix, too_many, two, stream), InvalidArgument);
  const Steps<double> with_previous(2, {.beta = 1});
  EXPECT_THROW(sweep.run(matrix, all, with_previous, stream), InvalidArgument);
  EXPECT_THROW((SweepVectors<double>::all(x.span(), block.span(), 3)), InvalidArgument);
  stream.synchronize();
}

}  // namespace
}  // namespace strata::gpu

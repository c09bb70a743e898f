// Sweeps in which values are their own flags, on the GPU of this machine.
#include "strata/execute/gpu/flagged_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "strata/base/random.hpp"
#include "strata/device/error.hpp"
#include "strata/device/graph.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/matrices.hpp"

namespace strata::gpu {
namespace {

class FlaggedSweepTest : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << why_no_device();
    device_ = device_properties(current_device());
    if (!can_run_flagged<double>(device_)) GTEST_SKIP() << "these sweeps need a Hopper GPU";
  }
  DeviceProperties device_;
};

enum class Recurrence { powers, shifted };

template <Value V>
StepCoefficients<V> step_of(Recurrence recurrence, int k) {
  if (recurrence == Recurrence::powers) return {V(0.5), V{}, V{}};
  return {V(0.5), V(1), k == 1 ? V{} : V(-0.25)};
}

// y_0 … y_p on the device, so many elements behind the beginning of an allocation. Powers hold
// numbers of an earlier run, which nobody may read.
template <Value V>
struct FlaggedVectors {
  std::vector<DeviceArray<V>> y;
  SweepSteps<V> steps;
  Offset skipped;
  Offset rows;

  FlaggedVectors(const std::vector<V>& x, int power, Recurrence recurrence, Offset skip,
                 Stream& stream)
      : skipped(skip), rows(std::ssize(x)) {
    std::vector<V> shifted(static_cast<std::size_t>(skip), V(3));
    shifted.insert(shifted.end(), x.begin(), x.end());
    const std::vector<V> old(shifted.size(), V(12345));
    for (int k = 0; k <= power; ++k) {
      y.push_back(to_device(std::span<const V>(k == 0 ? shifted : old), stream));
      steps.vectors.push_back(y.back().data() + skip);
    }
    for (int k = 1; k <= power; ++k) steps.steps.push_back(step_of<V>(recurrence, k));
    stream.synchronize();  // the copies have read their vectors
  }
  std::vector<Array<V>> powers(Stream& stream) {
    std::vector<Array<V>> found;
    for (std::size_t k = 1; k < y.size(); ++k) {
      found.push_back(to_host(y[k].span().subspan(skipped, rows), stream));
    }
    return found;
  }
};

template <Value V>
struct FlaggedOnDevice {
  Stream stream;
  FlaggedSweep<V> sweep;
  typename FlaggedSweep<V>::Workspace workspace;

  FlaggedOnDevice(const Csr<V, std::int32_t>& matrix, const FlaggedForm& form, int workers,
                  const FlaggedShape& shape) {
    sweep = FlaggedSweep<V>(std::make_shared<const FlaggedTiles<V>>(
                                FlaggedStream<V>(matrix, form, workers), workers, stream),
                            shape);
    workspace = sweep.make_workspace(stream);
  }

  std::vector<Array<V>> run(const std::vector<V>& x, int power, Recurrence recurrence,
                            std::uint32_t stress_seed = 0, Offset skip = 0) {
    FlaggedVectors<V> vectors(x, power, recurrence, skip, stream);
    vectors.steps.stress_seed = stress_seed;
    sweep.run(vectors.steps, workspace, stream);
    stream.synchronize();
    sweep.require_ended(workspace, stream);
    return vectors.powers(stream);
  }
};

template <Value V>
std::vector<std::vector<V>> expected_powers(const Csr<V, std::int32_t>& matrix,
                                            const std::vector<V>& x, int power,
                                            Recurrence recurrence) {
  std::vector<std::vector<V>> y{x};
  for (int k = 1; k <= power; ++k) {
    const StepCoefficients<V> step = step_of<V>(recurrence, k);
    std::vector<V> out(x.size());
    reference::spmv(matrix, V{1}, y[k - 1], V{}, out, matrix.all_rows());
    for (std::size_t i = 0; i < x.size(); ++i) {
      out[i] = step.alpha * (out[i] - step.shift * y[k - 1][i]);
      if (k > 1) out[i] += step.beta * y[k - 2][i];
    }
    y.push_back(std::move(out));
  }
  return y;
}

template <Value V>
void expect_close(const std::vector<std::vector<V>>& expected, const std::vector<Array<V>>& found) {
  const double tolerance = 200 * std::numeric_limits<decltype(std::abs(V{}))>::epsilon();
  for (std::size_t k = 1; k <= found.size(); ++k) {
    double scale = 0;
    double error = 0;
    for (std::size_t i = 0; i < expected[k].size(); ++i) {
      ASSERT_FALSE(std::isnan(std::abs(found[k - 1][i]))) << "power " << k << " element " << i;
      scale = std::max<double>(scale, std::abs(expected[k][i]));
      error = std::max<double>(error, std::abs(expected[k][i] - found[k - 1][i]));
    }
    EXPECT_LE(error, tolerance * scale) << "power " << k;
  }
}

// What the rows from `begin` to `end` have behind the diagonal is no longer what those rows have
// before it.
template <Value V>
Csr<V, std::int32_t> lopsided(Csr<V, std::int32_t> matrix, std::int32_t begin, std::int32_t end) {
  Array<V> values(matrix.values().begin(), matrix.values().end());
  for (std::int32_t row = begin; row < end; ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      if (matrix.columns()[k] > row) values[static_cast<std::size_t>(k)] *= V(0.75);
    }
  }
  return {matrix.rows(), matrix.cols(),
          Array<Offset>(matrix.row_offsets().begin(), matrix.row_offsets().end()),
          Array<std::int32_t>(matrix.columns().begin(), matrix.columns().end()), std::move(values)};
}

template <Value V>
void check(const Csr<V, std::int32_t>& matrix, int workers);

template <Value V>
void check(const char* spec, int workers) {
  SCOPED_TRACE(testing::Message() << spec << " on " << workers << " workers");
  check(generate<V, std::int32_t>(spec), workers);
}

// Of points that are mirrored in some of the tiles, or in none.
template <Value V>
void check_lopsided(const char* spec, int workers) {
  SCOPED_TRACE(testing::Message() << spec << " on " << workers << " workers, lopsided");
  const auto matrix = generate<V, std::int32_t>(spec);
  check(lopsided(matrix, matrix.rows() / 3, matrix.rows() / 2), workers);
  check(lopsided(matrix, 0, matrix.rows()), workers);
}

// As many powers as the window of some workers allows.
template <Value V>
void check(const Csr<V, std::int32_t>& matrix, int workers) {
  const auto form = find_flagged_form(matrix);
  ASSERT_TRUE(form.has_value());
  const auto x = test::random_vector<V>(matrix.rows(), 3);
  std::vector<FlaggedForm> forms{*form};
  forms.push_back({.lanes = 2});
  for (const Recurrence recurrence : {Recurrence::powers, Recurrence::shifted}) {
    const auto expected = expected_powers(matrix, x, 8, recurrence);
    for (const FlaggedForm& cut : forms) {
      int ran = 0;
      for (const int power : {1, 2, 3, 4, 8}) {
        for (const FlaggedShape& shape : flagged_shapes(power)) {
          try {
            FlaggedOnDevice<V> on(matrix, cut, workers, shape);
            ++ran;
            SCOPED_TRACE(testing::Message() << "p=" << power << ", warps " << shape.warps);
            const auto found = on.run(x, power, recurrence);
            expect_close(expected, found);
            // Other vectors, whose chunks are not aligned; and delays.
            EXPECT_EQ(found, on.run(x, power, recurrence, 17, 1));
            // Fewer powers than the sweep could do.
            if (power > 1) expect_close(expected, on.run(x, power - 1, recurrence));
          } catch (const InvalidArgument&) {
            // The window is too small.
          }
        }
      }
      EXPECT_GE(ran, 2);
    }
  }
}

template <Value V>
void check_matrices(int workers) {
  check<V>("stencil7:128x16x40,coefficients=random", workers);
  check<V>("stencil7:30x30x60,coefficients=random", workers);
  check<V>("stencil5:512x60,coefficients=random", workers);
  check_lopsided<V>("stencil7:128x16x40,coefficients=random", workers);
  check_lopsided<V>("stencil5:512x60,coefficients=random", workers);
  check<V>("stencil27:16x16x60,coefficients=random", workers);
  check<V>("stencil27:9x10x61,coefficients=random", workers);
  check<V>("stencil27:6x6x60,dof=3,coefficients=random", workers);
  check<V>("stencil7:8x8x61,dof=2,coefficients=random", workers);
  check<V>("mesh:9001,dim=2,nnzr=9", workers);
  check<V>("band:20001,width=9", workers);
  check<V>("band:20000,width=27", workers);
  check<V>("stencil7:33x31x60,coefficients=random", workers);
}

TEST_F(FlaggedSweepTest, AgreesWithTheReferenceInDouble) {
  check_matrices<double>(device_.multiprocessors);
  check_matrices<double>(3);
}
TEST_F(FlaggedSweepTest, AgreesWithTheReferenceInSingle) {
  check_matrices<float>(device_.multiprocessors);
}
TEST_F(FlaggedSweepTest, AgreesWithTheReferenceInComplexDouble) {
  check_matrices<std::complex<double>>(device_.multiprocessors);
}
TEST_F(FlaggedSweepTest, AgreesWithTheReferenceInComplexSingle) {
  check_matrices<std::complex<float>>(device_.multiprocessors);
}

// Many sweeps with other delays, powers, warps, workers and places of the vectors: the same bits.
// STRATA_SWEEPS: how many.
TEST_F(FlaggedSweepTest, BitsDependOnNothingElse) {
  const char* asked = std::getenv("STRATA_SWEEPS");
  const int sweeps = asked != nullptr ? std::atoi(asked) : 400;
  const Random random(5);
  std::uint64_t drawn = 0;
  const auto below = [&](std::uint64_t limit) {
    return static_cast<int>(random.below(drawn++, limit));
  };
  const auto run_all = [&]<Value V>(const char* spec, int share) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<V, std::int32_t>(spec);
    const auto form = find_flagged_form(matrix);
    ASSERT_TRUE(form.has_value());
    const auto x = test::random_vector<V>(matrix.rows(), 5);
    std::vector<Array<V>> first;
    int runs = 0;
    while (runs < share) {
      const int workers =
          below(2) == 0 ? device_.multiprocessors : 1 + below(device_.multiprocessors);
      const int power = 2 + below(4);
      const int warps = 1 + below(14 / power);
      try {
        FlaggedOnDevice<V> on(matrix, *form, workers, {power, warps});
        FlaggedVectors<V> vectors(x, power, Recurrence::shifted, below(3), on.stream);
        for (int again = 0; again < 25; ++again, ++runs) {
          vectors.steps.stress_seed = below(3) == 0 ? 0 : 1 + below(1 << 30);
          on.sweep.run(vectors.steps, on.workspace, on.stream);
          const auto found = vectors.powers(on.stream);
          if (found.size() > first.size()) {
            ASSERT_TRUE(std::equal(first.begin(), first.end(), found.begin()));
            first = found;
          }
          ASSERT_TRUE(std::equal(found.begin(), found.end(), first.begin()))
              << "run " << runs << ", p=" << power << ", warps " << warps << ", workers "
              << workers;
        }
        on.sweep.require_ended(on.workspace, on.stream);
      } catch (const InvalidArgument&) {
        ++runs;  // the window is too small
      }
    }
  };
  const int share = std::max(sweeps / 11, 1);
  run_all.operator()<double>("stencil7:64x12x12,coefficients=random", share);
  run_all.operator()<double>("stencil5:128x40,coefficients=random", share);
  run_all.operator()<double>("stencil27:9x9x40,coefficients=random", share);
  run_all.operator()<double>("mesh:4000,dim=3,nnzr=15,aspect=1x1x8", share);
  run_all.operator()<double>("stencil27:4x4x40,dof=3,coefficients=random", share);
  run_all.operator()<double>("stencil7:33x10x30,coefficients=random", share);
  run_all.operator()<double>("band:20000,width=9", share);
  run_all.operator()<float>("stencil27:16x16x20,coefficients=random", share);
  run_all.operator()<float>("mesh:4000,dim=2,nnzr=7", share);
  run_all.operator()<std::complex<double>>("stencil7:32x12x12,coefficients=random", share);
  run_all.operator()<std::complex<float>>("stencil7:64x8x12,coefficients=random", share);
}

TEST_F(FlaggedSweepTest, BitsAreThoseOfMatricesThatAreNotMirrored) {
  for (const char* spec :
       {"stencil7:128x16x40,coefficients=random", "stencil5:512x60,coefficients=random"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, std::int32_t>(spec);
    const auto form = find_flagged_form(matrix);
    ASSERT_TRUE(form.has_value());
    FlaggedForm whole = *form;
    whole.mirrors = false;
    const auto x = test::random_vector<double>(matrix.rows(), 9);
    FlaggedOnDevice<double> mirrored(matrix, *form, device_.multiprocessors, {3, 2});
    FlaggedOnDevice<double> stored_twice(matrix, whole, device_.multiprocessors, {3, 2});
    EXPECT_EQ(mirrored.run(x, 3, Recurrence::shifted), stored_twice.run(x, 3, Recurrence::shifted));
  }
}

template <class V>
V flag_of() {
  if constexpr (sizeof(V) == 8) return std::bit_cast<V>(kFlag64);
  if constexpr (sizeof(V) == 4) return std::bit_cast<V>(kFlag32);
}

// x that is not finite, or even the flag, makes the results not finite where the matrix has
// entries, and nowhere else; and nobody waits for it.
template <Value V>
void check_not_finite(const char* spec, int workers) {
  SCOPED_TRACE(spec);
  const auto matrix = generate<V, std::int32_t>(spec);
  const auto form = find_flagged_form(matrix);
  ASSERT_TRUE(form.has_value());
  auto x = test::random_vector<V>(matrix.rows(), 3);
  for (std::size_t i = 37; i < x.size(); i += 997) x[i] = std::numeric_limits<V>::infinity();
  for (std::size_t i = 301; i < x.size(); i += 1999) x[i] = flag_of<V>();
  x[0] = flag_of<V>();
  const auto expected = expected_powers(matrix, x, 2, Recurrence::shifted);
  FlaggedOnDevice<V> on(matrix, *form, workers, {2, 3});
  const auto found = on.run(x, 2, Recurrence::shifted);
  for (int k = 1; k <= 2; ++k) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(std::isfinite(found[k - 1][i]), std::isfinite(expected[k][i]))
          << "power " << k << " element " << i;
    }
  }
}
TEST_F(FlaggedSweepTest, NumbersThatAreNotFiniteStayWhereTheyBelong) {
  for (const char* spec :
       {"stencil7:64x16x40,coefficients=random", "stencil27:15x14x40,coefficients=random",
        "stencil5:51x400,coefficients=random", "mesh:9000,dim=2,nnzr=9",
        "stencil27:6x6x40,dof=3,coefficients=random"}) {
    check_not_finite<double>(spec, device_.multiprocessors);
    check_not_finite<float>(spec, device_.multiprocessors);
  }
}

TEST_F(FlaggedSweepTest, AddsUpPowers) {
  for (const char* spec : {"stencil7:64x16x40,coefficients=random", "mesh:9000,dim=2,nnzr=9"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, std::int32_t>(spec);
    const auto form = find_flagged_form(matrix);
    ASSERT_TRUE(form.has_value());
    const auto x = test::random_vector<double>(matrix.rows(), 3);
    const auto expected = expected_powers(matrix, x, 3, Recurrence::shifted);
    FlaggedOnDevice<double> on(matrix, *form, device_.multiprocessors, {3, 3});
    const std::vector<double> weights{2, -1, 0.5};
    for (const bool starts : {true, false}) {
      FlaggedVectors<double> vectors(x, 3, Recurrence::shifted, 0, on.stream);
      const std::vector<double> before(x.size(), 7);
      DeviceArray<double> sum = to_device(std::span<const double>(before), on.stream);
      vectors.steps.sum = {sum.data(), weights, 4, starts};
      on.sweep.run(vectors.steps, on.workspace, on.stream);
      const Array<double> found = to_host(sum.span(), on.stream);
      for (std::size_t i = 0; i < x.size(); ++i) {
        double total = starts ? 4 * x[i] : 7;
        for (int k = 1; k <= 3; ++k) total += weights[k - 1] * expected[k][i];
        ASSERT_NEAR(found[i], total, 1e-12 * (1 + std::abs(total))) << "element " << i;
      }
    }
  }
}

// As persistent_sweep_test.cpp's.
TEST_F(FlaggedSweepTest, ASweepThatGivesUpEndsAndLeavesAWorkspaceAsNew) {
  for (const char* spec : {"stencil27:24x24x120", "mesh:30000,dim=2,nnzr=9"}) {
    const auto matrix = generate<double, std::int32_t>(spec);
    const auto form = find_flagged_form(matrix);
    ASSERT_TRUE(form.has_value());
    const auto x = test::random_vector<double>(matrix.rows(), 5);
    for (const int power : {2, 3}) {
      SCOPED_TRACE(testing::Message() << spec << ", p=" << power);
      FlaggedOnDevice<double> on(matrix, *form, device_.multiprocessors, {power, 3});
      const auto expected = on.run(x, power, Recurrence::powers);
      FlaggedVectors<double> sweep(x, power, Recurrence::powers, 0, on.stream);
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
      for (int repeat = 0; repeat < 3; ++repeat) graph.launch(on.stream);
      on.stream.synchronize();
      on.sweep.require_ended(on.workspace, on.stream);
      EXPECT_EQ(sweep.powers(on.stream), expected);
    }
  }
}

TEST_F(FlaggedSweepTest, RefusesWhatItCannotRun) {
  const auto matrix = generate<double, std::int32_t>("stencil7:64x8x40,coefficients=random");
  const auto form = find_flagged_form(matrix);
  ASSERT_TRUE(form.has_value());
  const auto x = test::random_vector<double>(matrix.rows(), 5);
  FlaggedOnDevice<double> on(matrix, *form, device_.multiprocessors, {2, 3});
  FlaggedVectors<double> vectors(x, 2, Recurrence::powers, 0, on.stream);
  FlaggedSweep<double>::Workspace never_made;
  EXPECT_THROW(on.sweep.run(vectors.steps, never_made, on.stream), InvalidArgument);
  SweepSteps<double> aliased = vectors.steps;
  aliased.vectors[2] = aliased.vectors[0];
  EXPECT_THROW(on.sweep.run(aliased, on.workspace, on.stream), InvalidArgument);
  EXPECT_THROW(FlaggedOnDevice<double>(matrix, *form, device_.multiprocessors, {2, 8}),
               InvalidArgument);
  EXPECT_THROW(FlaggedOnDevice<double>(matrix, *form, device_.multiprocessors, {9, 1}),
               InvalidArgument);
  FlaggedSweep<double> moved = std::move(on.sweep);
  EXPECT_THROW(on.sweep.run(vectors.steps, on.workspace, on.stream), InvalidArgument);
  EXPECT_NO_THROW(moved.run(vectors.steps, on.workspace, on.stream));
  on.stream.synchronize();
}

}  // namespace
}  // namespace strata::gpu

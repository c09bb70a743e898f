// Plans of powers on the GPU of this machine.
#include "strata/plans/gpu/power_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/device/error.hpp"
#include "strata/device/memory.hpp"
#include "strata/plans/gpu/internal/prepared.hpp"
#include "tests/plans/gpu/support.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/planning_parts.hpp"
#include "tests/support/repeated_values.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;

TEST_F(GpuPowerPlanTest, AgreesWithTheReferenceForEveryStrategyAndFormat) {
  for (const char* spec : {"stencil27:12x12x40", "mesh:3000,dim=3,nnzr=15,dof=2",
                           "random:2000,nnzr=9", "arrow:5000", "band:20000,width=7"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    for (const PowerStrategy strategy :
         {PowerStrategy::automatic, PowerStrategy::spmv, PowerStrategy::wavefront}) {
      for (const Format format :
           {Format::automatic, Format::csr, Format::sell, Format::packed_sell}) {
        PowerOptions options = quick_options();
        options.strategy = strategy;
        options.format = format;
        options.power = 5;
        expect_powers(matrix, options);
      }
    }
  }
}

TEST_F(GpuPowerPlanTest, AgreesForEveryTypeBasisAndNumberOfVectors) {
  const Basis bases[] = {Basis::monomial(), Basis::scaled(20), Basis::chebyshev(-30, 30),
                         Basis::newton({{1, 0}, {2, 3}, {2, -3}, {-1, 0}, {4, 0}, {0.5, 0}}, 15)};
  for (const Basis& basis : bases) {
    for (const int vectors : {1, 2, 5, 8}) {
      PowerOptions options = quick_options();
      options.power = 6;
      options.basis = basis;
      options.vectors = vectors;
      expect_powers(generate<double, I>("stencil7:14x14x40"), options);
      expect_powers(generate<float, std::int64_t>("stencil7:14x14x40"), options);
      expect_powers(generate<std::complex<double>, I>("stencil5:60x60"), options);
      expect_powers(generate<std::complex<float>, I>("stencil5:60x60"), options);
    }
  }
}

TEST_F(GpuPowerPlanTest, OfARandomGraphSearchForNoLevelsAndSaySo) {
  const auto matrix = generate<double, I>("random:400000,nnzr=20");  // no cache has room for it
  PowerOptions options = quick_options();
  options.power = 2;
  const auto plan = plan_powers(matrix, options, stream());
  EXPECT_TRUE(plan.choice().plain());
  EXPECT_EQ(plan.levels(), 0);
  EXPECT_EQ(plan.record().plain_reason, PlainReason::fast_expansion);
  EXPECT_NE(plan.explain().find("random graph"), std::string::npos) << plan.explain();
}

TEST_F(GpuPowerPlanTest, AnyPowerAndBlockIsAccepted) {
  const auto matrix = generate<double, I>("stencil9:80x80");
  for (const int power : {1, 2, 3, 7, 16}) {
    for (const int block : {0, 2, 3, 4}) {
      PowerOptions options = quick_options();
      options.power = power;
      options.block = block;
      options.basis = Basis::scaled(10);
      expect_powers(matrix, options);
    }
  }
}

TEST_F(GpuPowerPlanTest, ThePowersPerSweepAreChosenForSoManyProducts) {
  for (const char* spec : {"stencil27:12x12x40,coefficients=random", "random:1000,nnzr=9"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    for (const Offset products : {1, 2, 3, 5, 100}) {
      for (const PowerStrategy strategy :
           {PowerStrategy::automatic, PowerStrategy::wavefront, PowerStrategy::levels}) {
        PowerOptions options = quick_options();
        options.products = products;
        options.strategy = strategy;
        options.basis = Basis::chebyshev(-40, 40);
        const auto plan = plan_powers(matrix, options, stream());
        const PlanRecord& record = plan.record();
        EXPECT_EQ(plan.power(), record.choice().block) << plan.explain();
        EXPECT_LE(plan.power(), products);
        ASSERT_FALSE(record.by_power.empty());
        EXPECT_EQ(record.products, products);
        if (strategy == PowerStrategy::automatic) {
          EXPECT_EQ(std::ssize(record.by_power), std::min<Offset>(products, kLargestChosenPower))
              << plan.explain();
        }
        options.power = plan.power();
        expect_powers(plan, matrix, options);
      }
    }
  }
}

TEST_F(GpuPowerPlanTest, TheChosenPowersAreTimed) {
  PowerOptions options = quick_options();
  options.autotune = true;
  options.products = 24;
  const auto matrix = generate<double, I>("stencil27:12x12x30,coefficients=random");
  const auto plan = plan_powers(matrix, options, stream());
  EXPECT_GT(plan.choice().measured_seconds, 0) << plan.explain();
  options.power = plan.power();
  expect_powers(plan, matrix, options);
}

TEST_F(GpuPowerPlanTest, AwkwardMatricesComeOutRight) {
  for (const auto& [name, entries] : test::awkward_matrices<double, I>()) {
    const auto matrix = entries.to_csr();
    if (matrix.rows() != matrix.cols()) continue;
    SCOPED_TRACE(name);
    for (const PowerStrategy strategy : {PowerStrategy::automatic, PowerStrategy::wavefront}) {
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.power = 3;
      expect_powers(matrix, options);
    }
  }
}

TEST_F(GpuPowerPlanTest, TimedPlansAgreeToo) {
  PowerOptions options = quick_options();
  options.autotune = true;
  using test::on_gpu_or_emulated;
  expect_powers(generate<double, I>(on_gpu_or_emulated("stencil27:30x30x60,shuffle=1",
                                                       "stencil27:12x12x30,shuffle=1")),
                options);
  expect_powers(
      generate<float, I>(on_gpu_or_emulated("mesh:40000,dim=2,nnzr=7", "mesh:4000,dim=2,nnzr=7")),
      options);
}

TEST_F(GpuPowerPlanTest, TheRecordSaysWhereTheSetUpWent) {
  PowerOptions options = quick_options();
  options.autotune = true;
  options.power = 2;
  const auto matrix = generate<double, I>("stencil27:12x12x30,shuffle=1,coefficients=random");
  const auto plan = plan_powers(matrix, options, stream());
  using Kind = PlanningPart::Kind;
  test::expect_parts(plan.record(), {Kind::formats, Kind::tiles, Kind::levels, Kind::order,
                                     Kind::reordering, Kind::storing, Kind::timing});
}

// Memory that is slower than anything makes sweeps, which read less, win whatever they take.
TEST_F(GpuPowerPlanTest, PlainProductsThatCannotWinAreNotTimed) {
  PowerOptions options = quick_options();
  options.autotune = true;
  options.power = 3;
  profile_.plateaus = {{1, 1 << 14, 200}, {1, Offset{1} << 30, 100}};
  profile_.read = {{1, 1 << 13, 200}, {1, 1 << 14, 200}, {1, 1 << 15, 100}, {1, 1 << 30, 100}};
  const auto matrix = generate<double, I>("stencil27:12x12x30,coefficients=random");
  const auto plan = plan_powers(matrix, options, stream());
  SCOPED_TRACE(plan.explain());
  EXPECT_FALSE(plan.choice().plain());
  EXPECT_GT(plan.choice().measured_seconds, 0);
  EXPECT_TRUE(std::ranges::any_of(plan.candidates(), &PowerCandidate::plain));
  for (const PowerCandidate& candidate : plan.candidates()) {
    EXPECT_TRUE(!candidate.plain() || candidate.measured_seconds == 0);
  }
  EXPECT_NE(plan.explain().find("faster than memory allows"), std::string::npos);
  expect_powers(plan, matrix, options);
  // Another device may have faster memory.
  profile_.device.name = "another device";
  const auto careful = plan_powers(matrix, options, stream());
  EXPECT_TRUE(std::ranges::any_of(careful.candidates(), [](const PowerCandidate& candidate) {
    return candidate.plain() && candidate.measured_seconds > 0;
  })) << careful.explain();
}

TEST_F(GpuPowerPlanTest, NewValuesOnTheSamePattern) {
  const auto matrix = generate<double, I>("stencil27:12x12x40,shuffle=1");
  const auto other = scaled(matrix, 2.0);
  for (const PowerStrategy strategy : {PowerStrategy::spmv, PowerStrategy::wavefront,
                                       PowerStrategy::levels, PowerStrategy::graph}) {
    PowerOptions options = quick_options();
    options.strategy = strategy;
    options.power = 3;
    PowerPlan<double> plan = plan_powers(matrix, options, stream());
    const auto x = test::random_vector<double>(matrix.rows(), 3);
    const auto before = powers_of(plan, x);
    plan.update_values(other, stream());
    const auto after = powers_of(plan, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(after[i], 2 * before[i]);
      EXPECT_EQ(after[2 * x.size() + i], 8 * before[2 * x.size() + i]);
    }
    EXPECT_THROW(plan.update_values(generate<double, I>("stencil5:5x5"), stream()),
                 InvalidArgument);
  }
}

// From a few values to many and back, in workspaces that were made before.
TEST_F(GpuPowerPlanTest, NewValuesThatRepeatOrNotMakeThePlanLikeANewOne) {
  using test::Repeats;
  constexpr Repeats sequence[] = {
      Repeats::by_offset, Repeats::never, Repeats::one_value,       Repeats::special,  Repeats::few,
      Repeats::hundreds,  Repeats::never, Repeats::random_diagonal, Repeats::one_value};
  const auto pattern = generate<double, I>("stencil7:9x10x20");
  const auto start = test::random_vector<double>(pattern.rows(), 3);
  const auto x = to_device(std::span<const double>(start), stream());
  DeviceArray<double> powers(3 * x.size());
  for (const auto& values : test::kAskedValues) {
    for (const PowerStrategy strategy : {PowerStrategy::spmv, PowerStrategy::wavefront,
                                         PowerStrategy::levels, PowerStrategy::graph}) {
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.format = Format::packed_sell;
      options.slice_height = 32;
      options.values = values;
      options.power = 3;
      auto plan = plan_powers(test::with_repeats(pattern, sequence[0]), options, stream());
      auto workspace = plan.make_workspace(stream());
      for (const Repeats repeats : sequence) {
        SCOPED_TRACE(testing::Message()
                     << name_of(strategy) << ", repeats " << static_cast<int>(repeats)
                     << ", values " << (values ? name_of(*values) : "auto"));
        const auto changed = test::with_repeats(pattern, repeats);
        plan.update_values(changed, stream());
        plan.apply(x.span(), powers.span(), workspace, stream());
        stream().synchronize();
        plan.require_ended(workspace, stream());
        const Array<double> found = to_host(powers.span(), stream());
        const auto fresh = plan_powers(changed, options, stream());
        SCOPED_TRACE(plan.explain() + fresh.explain());
        ASSERT_EQ(plan.choice().order, fresh.choice().order);
        EXPECT_TRUE(test::same_results({found.begin(), found.end()}, powers_of(fresh, start)));
        EXPECT_EQ(plan.choice().strategy, strategy);
        ASSERT_TRUE(plan.record().values.has_value());
        // A new sweep may have tiles of another size.
        if (strategy != PowerStrategy::wavefront) {
          EXPECT_EQ(plan.choice().format_bytes, plan.record().values->footprint.bytes());
        }
        if (!values) continue;
        if (strategy != PowerStrategy::wavefront) {
          EXPECT_EQ(plan.bytes(), fresh.bytes());
          EXPECT_EQ(plan.choice().format_bytes, fresh.choice().format_bytes);
        }
        EXPECT_EQ(plan.record().values->encoded(), fresh.record().values->encoded());
        if (values == StoredValues::full) {
          EXPECT_FALSE(plan.record().values->encoded());
        }
        if (values == StoredValues::all) {
          EXPECT_EQ(plan.record().values->encoded(), repeats != Repeats::never);
        }
      }
    }
  }
}

TEST_F(GpuPowerPlanTest, WhatNewValuesAreStoredAsIsExplained) {
  const auto matrix = generate<double, I>("stencil7:9x10x20");
  for (const PowerStrategy strategy :
       {PowerStrategy::spmv, PowerStrategy::wavefront, PowerStrategy::levels}) {
    PowerOptions options = quick_options();
    options.strategy = strategy;
    options.values = StoredValues::all;
    auto plan = plan_powers(matrix, options, stream());
    const auto says = [&](std::string_view words) {
      return plan.explain().find(words) != std::string::npos;
    };
    EXPECT_TRUE(says("Values are encoded")) << plan.explain();
    EXPECT_TRUE(says("New values are encoded again")) << plan.explain();
    EXPECT_GT(plan.record().values->seconds, 0);
    plan.update_values(matrix, stream());
    EXPECT_FALSE(says("another encoding")) << plan.explain();
    plan.update_values(test::with_repeats(matrix, test::Repeats::never), stream());
    EXPECT_TRUE(says("Values are stored in full")) << plan.explain();
    EXPECT_TRUE(says("another encoding")) << plan.explain();
    plan.update_values(matrix, stream());
    EXPECT_TRUE(says("Values are encoded")) << plan.explain();
    EXPECT_TRUE(says("another encoding")) << plan.explain();
  }
}

// Tiles of values that are not mirrored are larger: with one worker they leave room for the window
// of a small grid, and not for one that mirrored tiles just left room for. Nothing is run: a device
// that has the kernel is not needed.
TEST_F(GpuPowerPlanTest, SweepsWithFlagsNeedRoomForValuesThatAreNoLongerMirrored) {
  const FlaggedShape shape{2, 1};
  constexpr int kWorkers = 1;
  const auto grid = [](Offset lines) {
    return generate<double, I>(fmt::format("stencil7:64x{}x3,coefficients=random", lines));
  };
  const auto slots = [&](const Csr<double, I>& matrix) {
    const auto form = find_flagged_form(matrix);
    return lay_out_flagged(FlaggedStream<double>(matrix, *form, kWorkers), shape, kWorkers).slots;
  };
  const auto small = grid(8);
  const Offset mirrored = slots(small);
  const Offset others = slots(test::with_other_values(small, 5));
  ASSERT_LT(others + 2, mirrored);
  // A tile has four lines of a plane, and needs the next plane.
  for (const auto& [matrix, stays] :
       {std::pair(small, true), {grid(4 * ((mirrored + others) / 2)), false}}) {
    const auto form = find_flagged_form(matrix);
    ASSERT_TRUE(form.has_value());
    detail::FlaggedTilesForm<double> tiles(matrix, *form, kWorkers);
    const detail::Method<double> sweep = FlaggedSweep<double>(tiles.on_device(stream()), shape);
    const auto same = detail::method_like(sweep, {Format::csr, 1}, matrix, stream());
    EXPECT_TRUE(std::holds_alternative<FlaggedSweep<double>>(same.method));
    const auto made =
        detail::method_like(sweep, {Format::csr, 1}, test::with_other_values(matrix, 5), stream());
    EXPECT_EQ(std::holds_alternative<FlaggedSweep<double>>(made.method), stays);
    EXPECT_EQ(std::holds_alternative<detail::SharedMatrix<double>>(made.method), !stays);
    EXPECT_GT(made.format_bytes, same.format_bytes);
  }
}

// A sweep whose window of encoded values fits in the shared memory of four multiprocessors, where
// one of full values does not. It is not run: a device that has its kernel is not needed.
TEST_F(GpuPowerPlanTest, ASweepThatNewValuesLeaveNoRoomForBecomesPlainProducts) {
  const Offset room = device_properties(current_device()).shared_bytes_per_block;
  SweepShape shape;
  shape.specialised = true;
  shape.placement = WindowPlacement::shared_memory;
  shape.power = 3;
  shape.workers = 4;
  shape.team_warps = 4;
  shape.tile_bytes = room / 8;
  constexpr Offset kRowBytes = 5 * sizeof(double);
  const Offset layer = shape.workers * room / kRowBytes;
  const auto matrix = generate<double, I>(fmt::format("stencil5:{}x5", layer));
  const auto others = test::with_other_values(matrix, 5);

  detail::Prepared<double> prepared;
  prepared.options = quick_options();
  prepared.options.power = shape.power;
  prepared.coefficients.assign(3, {.alpha = 1});
  auto rows = std::make_shared<detail::Rows>();
  rows->order = PaddedOrder<I>::identity(matrix.rows());
  rows->on_device = DeviceOrder(rows->order, stream());
  prepared.rows = rows;
  prepared.stored = {Format::packed_sell, 32, StoredValues::all};
  prepared.pattern = fingerprint_of(matrix.pattern());
  prepared.record.candidates.emplace_back();
  detail::Conversions<double> conversions(matrix);
  detail::TiledForm<double> tiles(conversions.packed(prepared.stored, false), shape.tile_bytes,
                                  shape.workers);
  prepared.method = PersistentSweep<double>(tiles.on_device(stream()), shape);

  const auto x = test::random_vector<double>(matrix.rows(), 3);
  PowerOptions plain = prepared.options;
  plain.strategy = PowerStrategy::spmv;
  plain.format = Format::packed_sell;
  plain.slice_height = 32;
  const auto expect_powers_of = [&](const Csr<double, I>& values) {
    std::vector<DeviceArray<double>> arrays;
    std::vector<double*> y;
    for (int k = 0; k <= 3; ++k) {
      arrays.push_back(to_device(std::span<const double>(x), stream()));
      y.push_back(arrays.back().data());
    }
    auto workspace = detail::workspace_of(prepared.method, 1, stream());
    detail::run_powers<double>(prepared.method, prepared.coefficients, y, 1, workspace, stream());
    const auto expected = powers_of(plan_powers(values, plain, stream()), x);
    EXPECT_TRUE(std::ranges::equal(to_host(arrays[3].span(), stream()),
                                   std::span(expected).last(x.size())));
  };
  prepared.assign_values(matrix, stream());
  EXPECT_TRUE(std::holds_alternative<PersistentSweep<double>>(prepared.method));
  EXPECT_TRUE(prepared.record.remarks.empty());
  const Offset encoded_bytes = prepared.bytes();

  prepared.assign_values(others, stream());
  EXPECT_FALSE(std::holds_alternative<PersistentSweep<double>>(prepared.method));
  ASSERT_EQ(prepared.record.remarks.size(), 1U);
  EXPECT_NE(prepared.record.remarks.front().find("products are plain ones now"), std::string::npos);
  EXPECT_FALSE(prepared.record.values->encoded());
  EXPECT_GT(prepared.bytes(), 4 * encoded_bytes);
  expect_powers_of(others);

  prepared.assign_values(matrix, stream());
  EXPECT_FALSE(std::holds_alternative<PersistentSweep<double>>(prepared.method));
  EXPECT_EQ(prepared.record.remarks.size(), 1U);
  EXPECT_TRUE(prepared.record.values->encoded());
  expect_powers_of(matrix);
}

// Rows as long as before, columns elsewhere.
TEST_F(GpuPowerPlanTest, ValuesOnAnotherPatternAreRefusedAndChangeNothing) {
  const auto matrix = generate<double, I>("stencil5:60x60");
  test::Entries<double, I> entries(matrix.rows(), matrix.cols(), 1);
  for (I row = 0; row < matrix.rows(); ++row) {
    for (const I column : matrix.pattern().columns_of(row)) {
      entries.add(row, matrix.rows() - 1 - column);
    }
  }
  const auto mirrored = entries.coo().to_csr();
  ASSERT_EQ(mirrored.nnz(), matrix.nnz());
  const auto x = test::random_vector<double>(matrix.rows(), 3);
  for (const PowerStrategy strategy : {PowerStrategy::spmv, PowerStrategy::wavefront,
                                       PowerStrategy::levels, PowerStrategy::graph}) {
    for (const Format format : {Format::automatic, Format::csr, Format::ell, Format::sell}) {
      if (strategy == PowerStrategy::wavefront && format != Format::automatic) continue;
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.format = format;
      options.power = 3;
      PowerPlan<double> plan = plan_powers(matrix, options, stream());
      SCOPED_TRACE(plan.explain());
      const auto before = powers_of(plan, x);
      EXPECT_THROW(plan.update_values(mirrored, stream()), InvalidArgument);
      EXPECT_EQ(powers_of(plan, x), before);
      EXPECT_NO_THROW(
          plan.update_values(generate<double, std::int64_t>("stencil5:60x60"), stream()))
          << "the same pattern with other indices";
    }
  }
}

TEST_F(GpuPowerPlanTest, WorkspacesOfOtherPlansAreRefused) {
  const auto matrix = generate<double, I>("stencil27:12x12x40");
  const auto start = test::random_vector<double>(matrix.rows(), 3);
  const auto x = to_device(std::span<const double>(start), stream());
  DeviceArray<double> powers(3 * x.size());
  for (const PowerStrategy strategy :
       {PowerStrategy::spmv, PowerStrategy::wavefront, PowerStrategy::levels}) {
    PowerOptions options = quick_options();
    options.strategy = strategy;
    options.power = 3;
    const PowerPlan<double> plan = plan_powers(matrix, options, stream());
    const PowerPlan<double> same = plan_powers(matrix, options, stream());
    auto foreign = same.make_workspace(stream());
    EXPECT_THROW(plan.apply(x.span(), powers.span(), foreign, stream()), InvalidArgument);
    auto foreign_last = same.make_workspace_for_last(stream());
    EXPECT_THROW(plan.apply_last(x.span(), powers.subspan(0, x.size()), foreign_last, stream()),
                 InvalidArgument);
    EXPECT_THROW(plan.require_ended(foreign, stream()), InvalidArgument);
    PowerPlan<double>::Workspace never_made;
    EXPECT_EQ(never_made.bytes(), 0);
    EXPECT_THROW(plan.apply(x.span(), powers.span(), never_made, stream()), InvalidArgument);
    auto mine = plan.make_workspace(stream());
    const auto moved = std::move(mine);
    EXPECT_EQ(mine.bytes(), 0);
    EXPECT_THROW(plan.apply(x.span(), powers.span(), mine, stream()), InvalidArgument);
  }
}

class GpuStridesTest : public GpuPowerPlanTest {
 protected:
  // What the plan gives for x in the caller's order, whatever the order of its vectors is.
  std::vector<double> powers_for_the_caller(const PowerPlan<double>& plan, VectorOrder order,
                                            const std::vector<double>& x) {
    if (order == VectorOrder::caller) return powers_of(plan, x);
    const auto padded = static_cast<std::size_t>(plan.padded_rows());
    std::vector<double> in_order(padded);
    plan.order().gather<double>(x, in_order, 1);
    const std::vector<double> found = powers_of(plan, in_order);
    std::vector<double> powers(x.size() * plan.power());
    for (std::size_t k = 0; k < static_cast<std::size_t>(plan.power()); ++k) {
      plan.order().scatter<double>(std::span(found).subspan(k * padded, padded),
                                   std::span(powers).subspan(k * x.size(), x.size()), 1);
    }
    return powers;
  }
};

// x with a gap after every element, and every power in a column of an array with room for four.
TEST_F(GpuStridesTest, ComeOutLikeInterleavedVectors) {
  const auto matrix = generate<double, I>("stencil7:8x8x30,shuffle=1");
  const auto rows = static_cast<std::size_t>(matrix.rows());
  const auto x = test::random_vector<double>(rows, 3);
  std::vector<double> spread(2 * rows, -5);
  for (std::size_t row = 0; row < rows; ++row) spread[2 * row] = x[row];
  const auto on_device = to_device(std::span<const double>(spread), stream());
  const std::vector<double> untouched(4 * rows, -7);
  for (const PowerStrategy strategy : {PowerStrategy::spmv, PowerStrategy::wavefront,
                                       PowerStrategy::levels, PowerStrategy::graph}) {
    for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.power = 3;
      options.vector_order = order;
      const auto plan = plan_powers(matrix, options, stream());
      SCOPED_TRACE(plan.explain());
      const auto expected = powers_for_the_caller(plan, order, x);
      auto powers = to_device(std::span<const double>(untouched), stream());
      auto workspace = plan.make_strided_workspace(stream());
      for (int run = 0; run < 2; ++run) {
        plan.apply({on_device.data(), 2}, {powers.data(), 4}, 1, workspace, stream());
      }
      stream().synchronize();
      plan.require_ended(workspace, stream());
      const Array<double> found = to_host(powers.span(), stream());
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t k = 0; k < 3; ++k) {
          ASSERT_EQ(found[4 * row + k], expected[k * rows + row]) << row << " " << k;
        }
        ASSERT_EQ(found[4 * row + 3], -7);
      }
    }
  }
}

TEST_F(GpuStridesTest, NeedAWorkspaceOfTheirOwn) {
  PowerOptions options = quick_options();
  options.strategy = PowerStrategy::spmv;
  const auto matrix = generate<double, I>("stencil5:20x20");
  const auto plan = plan_powers(matrix, options, stream());
  const auto twin = plan_powers(matrix, options, stream());
  DeviceArray<double> x(400), powers(1600);
  fill_zero(x.span(), stream());
  const StridedVectors<const double> from{x.data()};
  const StridedVectors<double> to{powers.data()};
  auto for_spans = plan.make_workspace(stream());
  auto of_twin = twin.make_strided_workspace(stream());
  PowerPlan<double>::Workspace none;
  const auto apply = [&](auto& workspace) { plan.apply(from, to, 400, workspace, stream()); };
  test::expect_refused([&] { apply(none); },
                       "the workspace is empty: it was moved from or no plan made it");
  test::expect_refused([&] { apply(of_twin); }, "the workspace was made for another plan");
  test::expect_refused([&] { apply(for_spans); },
                       "the workspace was made for another function of the plan");
  auto strided = plan.make_strided_workspace(stream());
  EXPECT_EQ(strided.bytes() - for_spans.bytes(), 5 * x.span().bytes());
  EXPECT_NO_THROW(apply(strided));
  EXPECT_NO_THROW(plan.apply(std::as_const(x).span(), powers.span(), strided, stream()));
}

TEST_F(GpuPowerPlanTest, PlansWithoutContentsThrow) {
  const auto matrix = generate<double, I>("stencil5:20x20");
  PowerPlan<double> moved_from = plan_powers(matrix, quick_options(), stream());
  auto workspace = moved_from.make_workspace(stream());
  PowerPlan<double> plan = std::move(moved_from);
  DeviceArray<double> x(400);
  DeviceArray<double> powers(1600);
  fill_zero(x.span(), stream());
  EXPECT_NO_THROW(plan.apply(std::as_const(x).span(), powers.span(), workspace, stream()));
  PowerPlan<double> never_made;
  for (PowerPlan<double>* empty : {&moved_from, &never_made}) {
    EXPECT_THROW(empty->rows(), InvalidArgument);
    EXPECT_THROW(empty->padded_rows(), InvalidArgument);
    EXPECT_THROW(empty->power(), InvalidArgument);
    EXPECT_THROW(empty->vectors(), InvalidArgument);
    EXPECT_THROW(empty->vector_rows(), InvalidArgument);
    EXPECT_THROW(empty->make_workspace(stream()), InvalidArgument);
    EXPECT_THROW(empty->make_workspace_for_last(stream()), InvalidArgument);
    EXPECT_THROW(empty->apply(std::as_const(x).span(), powers.span(), workspace, stream()),
                 InvalidArgument);
    EXPECT_THROW(
        empty->apply_last(std::as_const(x).span(), powers.subspan(0, 400), workspace, stream()),
        InvalidArgument);
    EXPECT_THROW(empty->make_strided_workspace(stream()), InvalidArgument);
    EXPECT_THROW(empty->apply({x.data()}, {powers.data()}, 400, workspace, stream()),
                 InvalidArgument);
    EXPECT_THROW(empty->require_ended(workspace, stream()), InvalidArgument);
    EXPECT_THROW(empty->to_plan_order(std::as_const(x).span(), x.span(), stream()),
                 InvalidArgument);
    EXPECT_THROW(empty->to_caller_order(std::as_const(x).span(), x.span(), stream()),
                 InvalidArgument);
    EXPECT_THROW(empty->update_values(matrix, stream()), InvalidArgument);
    EXPECT_THROW(empty->choice(), InvalidArgument);
    EXPECT_THROW(empty->candidates(), InvalidArgument);
    EXPECT_THROW(empty->levels(), InvalidArgument);
    EXPECT_THROW(empty->bytes(), InvalidArgument);
    EXPECT_THROW(empty->setup_seconds(), InvalidArgument);
    EXPECT_THROW(empty->break_even(), InvalidArgument);
    EXPECT_THROW(empty->explain(), InvalidArgument);
  }
}

// One plan, two streams with a workspace each, many applications at once.
TEST_F(GpuPowerPlanTest, StreamsWithTheirOwnWorkspacesDoNotDisturbEachOther) {
  using test::on_gpu_or_emulated;
  const int repeats = on_gpu_or_emulated(100, 11);
  for (const char* spec : {on_gpu_or_emulated("arrow:300000", "arrow:6000"),
                           on_gpu_or_emulated("rmat:17,edges=24", "rmat:10,edges=24")}) {
    const auto matrix = generate<double, I>(spec);
    for (const PowerStrategy strategy :
         {PowerStrategy::spmv, PowerStrategy::levels, PowerStrategy::graph}) {
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.format = Format::csr;
      options.power = 3;
      options.basis = Basis::scaled(1000);
      const PowerPlan<double> plan = plan_powers(matrix, options, stream());
      SCOPED_TRACE(plan.explain());
      Stream streams[2];
      struct OfStream {
        DeviceArray<double> x, powers;
        PowerPlan<double>::Workspace workspace;
        std::vector<double> alone;
      };
      OfStream on[2];
      for (int s = 0; s < 2; ++s) {
        const auto x = test::random_vector<double>(matrix.rows(), static_cast<std::uint64_t>(s));
        on[s].alone = powers_of(plan, x);
        on[s].x = to_device(std::span<const double>(x), streams[s]);
        on[s].powers = DeviceArray<double>(3 * on[s].x.size());
        on[s].workspace = plan.make_workspace(streams[s]);
      }
      for (int repeat = 0; repeat < repeats; ++repeat) {
        for (int s = 0; s < 2; ++s) {
          plan.apply(std::as_const(on[s].x).span(), on[s].powers.span(), on[s].workspace,
                     streams[s]);
        }
        if (repeat % 10 != 0) continue;
        for (int s = 0; s < 2; ++s) {
          const auto found = to_host(on[s].powers.span(), streams[s]);
          EXPECT_TRUE(std::ranges::equal(found, on[s].alone)) << "repeat " << repeat;
        }
      }
    }
  }
}

// While it tries several forms of the matrix, a plan holds little more than full values need;
// where less is to be had, it tries less; and it refuses only what does not fit itself.
TEST_F(GpuPowerPlanTest, PlanningStaysWithinTheMemoryThatThereIs) {
  struct NoLimit {
    ~NoLimit() { set_device_memory_limit(0); }
  } afterwards;
  using test::on_gpu_or_emulated;
  for (const char* spec :
       {on_gpu_or_emulated("stencil27:40x40x60,coefficients=random",
                           "stencil27:12x12x30,coefficients=random"),
        on_gpu_or_emulated("stencil27:40x40x60", "stencil27:12x12x30"),
        on_gpu_or_emulated("mesh:40000,dim=3,nnzr=15,shuffle=1,coefficients=random",
                           "mesh:4000,dim=3,nnzr=15,shuffle=1,coefficients=random")}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    PowerOptions options = quick_options();
    options.autotune = true;
    options.power = 3;
    const auto bytes_with = [&](StoredValues values) {
      PowerOptions asked = options;
      asked.strategy = PowerStrategy::spmv;
      asked.format = Format::packed_sell;
      asked.values = values;
      asked.autotune = false;
      return plan_powers(matrix, asked, stream()).bytes();
    };
    const Offset of_full_values = bytes_with(StoredValues::full);
    const Offset before = device_memory_use().bytes;
    reset_device_memory_peak();
    const PowerPlan<double> free_plan = plan_powers(matrix, options, stream());
    SCOPED_TRACE(free_plan.explain());
    const Offset vectors = Offset{free_plan.padded_rows()} * 4 * Offset{sizeof(double)};
    const auto needed = static_cast<double>(free_plan.bytes() + vectors);
    EXPECT_LE(static_cast<double>(device_memory_use().peak_bytes - before),
              2.6 * std::max(needed, static_cast<double>(of_full_values + vectors)));
    EXPECT_EQ(device_memory_use().bytes - before, free_plan.bytes());
    // They were compared with encoded ones.
    EXPECT_TRUE(std::ranges::any_of(free_plan.candidates(), [](const PowerCandidate& candidate) {
      return candidate.measured_seconds > 0 && candidate.format.format == Format::packed_sell &&
             candidate.format.values == StoredValues::full;
    }));
    const auto x = test::random_vector<double>(matrix.rows(), 3);
    const auto expected =
        test::expected_powers(matrix, options.basis, options.power, x, options.vectors);

    // Room for one form at a time.
    const Offset one = static_cast<Offset>(1.3 * needed);
    set_device_memory_limit(device_memory_use().bytes + one);
    {
      const PowerPlan<double> tight = plan_powers(matrix, options, stream());
      SCOPED_TRACE(tight.explain());
      set_device_memory_limit(0);
      EXPECT_LE(tight.bytes(), one);
      test::expect_close(powers_of(tight, x), expected, options.power, test::longest_row(matrix));
    }

    // Room for the matrix, and not even for vectors to time it with.
    options.strategy = PowerStrategy::spmv;
    const auto bytes = static_cast<double>(plan_powers(matrix, options, stream()).bytes());
    set_device_memory_limit(device_memory_use().bytes + static_cast<Offset>(1.02 * bytes));
    {
      const PowerPlan<double> tightest = plan_powers(matrix, options, stream());
      EXPECT_NE(tightest.explain().find("does not fit on the device"), std::string::npos)
          << tightest.explain();
      set_device_memory_limit(0);
      test::expect_close(powers_of(tightest, x), expected, options.power,
                         test::longest_row(matrix));
    }

    const Offset most_compact = bytes_with(StoredValues::all);
    set_device_memory_limit(device_memory_use().bytes + most_compact / 2);
    EXPECT_THROW(plan_powers(matrix, options, stream()), DeviceOutOfMemory);
    set_device_memory_limit(0);
    EXPECT_EQ(device_memory_use().bytes - before, free_plan.bytes());
  }
}

// The profile of another GPU is for predictions; what runs is made for the GPU that is here.
TEST_F(GpuPowerPlanTest, TheProfileOfAnotherDeviceChoosesNoKernels) {
  PowerOptions options = quick_options();
  profile_.device.multiprocessors = 10 * profile_.device.multiprocessors;
  profile_.device.shared_bytes_per_block = Offset{1} << 20;
  profile_.device.l2_bytes = Offset{1} << 32;
  profile_.device.capability_major = 9;
  profile_.device.name = "another device";
  options.power = 3;
  options.strategy = PowerStrategy::wavefront;
  const auto matrix = generate<double, I>("stencil27:20x20x60");
  expect_powers(matrix, options);
  EXPECT_NE(plan_powers(matrix, options, stream()).explain().find("the profile of another device"),
            std::string::npos);
}

TEST_F(GpuPowerPlanTest, WorksInItsOwnOrderToo) {
  const auto matrix = generate<double, I>("stencil27:12x12x40,shuffle=1");
  PowerOptions options = quick_options();
  options.strategy = PowerStrategy::wavefront;
  options.power = 3;
  // What reordering the vectors costs may change the order where the matrix has few bytes.
  options.values = StoredValues::full;
  const auto x = test::random_vector<double>(matrix.rows(), 3);
  const PowerPlan<double> by_rows = plan_powers(matrix, options, stream());
  const auto expected = powers_of(by_rows, x);
  options.vector_order = VectorOrder::plan;
  const PowerPlan<double> plan = plan_powers(matrix, options, stream());
  ASSERT_EQ(plan.choice().order, by_rows.choice().order);
  const auto of_rows = to_device(std::span<const double>(x), stream());
  DeviceArray<double> start(plan.padded_rows());
  plan.to_plan_order(of_rows.span(), start.span(), stream());
  const Array<double> in_order = to_host(start.span(), stream());
  const auto powers = powers_of(plan, std::vector<double>(in_order.begin(), in_order.end()));
  for (int k = 0; k < 3; ++k) {
    const auto one = to_device(
        std::span<const double>(powers).subspan(k * in_order.size(), in_order.size()), stream());
    DeviceArray<double> back(matrix.rows());
    plan.to_caller_order(one.span(), back.span(), stream());
    EXPECT_TRUE(
        std::ranges::equal(to_host(back.span(), stream()),
                           std::span<const double>(expected).subspan(k * x.size(), x.size())));
  }
}

TEST_F(GpuPowerPlanTest, RefusesWhatHasNoPowersOrDoesNotFit) {
  test::Entries<double, I> entries(3, 5, 1);
  entries.add(0, 4);
  EXPECT_THROW(plan_powers(entries.coo().to_csr(), quick_options(), stream()), InvalidArgument);
  const auto matrix = generate<double, I>("stencil5:20x20");
  PowerOptions options = quick_options();
  options.power = 0;
  EXPECT_THROW(plan_powers(matrix, options, stream()), InvalidArgument);
  options.power = 2;
  const PowerPlan<double> plan = plan_powers(matrix, options, stream());
  auto workspace = plan.make_workspace(stream());
  DeviceArray<double> x(400);
  DeviceArray<double> powers(800);
  EXPECT_THROW(plan.apply(x.subspan(0, 399), powers.span(), workspace, stream()), InvalidArgument);
  EXPECT_THROW(plan.apply(powers.subspan(0, 400), powers.span(), workspace, stream()),
               InvalidArgument);
}

}  // namespace
}  // namespace strata::gpu

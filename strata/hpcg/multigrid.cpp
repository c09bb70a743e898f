#include "strata/hpcg/multigrid.hpp"

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::hpcg {

using solvers::RunningClock;

namespace {

constexpr Row kNone = PaddedOrder<Row>::kEmpty;

// Touched first by the threads that will use them.
Array<double> zeros(Row count) {
  Array<double> vector(count);
  parallel_for(count, [&](Offset i) { vector[i] = 0; });
  return vector;
}

}  // namespace

std::vector<std::uint8_t> colours_of(const Grid& grid) {
  std::vector<std::uint8_t> colours(grid.points());
  parallel_for(grid.points(), [&](Offset point) {
    const auto [x, y, z] = grid.site(point);
    colours[point] = static_cast<std::uint8_t>(kCoarseColour - (x % 2 + 2 * (y % 2) + 4 * (z % 2)));
  });
  return colours;
}

Multigrid::Multigrid(std::span<const Level> levels, const PaddedOrder<Row>& outside,
                     const SmootherOptions& options)
    : options_(options) {
  if (levels.empty()) throw InvalidArgument("a multigrid cycle without a grid");
  for (const Level& level : levels) {
    Stage stage{
        .grid = level.grid,
        .smoother = ColouredSmoother(level.matrix, colours_of(level.grid), kColours, options),
        .b = {},
        .x = {},
        .scratch = {},
        .fine_row = {},
        .times = {}};
    const Row rows = stage.smoother.rows();
    stage.b = zeros(rows);
    stage.x = zeros(rows);
    stage.scratch = zeros(rows);
    levels_.push_back(std::move(stage));
  }
  for (std::size_t level = 0; level + 1 < levels_.size(); ++level) {
    Stage& fine = levels_[level];
    const Stage& coarse = levels_[level + 1];
    fine.fine_row = Array<Row>(coarse.smoother.rows());
    parallel_for(coarse.smoother.rows(), [&](Offset row) {
      const Row point = coarse.smoother.order().row_at(static_cast<Row>(row));
      fine.fine_row[row] = point == kNone ? kNone
                                          : fine.smoother.order().position_of(static_cast<Row>(
                                                fine_point(fine.grid, coarse.grid, point)));
    });
  }
  const PaddedOrder<Row>& order = levels_[0].smoother.order();
  outside_row_ = Array<Row>(order.padded_rows());
  parallel_for(order.padded_rows(), [&](Offset row) {
    const Row point = order.row_at(static_cast<Row>(row));
    outside_row_[row] = point == kNone ? kNone : outside.position_of(point);
  });
  for (Row row = 0; row < outside.padded_rows(); ++row) {
    if (outside.row_at(row) == kNone) outside_empty_.push_back(row);
  }
}

void Multigrid::replace_finest(const Matrix& matrix) {
  Stage& finest = levels_[0];
  finest.smoother = ColouredSmoother(matrix, colours_of(finest.grid), kColours, options_);
}

std::vector<LevelTimes> Multigrid::take_times() {
  std::vector<LevelTimes> times;
  for (Stage& stage : levels_) times.push_back(std::exchange(stage.times, {}));
  return times;
}

// The coarser level gets D_c⁻¹ times the residual, of which the finer one has D⁻¹ times it.
void Multigrid::restrict_residual(Stage& fine, Stage& coarse) const {
  fine.smoother.residual(kCoarseColour, fine.b, fine.x, fine.scratch);
  const std::span<const double> diagonal = fine.smoother.diagonal();
  const std::span<const double> coarse_diagonal = coarse.smoother.diagonal();
  parallel_for(coarse.smoother.rows(), [&](Offset row) {
    const auto i = static_cast<std::size_t>(row);
    if (fine.fine_row[i] == kNone) return;  // stays 0
    const auto j = static_cast<std::size_t>(fine.fine_row[i]);
    coarse.b[i] = diagonal[j] * fine.scratch[j] / coarse_diagonal[i];
  });
}

void Multigrid::cycle(std::size_t level) {
  Stage& stage = levels_[level];
  const auto smooth = [&](const auto& sweep) {
    const RunningClock clock;
    sweep();
    stage.times.smoothing += clock.seconds();
  };
  smooth([&] { stage.smoother.smooth_from_zero(stage.b, stage.x); });
  if (level + 1 == levels_.size()) return;
  Stage& coarse = levels_[level + 1];
  const RunningClock down;
  restrict_residual(stage, coarse);
  stage.times.transfer += down.seconds();
  cycle(level + 1);
  const RunningClock up;
  parallel_for(coarse.smoother.rows(), [&](Offset row) {
    const auto i = static_cast<std::size_t>(row);
    if (stage.fine_row[i] != kNone) {
      stage.x[stage.fine_row[i]] += coarse.x[i];
    }
  });
  stage.times.transfer += up.seconds();
  smooth([&] { stage.smoother.smooth(stage.b, stage.x, stage.scratch); });
}

void Multigrid::apply(std::span<const double> r, std::span<double> z) {
  Stage& finest = levels_[0];
  const RunningClock in;
  const std::span<const double> diagonal = finest.smoother.diagonal();
  parallel_for(finest.smoother.rows(), [&](Offset row) {
    const auto i = static_cast<std::size_t>(row);
    if (outside_row_[i] != kNone) {
      finest.b[i] = r[outside_row_[i]] / diagonal[i];
    }
  });
  finest.times.transfer += in.seconds();
  cycle(0);
  const RunningClock out;
  parallel_for(finest.smoother.rows(), [&](Offset row) {
    const auto i = static_cast<std::size_t>(row);
    if (outside_row_[i] != kNone) z[outside_row_[i]] = finest.x[i];
  });
  for (const Row row : outside_empty_) z[row] = 0;
  finest.times.transfer += out.seconds();
}

}  // namespace strata::hpcg

#include "strata/hpcg/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "strata/base/error.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace strata::hpcg {

namespace {

void solve_row(const Matrix& matrix, Row row, std::span<const double> b, std::span<double> x) {
  const auto i = static_cast<std::size_t>(row);
  double sum = b[i];
  double diagonal = 0;
  for (Offset k = matrix.row_offsets()[i]; k < matrix.row_offsets()[i + 1]; ++k) {
    const Row column = matrix.columns()[k];
    const double value = matrix.values()[k];
    if (column == row) {
      diagonal = value;
    } else {
      sum -= value * x[column];
    }
  }
  if (diagonal == 0) {
    throw InvalidArgument(
        fmt::format("row {} has no diagonal to divide by, as Gauss-Seidel does", row + 1));
  }
  x[i] = sum / diagonal;
}

}  // namespace

void gauss_seidel(const Matrix& matrix, std::span<const Row> rows, std::span<const double> b,
                  std::span<double> x) {
  for (const Row row : rows) solve_row(matrix, row, b, x);
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) solve_row(matrix, *row, b, x);
}

ReferenceMultigrid::ReferenceMultigrid(std::span<const Level> levels) : levels_(levels) {
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const auto rows = static_cast<std::size_t>(levels[k].matrix.rows());
    const auto coarser =
        k + 1 < levels.size() ? static_cast<std::size_t>(levels[k + 1].matrix.rows()) : 0;
    Stage stage{.rows = std::vector<Row>(rows),
                .ax = std::vector<double>(rows),
                .r = std::vector<double>(coarser),
                .x = std::vector<double>(coarser)};
    std::iota(stage.rows.begin(), stage.rows.end(), Row{0});
    stages_.push_back(std::move(stage));
  }
}

void ReferenceMultigrid::apply(std::span<const double> r, std::span<double> z) {
  cycle(0, r, z);
}

void ReferenceMultigrid::cycle(std::size_t level, std::span<const double> r, std::span<double> x) {
  const auto& [grid, matrix] = levels_[level];
  Stage& stage = stages_[level];
  std::fill(x.begin(), x.end(), 0.0);
  gauss_seidel(matrix, stage.rows, r, x);
  if (level + 1 == levels_.size()) return;
  reference::spmv(matrix, 1.0, x, 0.0, stage.ax);
  const Grid& coarse = levels_[level + 1].grid;
  for (std::size_t point = 0; point < stage.r.size(); ++point) {
    const auto fine =
        static_cast<std::size_t>(fine_point(grid, coarse, static_cast<Offset>(point)));
    stage.r[point] = r[fine] - stage.ax[fine];
  }
  cycle(level + 1, stage.r, stage.x);
  for (std::size_t point = 0; point < stage.x.size(); ++point) {
    x[fine_point(grid, coarse, static_cast<Offset>(point))] += stage.x[point];
  }
  gauss_seidel(matrix, stage.rows, r, x);
}

}  // namespace strata::hpcg

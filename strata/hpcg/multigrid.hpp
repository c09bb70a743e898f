// Multigrid: the preconditioner of HPCG, one V-cycle that starts from 0,
//
//   x = symmetric Gauss–Seidel (0, r)
//   coarser level:  r_c = (r − Ax) at its points,  x_c = the same for r_c,  x = x + x_c there
//   x = symmetric Gauss–Seidel (x, r)
//
// and Gauss–Seidel alone on the coarsest level. It is symmetric and positive definite.
//
// Rows are coloured by the parities of their coordinates: 8 colours, of which no point has a
// neighbour. The points of the coarser grid are one colour, and the last: on its way back a sweep
// begins with them, and changes all others afterwards. As the first colour they would be left
// without a residual, and the coarser levels without anything to do. A residual is computed where
// it is restricted, and nowhere else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/hpcg/coloured_smoother.hpp"
#include "strata/hpcg/levels.hpp"
#include "strata/order/padded_order.hpp"

namespace strata::hpcg {

inline constexpr int kColours = 8;
// Of the points that the coarser grid has.
inline constexpr int kCoarseColour = kColours - 1;

// By point of the grid.
std::vector<std::uint8_t> colours_of(const Grid& grid);

// Seconds that levels took since they were asked for last, the finest first.
struct LevelTimes {
  double smoothing = 0;
  double transfer = 0;  // residuals, restriction, prolongation; vectors in and out on the finest
};

class Multigrid {
 public:
  // `outside` is the order of the vectors of apply. Throws InvalidArgument for no levels.
  Multigrid(std::span<const Level> levels, const PaddedOrder<Row>& outside,
            const SmootherOptions& options = {});

  // z = M⁻¹r; 0 where the order has no row. One call at a time.
  void apply(std::span<const double> r, std::span<double> z);

  // Another matrix on the finest level alone.
  void replace_finest(const Matrix& matrix);

  int levels() const { return static_cast<int>(levels_.size()); }
  const ColouredSmoother& smoother(int level) const { return levels_[level].smoother; }
  // For every row of the next level, in the order of its smoother, where it is on this one; −1 for
  // padded ones.
  std::span<const Row> fine_rows(int level) const {
    return levels_[static_cast<std::size_t>(level)].fine_row;
  }
  // Where the rows of the finest smoother are in the vectors of apply, likewise.
  std::span<const Row> outside_rows() const { return outside_row_; }

  // Returns what was added up, and starts again from 0.
  std::vector<LevelTimes> take_times();

 private:
  struct Stage {
    Grid grid;
    ColouredSmoother smoother;
    Array<double> b;  // D⁻¹r
    Array<double> x;
    Array<double> scratch;
    Array<Row> fine_row;
    LevelTimes times;
  };

  void cycle(std::size_t level);
  void restrict_residual(Stage& fine, Stage& coarse) const;

  SmootherOptions options_;
  std::vector<Stage> levels_;
  Array<Row> outside_row_;          // by row of the finest smoother; −1 for padded ones
  std::vector<Row> outside_empty_;  // rows of the outside order that have no point
};

}  // namespace strata::hpcg

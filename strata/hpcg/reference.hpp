// The preconditioner of HPCG as its specification writes it down: Gauss–Seidel row by row in the
// order of the points, on one thread. What others have to reach, and what tests compare with.
#pragma once

#include <span>
#include <vector>

#include "strata/hpcg/levels.hpp"

namespace strata::hpcg {

// One sweep through the rows in this order, and one back: each row in turn solves its equation for
// its own unknown. Throws InvalidArgument for rows without a diagonal that is not zero.
void gauss_seidel(const Matrix& matrix, std::span<const Row> rows, std::span<const double> b,
                  std::span<double> x);

// The V-cycle with the rows in the order of the points. The levels have to live as long.
class ReferenceMultigrid {
 public:
  explicit ReferenceMultigrid(std::span<const Level> levels);
  // Vectors are in the order of the points.
  void apply(std::span<const double> r, std::span<double> z);

 private:
  struct Stage {
    std::vector<Row> rows;   // 0, 1, …
    std::vector<double> ax;  // of this level
    std::vector<double> r;   // of the next one
    std::vector<double> x;
  };
  void cycle(std::size_t level, std::span<const double> r, std::span<double> x);

  std::span<const Level> levels_;
  std::vector<Stage> stages_;
};

}  // namespace strata::hpcg

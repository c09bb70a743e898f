#include "strata/hpcg/levels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"

namespace strata::hpcg {

namespace {

bool can_be_halved(const Grid& grid) {
  const auto even = [](Offset points) { return points % 2 == 0 && points / 2 >= kFewestPoints; };
  return even(grid.nx) && even(grid.ny) && even(grid.nz);
}

Grid halved(const Grid& grid) {
  return Grid({grid.nx / 2, grid.ny / 2, grid.nz / 2});
}

}  // namespace

int level_count(const Grid& finest, int most) {
  int count = 1;
  for (Grid grid = finest; count < most && can_be_halved(grid); grid = halved(grid)) ++count;
  return count;
}

std::vector<Level> make_levels(const Grid& finest, int most) {
  if (std::min({finest.nx, finest.ny, finest.nz}) < kFewestPoints) {
    throw InvalidArgument(fmt::format("a grid of {}x{}x{} points; each dimension has at least {}",
                                      finest.nx, finest.ny, finest.nz, kFewestPoints));
  }
  std::vector<Level> levels;
  Grid grid = finest;
  for (int left = level_count(finest, most); left > 0; --left, grid = halved(grid)) {
    levels.push_back(
        {grid, generate<double, Row>(fmt::format("hpcg:{}x{}x{}", grid.nx, grid.ny, grid.nz))});
  }
  return levels;
}

Offset fine_point(const Grid& fine, const Grid& coarse, Offset point) {
  const auto [x, y, z] = coarse.site(point);
  return (2 * z * fine.ny + 2 * y) * fine.nx + 2 * x;
}

}  // namespace strata::hpcg

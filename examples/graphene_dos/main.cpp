// The density of states of graphene in the tight-binding model with nearest neighbours, by the
// kernel polynomial method. Its features are known: van Hove peaks at ±t, where t is the energy of
// a bond, none at all in the Dirac point 0, and ends of the band at ±3t.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/solvers/density_of_states.hpp"

// A honeycomb of cells × cells hexagons that closes around: sites 2c and 2c + 1 are the two of cell
// c, each bonded to the other and to one of two neighbouring cells.
strata::Csr<double, std::int32_t> honeycomb(std::int32_t cells, double bond) {
  const auto cell = [&](std::int32_t x, std::int32_t y) {
    return (y + cells) % cells * cells + (x + cells) % cells;
  };
  strata::Array<strata::Offset> offsets{0};
  strata::Array<std::int32_t> columns;
  strata::Array<double> values;
  for (std::int32_t y = 0; y < cells; ++y) {
    for (std::int32_t x = 0; x < cells; ++x) {
      for (const std::int32_t neighbour : {cell(x, y), cell(x - 1, y), cell(x, y - 1)}) {
        columns.push_back(2 * neighbour + 1);
        values.push_back(-bond);
      }
      offsets.push_back(static_cast<strata::Offset>(columns.size()));
      for (const std::int32_t neighbour : {cell(x, y), cell(x + 1, y), cell(x, y + 1)}) {
        columns.push_back(2 * neighbour);
        values.push_back(-bond);
      }
      offsets.push_back(static_cast<strata::Offset>(columns.size()));
    }
  }
  const std::int32_t sites = 2 * cells * cells;
  return strata::Csr<double, std::int32_t>::from_unsorted(sites, sites, std::move(offsets),
                                                          std::move(columns), std::move(values));
}

int main() {
  constexpr double t = 1;
  const auto hamiltonian = honeycomb(200, t);
  const auto density =
      strata::solvers::density_of_states(hamiltonian, {.moments = 512, .vectors = 16});

  constexpr int points = 6400;
  constexpr double low = -3.2 * t, step = -2 * low / points;
  double peaks[2] = {}, heights[2] = {}, sum = 0, second_moment = 0;
  for (int k = 0; k < points; ++k) {
    const double energy = low + (k + 0.5) * step, value = density.at(energy);
    const int side = energy > 0 ? 1 : 0;
    if (value > heights[side]) heights[side] = value, peaks[side] = energy;
    sum += value * step;
    second_moment += energy * energy * value * step;
  }
  const double dirac = density.at(0);
  for (int row = 0; row < 33; ++row) {
    const double energy = low + row * 0.2 * t, value = density.at(energy);
    std::printf("%5.1f t %7.4f |%.*s\n", energy / t, value, static_cast<int>(60 * value + 0.5),
                "############################################################");
  }
  std::printf("\nvan Hove peaks at %.3f t and %.3f t, of heights %.3f and %.3f\n", peaks[0] / t,
              peaks[1] / t, heights[0], heights[1]);
  std::printf("density at the Dirac point %.4f, all states %.4f, mean square %.4f t^2\n", dirac,
              sum, second_moment / (t * t));
  // Three bonds at every site: the mean square of the energy is 3t².
  const bool right = std::abs(peaks[0] + t) < 2 * density.resolution() &&
                     std::abs(peaks[1] - t) < 2 * density.resolution() &&
                     std::abs(heights[0] - heights[1]) < 0.05 * heights[0] &&
                     dirac < 0.1 * heights[0] && std::abs(sum - 1) < 0.01 &&
                     std::abs(second_moment - 3 * t * t) < 0.05 &&
                     density.below(-3.05 * t) < 0.002 && density.below(3.05 * t) > 0.998;
  std::printf("%s\n", right ? "As theory has it." : "Not as theory has it.");
  return right ? 0 : 1;
}

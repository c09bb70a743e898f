// An unstructured mesh without a mesh generator: N points, one at a random place in each cell of a
// grid of unit cells, joined to all points within a radius. Rows differ in length and the pattern
// is symmetric. Points are numbered like their cells: x fastest, the last direction slowest, its
// last layer filled only as far as N goes.
//
// The radius is the one that gives K entries per row, the diagonal included, in the mean over a
// sample of the points. Two points at distance d are coupled by −1 / (1 + d²); the diagonal is the
// sum of the couplings plus 1/64: a graph Laplacian moved away from singularity.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/grid.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

namespace {

constexpr double kShift = 1.0 / 64;

// The x > 0 with x^power = target.
double positive_root(double target, int power) {
  double low = 0;
  double high = std::max(1.0, target);
  for (double middle = high / 2; low < middle && middle < high; middle = low + (high - low) / 2) {
    double product = 1;
    for (int i = 0; i < power; ++i) product *= middle;
    (product < target ? low : high) = middle;
  }
  return high;
}

// Cells for `points` points, numbers along the axes proportional to `aspect`; 1 along z in a plane.
Grid cells_for(Offset points, int dimension, const std::array<Offset, 3>& aspect) {
  double volume = static_cast<double>(points);
  for (const Offset side : aspect) volume /= static_cast<double>(side);
  const double scale = positive_root(volume, dimension);
  const auto along = [&](int axis, Offset at_most) {
    const double ideal = static_cast<double>(aspect[axis]) * scale + 0.5;
    return ideal >= static_cast<double>(at_most) ? at_most
                                                 : std::max<Offset>(static_cast<Offset>(ideal), 1);
  };
  Grid cells;
  cells.nx = along(0, points);
  const Offset columns = ceil_div(points, cells.nx);
  cells.ny = dimension == 2 ? columns : along(1, columns);
  cells.nz = ceil_div(columns, cells.ny);
  return cells;
}

class Mesh {
 public:
  Mesh(Offset points, int dimension, const std::array<Offset, 3>& aspect, std::uint64_t seed)
      : cells_(cells_for(points, dimension, aspect)), random_(seed), positions_(points) {
    parallel_for(points, [&](Offset point) {
      const Grid::Site cell = cells_.site(point);
      const auto counter = 3 * static_cast<std::uint64_t>(point);
      positions_[point] = {
          static_cast<double>(cell.x) + random_.uniform(counter),
          static_cast<double>(cell.y) + random_.uniform(counter + 1),
          dimension == 2 ? 0 : static_cast<double>(cell.z) + random_.uniform(counter + 2)};
    });
  }

  Offset points() const { return static_cast<Offset>(positions_.size()); }

  // visit(other, squared distance) for all points whose squared distance is at most
  // `radius_squared`, the point itself included, in increasing order.
  template <class Visit>
  void visit_within(double radius_squared, Offset point, Visit&& visit) const {
    const Grid::Site cell = cells_.site(point);
    const auto& [x, y, z] = positions_[point];
    const Offset dependency_distance = static_cast<Offset>(std::sqrt(radius_squared)) + 1;
    const auto begin = [&](Offset centre) {
      return std::max<Offset>(centre - dependency_distance, 0);
    };
    const auto end = [&](Offset centre, Offset size) {
      return std::min(centre + dependency_distance + 1, size);
    };
    for (Offset k = begin(cell.z); k < end(cell.z, cells_.nz); ++k) {
      for (Offset j = begin(cell.y); j < end(cell.y, cells_.ny); ++j) {
        const Offset line = (k * cells_.ny + j) * cells_.nx;
        const Offset last = std::min(line + end(cell.x, cells_.nx), points());
        for (Offset other = line + begin(cell.x); other < last; ++other) {
          const double dx = x - positions_[other][0];
          const double dy = y - positions_[other][1];
          const double dz = z - positions_[other][2];
          const double distance_squared = dx * dx + dy * dy + dz * dz;
          if (distance_squared <= radius_squared) visit(other, distance_squared);
        }
      }
    }
  }

  // The square of the distance within which a point has `per_row` points in the mean, itself
  // included.
  double radius_squared_for(Offset per_row) const {
    const Offset sample = std::min(points(), std::max<Offset>((Offset{1} << 20) / per_row, 16));
    const auto wanted = static_cast<std::size_t>(sample * per_row);
    std::vector<double> distances;
    for (double bound = 1; distances.size() < wanted; bound *= 2) {
      distances.clear();
      for (int part = 0; part < static_cast<int>(sample); ++part) {
        visit_within(bound, random_point_of(chunk_of(points(), part, static_cast<int>(sample))),
                     [&](Offset, double squared) { distances.push_back(squared); });
      }
    }
    const auto last = distances.begin() + static_cast<std::ptrdiff_t>(wanted) - 1;
    std::nth_element(distances.begin(), last, distances.end());
    return *last;
  }

 private:
  Offset random_point_of(const Chunk& chunk) const {
    // The counters below 3 · points() made the coordinates.
    const auto counter = static_cast<std::uint64_t>(3 * points() + chunk.begin);
    const auto length = static_cast<std::uint64_t>(chunk.end - chunk.begin);
    return chunk.begin + static_cast<Offset>(random_.below(counter, length));
  }

  Grid cells_;
  Random random_;
  Array<std::array<double, 3>> positions_;
};

}  // namespace

template <Index I>
Recipe<double, I> mesh_recipe(Spec& spec) {
  const Offset points = spec.size();
  const auto dimension = static_cast<int>(spec.integer("dim", 2, 3));
  const Offset per_row = spec.integer("nnzr", 1, points);
  const Offset dof = dof_of(spec);
  std::array<Offset, 3> aspect{1, 1, 1};
  if (dimension == 3) {
    aspect = spec.proportions<3>("aspect");
  } else {
    std::ranges::copy(spec.proportions<2>("aspect"), aspect.begin());
  }
  const std::uint64_t seed = seed_of(spec);
  const I order = checked_order<double, I>(checked_multiply(points, dof, "the number of rows"),
                                           checked_multiply(per_row, dof, "the number of entries"));
  return [=] {
    const Mesh mesh(points, dimension, aspect, seed);
    const double radius_squared = mesh.radius_squared_for(per_row);
    const auto row = [&mesh, radius_squared, others = std::vector<std::pair<Offset, double>>()](
                         Offset point, auto&& emit) mutable {
      double diagonal = kShift;
      others.clear();
      mesh.visit_within(radius_squared, point, [&](Offset other, double squared) {
        const double coupling = 1 / (1 + squared);
        if (other != point) diagonal += coupling;
        others.emplace_back(other, -coupling);
      });
      for (const auto& [other, value] : others) emit(other, other == point ? diagonal : value);
    };
    return build_rows<double, I>(order, order, with_blocks(row, dof));
  };
}

#define STRATA_INSTANTIATE(I) template Recipe<double, I> mesh_recipe<I>(Spec&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata

// An unstructured mesh without a mesh generator: N points, one at a random place in each cell of a
// grid of unit cells, joined to all points within a radius. Rows differ in length and the pattern
// is symmetric. Points are numbered like their cells: x fastest, the last direction slowest, its
// last layer filled only as far as N goes.
//
// The radius is the one that gives K entries per row, the diagonal included, in the mean over a
// sample of the points. Two points at distance d are coupled by −1 / (1 + d²); the diagonal is the
// sum of the couplings plus 1/64: a graph Laplacian moved away from singularity.
//
// A row needs the positions of points whose cells it reaches, and no others.

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

using Position = std::array<double, 3>;

class Mesh {
 public:
  Mesh(Offset points, int dimension, const std::array<Offset, 3>& aspect, std::uint64_t seed)
      : points_(points),
        dimension_(dimension),
        cells_(cells_for(points, dimension, aspect)),
        random_(seed) {}

  Offset points() const { return points_; }

  // A function of the point's number.
  Position position(Offset point) const {
    const Grid::Site cell = cells_.site(point);
    const auto counter = 3 * static_cast<std::uint64_t>(point);
    return {static_cast<double>(cell.x) + random_.uniform(counter),
            static_cast<double>(cell.y) + random_.uniform(counter + 1),
            dimension_ == 2 ? 0 : static_cast<double>(cell.z) + random_.uniform(counter + 2)};
  }

  // By how much the number of a point may differ from those of points within the radius.
  Offset reach(double radius_squared) const {
    const Offset cells = cells_within(radius_squared);
    return std::min(cells, cells_.nz - 1) * cells_.nx * cells_.ny +
           std::min(cells, cells_.ny - 1) * cells_.nx + std::min(cells, cells_.nx - 1);
  }

  // visit(other, squared distance) for all points whose squared distance is at most
  // `radius_squared`, the point itself included, in increasing order. `position_of` gives the
  // positions of all of them.
  template <class PositionOf, class Visit>
  void visit_within(double radius_squared, Offset point, const PositionOf& position_of,
                    Visit&& visit) const {
    const Grid::Site cell = cells_.site(point);
    const auto [x, y, z] = position_of(point);
    const Offset dependency_distance = cells_within(radius_squared);
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
          const Position place = position_of(other);
          const double dx = x - place[0];
          const double dy = y - place[1];
          const double dz = z - place[2];
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
        visit_within(
            bound, random_point_of(chunk_of(points(), part, static_cast<int>(sample))),
            [this](Offset point) { return position(point); },
            [&](Offset, double squared) { distances.push_back(squared); });
      }
    }
    const auto last = distances.begin() + static_cast<std::ptrdiff_t>(wanted) - 1;
    std::nth_element(distances.begin(), last, distances.end());
    return *last;
  }

 private:
  static Offset cells_within(double radius_squared) {
    return static_cast<Offset>(std::sqrt(radius_squared)) + 1;
  }

  Offset random_point_of(const Chunk& chunk) const {
    // The counters below 3 · points() made the coordinates.
    const auto counter = static_cast<std::uint64_t>(3 * points() + chunk.begin);
    const auto length = static_cast<std::uint64_t>(chunk.end - chunk.begin);
    return chunk.begin + static_cast<Offset>(random_.below(counter, length));
  }

  Offset points_;
  int dimension_;
  Grid cells_;
  Random random_;
};

// The positions of consecutive points, kept.
class KeptPositions {
 public:
  KeptPositions(const Mesh& mesh, Offset begin, Offset end) : begin_(begin), kept_(end - begin) {
    parallel_for(end - begin, [&](Offset i) { kept_[i] = mesh.position(begin + i); });
  }

  const Position& operator()(Offset point) const { return kept_[point - begin_]; }

 private:
  Offset begin_;
  Array<Position> kept_;
};

// Positions are asked for some hundred times each, and kept where that takes much less memory than
// the rows: these positions for every point of the selection.
constexpr Offset kKeptPerPoint = 8;

template <Index I>
Csr<double, I> mesh_rows(const Mesh& mesh, double radius_squared, Offset dof, I order,
                         const RowSelection<I>& selection) {
  const auto build = [&](const auto& position_of) {
    const auto row = [&, others = std::vector<std::pair<Offset, double>>()](Offset point,
                                                                            auto&& emit) mutable {
      double diagonal = kShift;
      others.clear();
      mesh.visit_within(radius_squared, point, position_of, [&](Offset other, double squared) {
        const double coupling = 1 / (1 + squared);
        if (other != point) diagonal += coupling;
        others.emplace_back(other, -coupling);
      });
      for (const auto& [other, value] : others) emit(other, other == point ? diagonal : value);
    };
    return build_rows<double, I>(selection, order, with_blocks(row, dof));
  };

  Offset begin = 0;
  Offset end = mesh.points();
  if (selection.contiguous()) {
    const Offset reach = mesh.reach(radius_squared);
    begin = std::max<Offset>(selection.begin() / dof - reach, 0);
    end = std::min(ceil_div(selection.begin() + selection.size(), dof) + reach, end);
  }
  if ((end - begin) / kKeptPerPoint > selection.size() / dof) {
    return build([&](Offset point) { return mesh.position(point); });
  }
  return build(KeptPositions(mesh, begin, end));
}

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
  const MatrixShape shape{order, order};
  return {.shape = [shape] { return shape; },
          .open =
              [=] {
                const Mesh mesh(points, dimension, aspect, seed);
                const double radius_squared = mesh.radius_squared_for(per_row);
                return RowSource<double, I>{.shape = shape,
                                            .character = [] { return ValueCharacter::positive; },
                                            .make =
                                                [=](const RowSelection<I>& selection) {
                                                  return mesh_rows(mesh, radius_squared, dof, order,
                                                                   selection);
                                                }};
              }};
}

#define STRATA_INSTANTIATE(I) template Recipe<double, I> mesh_recipe<I>(Spec&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata

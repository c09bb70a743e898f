// A box of points, numbered with x fastest and z slowest.
#pragma once

#include <array>

#include "strata/base/checked.hpp"
#include "strata/base/types.hpp"

namespace strata {

struct Grid {
  struct Site {
    Offset x = 0;
    Offset y = 0;
    Offset z = 0;
  };

  Offset nx = 1;
  Offset ny = 1;
  Offset nz = 1;

  Grid() = default;
  explicit Grid(const std::array<Offset, 2>& sizes) : nx(sizes[0]), ny(sizes[1]) {}
  explicit Grid(const std::array<Offset, 3>& sizes) : nx(sizes[0]), ny(sizes[1]), nz(sizes[2]) {}

  Offset points() const {
    const Offset plane = checked_multiply(nx, ny, "the number of points");
    return checked_multiply(plane, nz, "the number of points");
  }
  Site site(Offset point) const {
    const Offset line = point / nx;
    return {point % nx, line % ny, line / ny};
  }

  // visit(axis, neighbour) for the neighbours along the axes with smaller numbers, and for those
  // with larger numbers, in increasing order; axis 0 is x.
  template <class Visit>
  void visit_below(Offset point, const Site& site, Visit&& visit) const {
    if (site.z > 0) visit(2, point - nx * ny);
    if (site.y > 0) visit(1, point - nx);
    if (site.x > 0) visit(0, point - 1);
  }
  template <class Visit>
  void visit_above(Offset point, const Site& site, Visit&& visit) const {
    if (site.x + 1 < nx) visit(0, point + 1);
    if (site.y + 1 < ny) visit(1, point + nx);
    if (site.z + 1 < nz) visit(2, point + nx * ny);
  }
};

}  // namespace strata

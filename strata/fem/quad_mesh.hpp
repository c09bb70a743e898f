// QuadMesh: the unit square cut into NX × NY rectangles with Lagrange polynomials of one degree in
// each direction (Qd). Nodes on the boundary, where solutions are 0, are no unknowns; the others
// are numbered with x fastest, as the generator `fem` does (gen/fem.cpp).
#pragma once

#include "strata/base/types.hpp"

namespace strata::fem {

inline constexpr int kMeshColours = 4;

struct QuadMesh {
  Offset nx = 1;  // elements
  Offset ny = 1;
  int degree = 1;

  // Throws InvalidArgument for degrees other than 1 … 4, no elements, and no node inside;
  // OverflowError where 32 bits do not count the unknowns.
  void require_usable() const;

  Offset elements() const { return nx * ny; }
  Offset width() const { return nx * degree - 1; }  // unknowns along x
  Offset height() const { return ny * degree - 1; }
  Offset unknowns() const { return width() * height(); }
  int element_nodes() const { return (degree + 1) * (degree + 1); }

  // The unknown of node (a, b) of element (ex, ey), a along x; −1 on the boundary.
  Offset unknown(Offset ex, Offset ey, int a, int b) const {
    const Offset i = ex * degree + a - 1;
    const Offset j = ey * degree + b - 1;
    return i < 0 || j < 0 || i >= width() || j >= height() ? -1 : j * width() + i;
  }
};

}  // namespace strata::fem

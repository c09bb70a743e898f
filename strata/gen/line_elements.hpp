// Lagrange elements of degree 1 … 4 along a line: what rectangular elements are products of. The
// nodes of an element are the Gauss–Lobatto points of [−1, 1].
#pragma once

#include <array>
#include <vector>

#include "strata/base/types.hpp"

namespace strata {

inline constexpr int kMaxDegree = 4;
inline constexpr int kMaxLineNodes = kMaxDegree + 1;

// In increasing order; degree + 1 of them.
std::vector<double> line_nodes(int degree);

// Gauss–Legendre with 5 points: exact up to degree 9, and two polynomials of degree 4 make 8.
inline constexpr int kLinePoints = 5;
struct QuadraturePoint {
  double position;
  double weight;
};
std::array<QuadraturePoint, kLinePoints> gauss_points();

// The polynomials that are 1 at one node and 0 at the others, and their slopes, at a position.
struct LineBasis {
  std::array<double, kMaxLineNodes> value{};
  std::array<double, kMaxLineNodes> slope{};
};
LineBasis line_basis(const std::vector<double>& nodes, double position);

// What an inner node of `elements` elements belongs to; nodes are counted from the boundary, which
// has the first and the last. A node on the seam of two elements belongs to both.
struct NodeReach {
  Offset first_element = 0;
  Offset last_element = 0;
  Offset first_node = 0;  // that are inside and share an element with it
  Offset last_node = 0;
};
NodeReach reach_of(Offset node, Offset elements, Offset degree);

}  // namespace strata

// −Δu on NX × NY square elements with Lagrange polynomials of degree d in each direction (Qd), zero
// on the boundary: its nodes are left out, and (NX·d − 1)(NY·d − 1) unknowns remain, x fastest. The
// matrix is symmetric and positive definite, and does not depend on the size of the squares.
//
// The nodes of an element are the Gauss–Lobatto points. Its matrix is k⊗m + m⊗k, with k and m the
// stiffness and mass matrix of one direction, integrated exactly by Gauss quadrature. Summing over
// the elements a node belongs to factorises in the same way, so that a row of the assembled matrix
// comes from one row of the assembled k and m in each direction. All entries of the element
// matrices are kept, whatever their values.

#include <algorithm>
#include <array>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/gen/line_elements.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

namespace {

using Square = std::array<std::array<double, kMaxLineNodes>, kMaxLineNodes>;

// The matrices of one element in one direction.
struct Element {
  int degree = 1;
  Square mass{};
  Square stiffness{};
};

Element element_of(int degree) {
  Element element{.degree = degree};
  const std::vector<double> nodes = line_nodes(degree);
  for (const auto& [position, weight] : gauss_points()) {
    const auto [basis, slope] = line_basis(nodes, position);
    for (int a = 0; a <= degree; ++a) {
      for (int b = 0; b <= degree; ++b) {
        element.mass[a][b] += weight * (basis[a] * basis[b]);
        element.stiffness[a][b] += weight * (slope[a] * slope[b]);
      }
    }
  }
  return element;
}

// One row of the assembled matrices of one direction, without the nodes on the boundary.
struct Line {
  Offset first = 0;  // number of the first column, counted from the first inner node
  int count = 0;
  std::array<double, 2 * kMaxDegree + 1> mass{};
  std::array<double, 2 * kMaxDegree + 1> stiffness{};
};

Line line_of(const Element& element, Offset elements, Offset inner_node) {
  const Offset degree = element.degree;
  const Offset node = inner_node + 1;  // counted from the boundary
  const auto [first_element, last_element, first, last] = reach_of(node, elements, degree);
  Line line;
  line.first = first - 1;
  line.count = static_cast<int>(last - first + 1);
  for (Offset e = first_element; e <= last_element; ++e) {
    const Offset begin = std::max(e * degree, first);
    const Offset end = std::min((e + 1) * degree, last);
    for (Offset other = begin; other <= end; ++other) {
      line.mass[other - first] += element.mass[node - e * degree][other - e * degree];
      line.stiffness[other - first] += element.stiffness[node - e * degree][other - e * degree];
    }
  }
  return line;
}

}  // namespace

template <Index I>
Recipe<double, I> fem_recipe(Spec& spec) {
  const std::array<Offset, 2> elements = spec.sizes<2>();
  const Offset degree = spec.integer("degree", 1, kMaxDegree);
  const Offset width = checked_multiply(elements[0], degree, "the number of nodes") - 1;
  const Offset height = checked_multiply(elements[1], degree, "the number of nodes") - 1;
  if (width == 0 || height == 0) throw InvalidArgument("there is no node inside the boundary");
  const I order = checked_order<double, I>(checked_multiply(width, height, "the number of rows"),
                                           (2 * degree + 1) * (2 * degree + 1));
  const Element element = element_of(static_cast<int>(degree));
  const auto row = [elements, width, element](Offset node, auto&& emit) {
    const Line across = line_of(element, elements[0], node % width);
    const Line along = line_of(element, elements[1], node / width);
    for (int j = 0; j < along.count; ++j) {
      const Offset first = (along.first + j) * width + across.first;
      for (int i = 0; i < across.count; ++i) {
        emit(first + i, across.stiffness[i] * along.mass[j] + across.mass[i] * along.stiffness[j]);
      }
    }
  };
  return row_recipe<I>(order, ValueCharacter::positive, row);
}

#define STRATA_INSTANTIATE(I) template Recipe<double, I> fem_recipe<I>(Spec&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata

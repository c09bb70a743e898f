// −∇·(κ∇u) = f on the unit square, u = 0 on its boundary: the problem of
//
//   I. Reguly, M. Giles: Efficient sparse matrix-vector multiplication on cache-based GPUs, InPar
//   2012, section 8 (with the sign that makes the matrix positive definite)
//
// by finite elements: matrices of elements, the load vector, and what a solution is wrong by.
// Integrals are sums over 5 × 5 Gauss points of each element.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "strata/fem/quad_mesh.hpp"

namespace strata::fem {

using Field = std::function<double(double x, double y)>;

struct Diffusion {
  Field diffusivity;  // κ
  Field source;       // f
  Field solution;     // u
};

// κ = 2 + sin(2πx) cos(πy), u = eˣ sin(πx) sin(2πy), and f from them.
Diffusion manufactured_diffusion();

// ∫ κ ∇φ_i · ∇φ_j over elements, whose nodes (a, b) are number a + (degree + 1) b.
class ElementMatrices {
 public:
  ElementMatrices(const QuadMesh& mesh, Field diffusivity);
  // element_nodes()² values, row by row.
  void compute(Offset ex, Offset ey, std::span<double> matrix) const;

 private:
  struct LinePoint {
    double position;
    std::vector<double> values;  // weight · φ_a φ_c of one direction
    std::vector<double> slopes;  // weight · φ_a′ φ_c′
  };

  QuadMesh mesh_;
  Field diffusivity_;
  std::vector<LinePoint> points_;
};

// ∫ f φ_i. The same bits for any number of threads.
std::vector<double> load_vector(const QuadMesh& mesh, const Field& source);

// The square root of ∫ (u_h − u)², u_h by its values at the unknowns.
double l2_error(const QuadMesh& mesh, std::span<const double> values, const Field& solution);

}  // namespace strata::fem

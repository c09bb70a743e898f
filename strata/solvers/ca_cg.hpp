// CA-CG, the s-step method of conjugate gradients: for Hermitian positive definite matrices, s
// iterations from one sweep over the matrix.
//
//   K = [v_0, …, v_s] from v_0 = r by a basis of the Krylov space, A [v_0, …, v_{s−1}] = KB
//   G = [K, AP]ᴴ K, in one reduction
//   C = −(PᴴAP)⁻¹ (AP)ᴴ [v_0, …, v_{s−1}]
//   P = [v_0, …, v_{s−1}] + PC,  AP = KB + (AP)C
//   a = (PᴴAP)⁻¹ Pᴴr,  x = x + Pa,  r = r − (AP)a
//
//   A. T. Chronopoulos, C. W. Gear, s-step iterative methods for symmetric linear systems, J.
//   Comput. Appl. Math. 25, 1989
//   E. Carson, Communication-avoiding Krylov subspace methods in theory and practice, PhD thesis,
//   UC Berkeley, 2015 (bases, and residuals that are replaced)
//
// Needs s products for s iterations, unlike the variants that make powers of r and of p. The first
// s iterations are plain ones, and their Ritz values the shifts of the basis. A block whose PᴴAP
// cannot be trusted is cut, and blocks are no wider from there on. The residual is replaced by the
// true one, and a new cycle begins, where it has become so small that what rounding left in the
// recurrences is about to show.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "strata/solvers/krylov_basis.hpp"
#include "strata/solvers/method.hpp"
#include "strata/solvers/powers.hpp"

namespace strata::solvers {

struct CaCgOptions {
  SolveOptions solve = {};
  KrylovBasis basis = KrylovBasis::newton;  // s is the power of the plan
};

namespace detail {

// The vectors of CA-CG in one block, so that one pass changes all of them: v_1 … v_s, v_0 = r, AP,
// P and x, in this order.
template <class Space>
class CaCgBlock {
 public:
  using V = typename Space::Value;
  using W = Wide<V>;
  using View = typename Space::View;
  using Real = decltype(std::abs(V()));

  CaCgBlock(Space& space, int s)
      : space_(space),
        s_(s),
        columns_(space.make_block(3 * s + 2)),
        scalars_(space.make_scalars((3 * s + 2) * (2 * s + 2))) {}

  View residual() { return column(s_); }
  View powers(int count) { return column(0, count); }
  View image(int j) { return column(s_ + 1 + j); }          // of AP
  View direction(int j) { return column(2 * s_ + 1 + j); }  // of P
  View solution() { return column(3 * s_ + 1); }

  // Directions p_j with these curvatures (p_j, Ap_j) are there, conjugate to each other; or none.
  void set_directions(const std::vector<double>& curvatures) {
    const int width = static_cast<int>(curvatures.size());
    root_ = Dense<W>(width, width);
    for (int j = 0; j < width; ++j) {
      root_(j, j) = W(std::sqrt(curvatures[static_cast<std::size_t>(j)]));
    }
  }

  // The one reduction of s iterations, and the only time that the host waits.
  void multiply_vectors() {
    // Rows of the products: v_1 … v_s, r, AP. Columns: v_1 … v_s, r.
    const int tall = s_ + 1 + root_.columns(), wide = s_ + 1;
    space_.gram({columns_, tall}, {columns_, wide}, scalars_);
    std::vector<V> known(static_cast<std::size_t>(tall) * static_cast<std::size_t>(wide));
    space_.read(scalars_, known);
    products_ = Dense<W>(tall, wide, known);
  }

  // Iterations with v_1 … v_width and their products. Returns how many: fewer where more cannot be
  // trusted, and none where not even r has a positive curvature.
  int advance(int width, const Dense<W>& change) {
    const int old = root_.columns();
    const Dense<W>& products = products_;
    const auto place = [&](int k) { return k == 0 ? s_ : k - 1; };  // of v_k
    Dense<W> inner(width, width + 1), cross(old, width);
    for (int j = 0; j <= width; ++j) {
      for (int i = 0; i < width; ++i) inner(i, j) = products(place(i), place(j));
      for (int i = 0; i < old && j < width; ++i) cross(i, j) = products(s_ + 1 + i, place(j));
    }
    // Curvatures of the v alone, and what is left of them after the old directions.
    const Dense<W> own = inner * change;
    Dense<W> c(old, width), curvature = own;
    if (old > 0) {
      c = Dense<W>(old, width) - solve_cholesky(root_, cross);
      curvature = own + adjoint(cross) * c;
    }
    // Rounding in the products, of the relative size ε, is amplified by the pivots twice: in the
    // directions and in the recurrences that their successors stand on.
    const double share = std::pow(std::numeric_limits<Real>::epsilon(), 0.25);
    std::vector<double> least;
    for (int j = 0; j < width; ++j) least.push_back(share * std::abs(own(j, j)));
    least[0] = 0;
    restartable_ = old > 0 && width > 1 && std::real(own(0, 0)) > 0;
    first_curvature_ = std::real(curvature(0, 0));
    const Dense<W> root = cholesky(curvature, least);
    const int kept = root.columns();
    if (kept == 0) return 0;
    const Dense<W> a = solve_cholesky(root, inner.part(0, 0, kept, 1));
    // New columns by the old ones.
    const int all = 3 * s_ + 2;
    Dense<W> by(all, 2 * s_ + 2);
    const int r_column = 0, image_column = 1, direction_column = s_ + 1, x_column = 2 * s_ + 1;
    by(s_, r_column) = W(1);
    by(all - 1, x_column) = W(1);
    const auto add = [&](int row, int column, W value) { by(row, column) += value; };
    for (int j = 0; j < kept; ++j) {
      const auto set = [&](int row, bool of_images, W value) {
        add(row, (of_images ? image_column : direction_column) + j, value);
        of_images ? add(row, r_column, -a(j, 0) * value) : add(row, x_column, a(j, 0) * value);
      };
      set(place(j), false, W(1));
      for (int k = 0; k <= j + 1; ++k) set(place(k), true, change(k, j));
      for (int i = 0; i < old; ++i) {
        set(2 * s_ + 1 + i, false, c(i, j));
        set(s_ + 1 + i, true, c(i, j));
      }
    }
    const std::vector<V> coefficients = narrowed<V>(by.values());
    space_.write(scalars_, std::span<const V>(coefficients));
    space_.transform({View(columns_), all}, scalars_, s_);
    root_ = root;
    return kept;
  }

  // Where advance returned 0: the curvature that is not positive; and whether that may be the fault
  // of the blocks and not of the matrix.
  double first_curvature() const { return first_curvature_; }
  bool restartable() const { return restartable_; }

 private:
  View column(int k, int count = 1) {
    const auto rows = static_cast<std::size_t>(space_.rows());
    return View(columns_).subspan(static_cast<std::size_t>(k) * rows,
                                  static_cast<std::size_t>(count) * rows);
  }

  Space& space_;
  int s_ = 0;
  typename Space::Vector columns_;
  Scalar scalars_;
  Dense<W> products_;
  Dense<W> root_;  // RᴴR = PᴴAP
  double first_curvature_ = 0;
  bool restartable_ = false;
};

// Ritz values from the steps and turns of conjugate gradients: of the tridiagonal matrix that
// Lanczos' method would have built.
inline std::vector<std::complex<double>> ritz_values(const std::vector<double>& alpha,
                                                     const std::vector<double>& beta) {
  const int size = static_cast<int>(alpha.size());
  Dense<double> t(size, size);
  for (int j = 0; j < size; ++j) {
    const auto k = static_cast<std::size_t>(j);
    t(j, j) = 1 / alpha[k] + (j > 0 ? beta[k - 1] / alpha[k - 1] : 0);
    if (j + 1 < size) t(j + 1, j) = t(j, j + 1) = std::sqrt(beta[k]) / alpha[k];
  }
  const auto values = hermitian_eigen(t).values;
  return {values.begin(), values.end()};
}

}  // namespace detail

// `x` has the first guess and gets the solution. A direction p in which (p, Ap) is not positive
// ends the method.
template <class Space>
SolveResult ca_conjugate_gradients(Space& space, Powers<Space>& powers, typename Space::ConstView b,
                                   typename Space::View x, const CaCgOptions& options = {}) {
  using V = typename Space::Value;
  using W = Wide<V>;
  constexpr double kEpsilon = std::numeric_limits<decltype(std::abs(V()))>::epsilon();
  const int asked = powers.power();
  int width = static_cast<int>(std::min<Offset>(asked, std::max<Offset>(space.rows(), 1)));
  detail::CaCgBlock<Space> block(space, asked);
  const Scalar square = space.make_scalars(2), curvature = square + 1;
  auto solution = block.solution();
  auto r = block.residual();
  VectorProgram<V> take;
  take.set(solution, {{x}});
  space.run(take);
  Dense<W> change;
  const auto refuse = [&](auto& loop, double value) {
    loop.fail(SolveStatus::not_definite,
              fmt::format("the matrix is not positive definite: (p, Ap) is {:.3g} in iteration {}",
                          value, loop.iterations() + 1));
  };

  const Operator<Space> a = [&](typename Space::ConstView from, typename Space::View to) {
    powers.multiply(from, to);
  };
  SolveLoop<Space> loop(space, a, b, solution, options.solve);
  loop.reduces_error();
  loop.watch(square, 1, [](std::span<const V>) { return true; });
  // A cycle that ended because its blocks were too wide may have gained nothing.
  bool cut_short = false;
  while (loop.begin_cycle(r, cut_short ? std::numeric_limits<double>::max() : 0.5)) {
    cut_short = false;
    const double replaced_below = loop.norm_of_residual() * std::pow(kEpsilon, 0.7);
    std::vector<double> curvatures;
    if (change.columns() == 0) {  // plain iterations, whose directions stay
      std::vector<double> alpha, beta;
      double rho = loop.norm_of_residual() * loop.norm_of_residual();
      for (int j = 0; j < width && loop.continues(); ++j) {
        auto p = block.direction(j);
        auto q = block.image(j);
        VectorProgram<V> turn;
        if (j == 0) {
          turn.set(p, {{r}});
        } else {
          turn.set(p, {{r}, {block.direction(j - 1), narrowed<V>(beta.back())}});
        }
        space.run(turn);
        loop.multiply(p, q);
        VectorProgram<V> length;
        length.dot(p, q, curvature);
        space.run(length);
        const double known = std::real(space.read(curvature));
        if (!(known > 0)) {
          refuse(loop, known);
          break;
        }
        curvatures.push_back(known);
        alpha.push_back(rho / known);
        const V step = narrowed<V>(alpha.back());
        VectorProgram<V> walk;
        walk.set(solution, {{solution}, {p, step}});
        walk.set(r, {{r}, {q, -step}});
        walk.dot(r, r, square);
        space.run(walk);
        const V next = space.read(square);
        beta.push_back(std::real(next) / rho);
        rho = std::real(next);
        loop.iterated(next);
      }
      if (!alpha.empty() && std::isfinite(rho)) {
        const Basis basis = krylov_basis(options.basis, detail::ritz_values(alpha, beta), asked);
        powers.set_basis(basis);
        change = change_of_basis<V>(basis, asked);
      }
    }
    block.set_directions(curvatures);
    while (loop.continues() && loop.norm_of_residual() > replaced_below) {
      powers.apply_first(width, r, block.powers(width));
      loop.multiplied(width);
      block.multiply_vectors();
      // On a device (r, r) of the last block arrives with these: its last powers are then in vain.
      loop.settle();
      if (!loop.continues() || !(loop.norm_of_residual() > replaced_below)) break;
      const int kept = block.advance(width, change.part(0, 0, width + 1, width));
      if (kept == 0 && !block.restartable()) refuse(loop, block.first_curvature());
      if (kept > 0) {
        VectorProgram<V> measure;
        measure.dot(r, r, square);
        space.run(measure);
        loop.launched(kept);
      }
      if (kept < width && loop.continues()) {
        loop.settle();
        const int narrower = std::max(kept, width / 2);
        loop.remark(
            fmt::format("blocks of {} vectors were too close to dependent; from iteration "
                        "{} on they have {}",
                        width, loop.iterations(), narrower));
        width = narrower;
      }
      cut_short = kept == 0;
      if (cut_short) break;
    }
  }
  VectorProgram<V> give;
  give.set(x, {{solution}});
  space.run(give);
  return loop.result();
}

}  // namespace strata::solvers

// CA-CG, the s-step method of conjugate gradients: for Hermitian positive definite matrices, s
// iterations from one sweep over the matrix.
//
//   K = [V, v_s], V = [v_0, …, v_{s−1}], from v_0 = r by a basis of the Krylov space, AV = KB
//   G = [K, AP, P]ᴴ K, in one reduction
//   C = −(PᴴAP)⁻¹ (AP)ᴴV
//   P = V + PC,  AP = KB + (AP)C
//   a = (PᴴAP)⁻¹ Pᴴr,  x = x + Pa,  r = r − (AP)a
//
//   A. T. Chronopoulos, C. W. Gear, s-step iterative methods for symmetric linear systems, J.
//   Comput. Appl. Math. 25, 1989
//   E. Carson, Communication-avoiding Krylov subspace methods in theory and practice, PhD thesis,
//   UC Berkeley, 2015 (bases, and residuals that are replaced)
//
// Needs s products for s iterations, unlike the variants that make powers of r and of p. The first
// s iterations are plain ones, and their Ritz values the shifts of the basis. Three things keep it
// as good as the plain method where matrices are ill-conditioned:
//
//   - PᴴAP and Pᴴr are those of the directions that are there, PᴴAV and Pᴴr by Pᴴ K included, and
//     not of directions and residuals that would be orthogonal without rounding.
//   - A block is cut where the old directions take nearly all of a vector, and later blocks are no
//     wider than what is left: conjugate to all directions are only as many vectors as the last
//     block had.
//   - Now and then, after 4, 8, 16 … blocks, the true residual replaces that of the recurrence. Had
//     they come so far apart that the tolerance is in danger, blocks are half as wide from there
//     on, and iterations plain ones in the end.
//
// (r, r) takes a reduction of its own, which costs less than the powers that a block begins with in
// vain where it would have shown that no other block is needed. Fused with the reduction of the
// next block, where reductions are dear, it is known a block later.
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
  bool fused = false;                       // (r, r) of a block with the reduction of the next one
};

namespace detail {

// The vectors of CA-CG in one block, so that one pass changes all of them: v_1 … v_s, v_0 = r, AP,
// P and x, in this order. Where s becomes smaller, they move together to the end, where x stays.
template <class Space>
class CaCgBlock {
 public:
  using V = typename Space::Value;
  using W = Wide<V>;
  using View = typename Space::View;
  using Real = decltype(std::abs(V()));

  CaCgBlock(Space& space, int s)
      : space_(space),
        most_(s),
        s_(s),
        columns_(space.make_block(3 * s + 2)),
        scalars_(space.make_scalars((3 * s + 2) * (2 * s + 2))) {}

  View residual() { return column(s_); }
  View powers(int count) { return column(0, count); }
  View image(int j) { return column(s_ + 1 + j); }          // of AP
  View direction(int j) { return column(2 * s_ + 1 + j); }  // of P
  View solution() { return column(3 * s_ + 1); }
  int directions() const { return root_.columns(); }

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
    // Rows of the products: v_1 … v_s, r, AP, P. Columns: v_1 … v_s, r.
    const int tall = directions() > 0 ? 2 * s_ + 1 + directions() : s_ + 1, wide = s_ + 1;
    space_.gram({column(0, tall), tall}, {column(0, wide), wide}, scalars_);
    std::vector<V> known(static_cast<std::size_t>(tall) * static_cast<std::size_t>(wide));
    space_.read(scalars_, known);
    products_ = Dense<W>(tall, wide, known);
  }

  // (r, r), of the products.
  double square() const { return std::real(products_(s_, s_)); }

  // Iterations with v_1 … v_width and their products. Returns how many: fewer where more cannot be
  // trusted, and none where not even r has a positive curvature. Moves r.
  int advance(int width, const Dense<W>& change) {
    const int old = directions();
    const auto place = [&](int k) { return k == 0 ? s_ : k - 1; };  // of v_k
    const auto part = [&](int first, int rows, int columns) {
      Dense<W> result(rows, columns);
      for (int j = 0; j < columns; ++j) {
        for (int i = 0; i < rows; ++i) result(i, j) = products_(first + i, place(j));
      }
      return result;
    };
    Dense<W> inner(width, width + 1);  // VᴴK
    for (int j = 0; j <= width; ++j) {
      for (int i = 0; i < width; ++i) inner(i, j) = products_(place(i), place(j));
    }
    // Curvatures of the v alone, and what is left of them after the old directions.
    const Dense<W> own = inner * change;
    Dense<W> c(old, width), curvature = own, slope = inner.part(0, 0, width, 1);
    if (old > 0) {
      const Dense<W> cross = part(s_ + 1, old, width);          // (AP)ᴴV
      const Dense<W> along = part(2 * s_ + 1, old, width + 1);  // PᴴK
      c = Dense<W>(old, width) - solve_cholesky(root_, cross);
      const Dense<W> c_adjoint = adjoint(c);
      curvature = own + adjoint(cross) * c + c_adjoint * (along * change - cross);
      slope = slope + c_adjoint * along.part(0, 0, old, 1);
    }
    for (int j = 0; j < width; ++j) {
      for (int i = 0; i <= j; ++i) {
        curvature(i, j) = 0.5 * (curvature(i, j) + conjugate(curvature(j, i)));
        curvature(j, i) = conjugate(curvature(i, j));
      }
    }
    const double share = std::pow(std::numeric_limits<Real>::epsilon(), 0.14);
    std::vector<double> least;
    for (int j = 0; j < width; ++j) least.push_back(share * std::abs(own(j, j)));
    least[0] = 0;
    restartable_ = old > 0 && width > 1 && std::real(own(0, 0)) > 0;
    first_curvature_ = std::real(curvature(0, 0));
    const Dense<W> root = cholesky(curvature, least);
    const int kept = root.columns();
    if (kept == 0) return 0;
    const Dense<W> a = solve_cholesky(root, slope.part(0, 0, kept, 1));
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
    space_.transform({column(0, all), all}, scalars_, s_);
    root_ = root;
    close_up(kept);
    return kept;
  }

  // Where advance returned 0: the curvature that is not positive; and whether that may be the fault
  // of the blocks and not of the matrix.
  double first_curvature() const { return first_curvature_; }
  bool restartable() const { return restartable_; }

 private:
  View column(int k, int count = 1) {
    const auto rows = static_cast<std::size_t>(space_.rows());
    return View(columns_).subspan(static_cast<std::size_t>(3 * (most_ - s_) + k) * rows,
                                  static_cast<std::size_t>(count) * rows);
  }

  // s becomes the number of directions.
  void close_up(int width) {
    if (width == s_) return;
    std::vector<View> from, to;  // in the order in which none is lost: the last ones first
    const auto list = [&](std::vector<View>& views) {
      for (int j = width - 1; j >= 0; --j) views.push_back(direction(j));
      for (int j = width - 1; j >= 0; --j) views.push_back(image(j));
      views.push_back(residual());
    };
    list(from);
    s_ = width;
    list(to);
    for (std::size_t k = 0; k < from.size(); ++k) {
      VectorProgram<V> move;
      move.set(to[k], {{from[k]}});
      space_.run(move);
    }
  }

  Space& space_;
  int most_ = 0;
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

// The method itself: cycles from one true residual to the next, of plain iterations at first, then
// of blocks, and of plain iterations again where blocks have become too narrow.
template <class Space>
class CaCg {
 public:
  using V = typename Space::Value;
  using W = Wide<V>;
  using View = typename Space::View;
  using ConstView = typename Space::ConstView;
  static constexpr double kEpsilon = std::numeric_limits<decltype(std::abs(V()))>::epsilon();

  CaCg(Space& space, Powers<Space>& powers, ConstView b, View x, const CaCgOptions& options)
      : space_(space),
        powers_(powers),
        b_(b),
        options_(options),
        width_(static_cast<int>(
            std::min<Offset>(powers.power(), std::max<Offset>(space.dimension(), 1)))),
        block_(space, powers.power()),
        square_(space.make_scalars(2)),
        solution_(copied(x)),
        multiply_([&powers](ConstView from, View to) { powers.multiply(from, to); }),
        loop_(space, multiply_, b, solution_, options.solve) {
    loop_.reduces_error();
    loop_.watch(square_, 1, [](std::span<const V>) { return true; });
  }

  SolveResult run(View x) {
    while (begin_cycle()) {
      if (change_.columns() == 0) begin_plainly();
      int blocks = 0, next_check = 4;
      while (goes_on()) {
        if (width_ == 1 && block_.directions() <= 1) {
          walk_plainly();
        } else if (!advance()) {
          break;
        } else if (++blocks == next_check) {
          check_residual();
          next_check *= 2;
        }
      }
    }
    VectorProgram<V> give;
    give.set(x, {{solution_}});
    space_.run(give);
    return loop_.result();
  }

 private:
  struct Step {
    double curvature = 0, length = 0, turn = 0;
  };

  View copied(View x) {
    View solution = block_.solution();
    VectorProgram<V> take;
    take.set(solution, {{x}});
    space_.run(take);
    return solution;
  }

  bool begin_cycle() {
    see_block();
    loop_.settle();
    const double followed = loop_.norm_of_residual();
    // A cycle that ended because its blocks were too wide may have gained nothing.
    const double stagnant = cut_short_ ? std::numeric_limits<double>::max() : 0.5;
    if (!loop_.begin_cycle(block_.residual(), stagnant)) return false;
    const double residual = loop_.norm_of_residual();
    // Directions stay where the residual is still the one that they belong to.
    if (cut_short_ || std::abs(residual - followed) > 0.1 * followed) block_.set_directions({});
    cut_short_ = false;
    replaced_below_ = residual * std::pow(kEpsilon, 0.7);
    note_residual();
    return true;
  }

  bool goes_on() {
    return loop_.continues() && loop_.norm_of_residual() > replaced_below_ &&
           loop_.iterations() + unseen_ < options_.solve.most_iterations;
  }

  void refuse(double curvature) {
    loop_.fail(SolveStatus::not_definite,
               fmt::format("the matrix is not positive definite: (p, Ap) is {:.3g} in iteration {}",
                           curvature, loop_.iterations() + 1));
  }

  // p = r + turn · last, q = Ap, and an iteration with it; (r, r) is known.
  Step walk(View last, double turn, View p, View q) {
    const double rho = loop_.norm_of_residual() * loop_.norm_of_residual();
    View r = block_.residual();
    VectorProgram<V> direct;
    if (turn == 0) {
      direct.set(p, {{r}});
    } else {
      direct.set(p, {{r}, {last, narrowed<V>(turn)}});
    }
    space_.run(direct);
    loop_.multiply(p, q);
    Step step{.curvature = std::real(dot(p, q))};
    if (!(step.curvature > 0)) {
      refuse(step.curvature);
      return step;
    }
    step.length = rho / step.curvature;
    VectorProgram<V> forward;
    forward.set(solution_, {{solution_}, {p, narrowed<V>(step.length)}});
    forward.set(r, {{r}, {q, -narrowed<V>(step.length)}});
    forward.dot(r, r, square_);
    space_.run(forward);
    const V next = space_.read(square_);
    step.turn = std::real(next) / rho;
    loop_.iterated(next);
    note_residual();
    return step;
  }

  // The first iterations, whose directions stay and whose Ritz values make the basis.
  void begin_plainly() {
    std::vector<double> curvatures, lengths, turns;
    for (int j = 0; j < width_ && loop_.continues(); ++j) {
      const Step step = walk(block_.direction(std::max(j - 1, 0)), j == 0 ? 0 : turns.back(),
                             block_.direction(j), block_.image(j));
      if (!(step.curvature > 0)) break;
      curvatures.push_back(step.curvature);
      lengths.push_back(step.length);
      turns.push_back(step.turn);
    }
    block_.set_directions(curvatures);
    if (lengths.empty() || !std::isfinite(loop_.norm_of_residual())) return;
    const int s = powers_.power();
    const Basis basis = krylov_basis(options_.basis, ritz_values(lengths, turns), s);
    powers_.set_basis(basis);
    change_ = change_of_basis<V>(basis, s);
  }

  // Iterations one by one to the end of the cycle, from at most one direction.
  void walk_plainly() {
    see_block();
    loop_.settle();
    View p = block_.direction(0), q = block_.image(0);
    double turn = 0;
    if (block_.directions() == 1) turn = -std::real(dot(q, block_.residual()) / dot(p, q));
    double curvature = 0;
    while (goes_on()) {
      const Step step = walk(p, turn, p, q);
      turn = step.turn;
      curvature = step.curvature;
    }
    block_.set_directions(curvature > 0 ? std::vector<double>{curvature} : std::vector<double>{});
  }

  // So many iterations as a block is wide, or fewer. False where the cycle cannot go on.
  bool advance() {
    powers_.apply_first(width_, block_.residual(), block_.powers(width_));
    loop_.multiplied(width_);
    block_.multiply_vectors();
    // On a device (r, r) of the last block arrives with these: its last powers are then in vain.
    loop_.settle();
    count_block(block_.square());
    note_residual();
    if (!goes_on()) return false;
    const int kept = block_.advance(width_, change_.part(0, 0, width_ + 1, width_));
    if (kept == 0) {
      cut_short_ = block_.restartable();
      cut_short_ ? narrow(width_ / 2) : refuse(block_.first_curvature());
      return false;
    }
    if (options_.fused) {
      unseen_ = kept;
    } else {
      View r = block_.residual();
      VectorProgram<V> measure;
      measure.dot(r, r, square_);
      space_.run(measure);
      loop_.launched(kept);
    }
    if (kept < width_) narrow(kept);
    return true;
  }

  // Of a block whose (r, r) nobody has seen.
  void count_block(double square) {
    if (unseen_ > 0) loop_.iterated(narrowed<V>(square), std::exchange(unseen_, 0));
  }
  void see_block() {
    View r = block_.residual();
    if (unseen_ > 0) count_block(std::real(dot(r, r)));
  }

  // r becomes b − Ax. The tolerance is in danger long before the two are as far apart as it allows:
  // a part of r that the recurrence has lost takes as many iterations again as it took before.
  void check_residual() {
    View r = block_.residual(), gap = block_.powers(1);
    loop_.multiply(solution_, gap);
    VectorProgram<V> replace;
    replace.set(gap, {{b_}, {gap, V(-1)}, {r, V(-1)}});
    replace.set(r, {{r}, {gap}});
    space_.run(replace);
    const double apart = std::sqrt(std::real(dot(gap, gap)));
    const double harmless = std::max(1e-3 * loop_.aim(), 1e3 * kEpsilon * largest_residual_);
    if (apart > harmless && width_ > 1) narrow(width_ / 2);
  }

  void narrow(int width) {
    loop_.settle();
    loop_.remark(
        fmt::format("blocks of {} vectors lost too many digits; from iteration {} on they have {}",
                    powers_.power(), loop_.iterations() + unseen_, width));
    width_ = width;
  }

  void note_residual() {
    largest_residual_ = std::max(largest_residual_, loop_.norm_of_residual());
  }

  V dot(View u, View v) {
    VectorProgram<V> program;
    program.dot(u, v, square_ + 1);
    space_.run(program);
    return space_.read(square_ + 1);
  }

  Space& space_;
  Powers<Space>& powers_;
  ConstView b_;
  const CaCgOptions& options_;
  int width_ = 0;  // of blocks, at most s
  CaCgBlock<Space> block_;
  Scalar square_;  // (r, r), and one for what is needed at once
  View solution_;
  Operator<Space> multiply_;
  SolveLoop<Space> loop_;
  Dense<W> change_;  // B; of no columns before the basis is known
  int unseen_ = 0;   // iterations of a block whose (r, r) comes with the next one
  bool cut_short_ = false;
  double replaced_below_ = 0;
  double largest_residual_ = 0;
};

}  // namespace detail

// `x` has the first guess and gets the solution. A direction p in which (p, Ap) is not positive
// ends the method.
template <class Space>
SolveResult ca_conjugate_gradients(Space& space, Powers<Space>& powers, typename Space::ConstView b,
                                   typename Space::View x, const CaCgOptions& options = {}) {
  return detail::CaCg<Space>(space, powers, b, x, options).run(x);
}

}  // namespace strata::solvers

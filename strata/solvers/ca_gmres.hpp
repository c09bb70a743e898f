// CA-GMRES(s, t): GMRES(st) that makes s vectors of its basis at a time, from one sweep over the
// matrix, and orthogonalises them together.
//
//   v_1, …, v_s from q_k by a basis of the Krylov space            (krylov_basis.hpp)
//   twice:  S = QᴴV,  RᴴR = VᴴV − SᴴS,  V = (V − QS) R⁻¹           (S and VᴴV in one reduction)
//   Q = [Q, V];  H's new columns from R, S and A[q_k, v_1, …] = [q_k, v_1, …, v_s] B
//   y minimises ‖‖r‖ e_0 − Hy‖,  x = x + Qy
//
//   M. Hoemmen, Communication-avoiding Krylov subspace methods, PhD thesis, UC Berkeley, 2010
//   Y. Yamamoto, Y. Nakatsukasa, Y. Yanagisawa, T. Fukaya, Roundoff error analysis of the
//   CholeskyQR2 algorithm, ETNA 44, 2015
//   E. Carson, K. Lund, M. Rozložník, S. Thomas, Block Gram–Schmidt algorithms and their stability
//   properties, Linear Algebra Appl. 638, 2022 (the inner product of what is left by Pythagoras)
//
// The first s vectors are made one by one; the Ritz values that they give are the shifts of the
// basis. A block whose vectors are so close to dependent that the Cholesky factorisation cannot be
// trusted is cut before the first of them that is, and blocks are no wider from there on. s
// iterations have s products in one sweep, two reductions and two passes over the vectors.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strata/solvers/hessenberg.hpp"
#include "strata/solvers/krylov_basis.hpp"
#include "strata/solvers/method.hpp"
#include "strata/solvers/powers.hpp"

namespace strata::solvers {

struct CaGmresOptions {
  SolveOptions solve = {};
  int blocks = 4;  // t; s is the power of the plan
  KrylovBasis basis = KrylovBasis::newton;
};

namespace detail {

// H's columns from `size` on, of the vectors V that a basis Q of size + 1 columns has grown by.
// With Q = [Q_−, q], v_0 in Q and A[v_0, V_−] = [v_0, V]B,
//
//   [v_0, V] = [Q, Q_new] G,   [v_0, V_−] = Q_− F + [q, Q_new−] T,   AQ_− = QH
//   A [q, Q_new−] = ([Q, Q_new] GB − QHF) T⁻¹
template <class W>
void append_hessenberg(Dense<W>& h, int size, const Dense<W>& g, const Dense<W>& b) {
  const int before = size + 1, width = b.columns();
  Dense<W> image = g * b;
  if (size > 0) {
    const Dense<W> f = g.part(0, 0, size, width);
    const Dense<W> known = h.part(0, 0, before, size) * f;
    image.set_part(0, 0, image.part(0, 0, before, width) - known);
  }
  const Dense<W> t = g.part(size, 0, width, width);
  const Dense<W> columns = image * solve_upper(t, Dense<W>::identity(width));
  for (int j = 0; j < width; ++j) {
    for (int i = 0; i < h.rows(); ++i) {
      // Below the first subdiagonal there is rounding.
      h(i, size + j) = i < columns.rows() && i <= size + j + 1 ? columns(i, j) : W(0);
    }
  }
}

// The least pivots of inner products of vectors with these squares, out of so many columns: by
// Pythagoras, rounding of the whole vector is left in the square of what is left of it.
template <Value V, class W>
std::vector<double> trusted_pivots(const Dense<W>& squares, int columns) {
  std::vector<double> least;
  for (int j = 0; j < squares.columns(); ++j) {
    least.push_back(100.0 * columns * std::numeric_limits<decltype(std::abs(V()))>::epsilon() *
                    std::real(squares(j, j)));
  }
  return least;
}

// An orthonormal basis of a Krylov space that grows by blocks, and A in it: AQ_k = Q_{k+1} H.
template <class Space>
class BlockArnoldi {
 public:
  using V = typename Space::Value;
  using W = Wide<V>;
  using View = typename Space::View;

  // Room for `most` columns beside the first, and for blocks of up to `width`.
  BlockArnoldi(Space& space, int most, int width)
      : space_(space),
        columns_(space.make_block(most + width + 1)),
        scalars_(space.make_scalars((most + width + 1) * width)),
        h_(most + width + 1, most + width) {}

  int size() const { return size_; }  // columns of H; the basis has one more
  const Dense<W>& h() const { return h_; }
  typename Space::Vector& columns() { return columns_; }
  View column(int k, int count = 1) {
    const auto rows = static_cast<std::size_t>(space_.rows());
    return View(columns_).subspan(static_cast<std::size_t>(k) * rows,
                                  static_cast<std::size_t>(count) * rows);
  }

  void restart() { size_ = 0; }

  // After the columns behind the last one were set to the next vectors of the Krylov space, of
  // which B says how the matrix acts on them. Returns how many became part of the basis: fewer if
  // they are too close to dependent, and none if the space holds its image already, in which case H
  // gets a last column.
  int append(const Dense<W>& b) {
    const int given = b.columns();
    Projection first = project(given);
    if (first.r.columns() == 0) first = single(first);
    int kept = first.r.columns();
    apply(first);
    const Projection second = project(kept);
    const double left = second.norms.empty() ? 0 : second.norms[0];
    const bool exhausted = second.r.columns() == 0 ||
                           left <= std::numeric_limits<Real>::epsilon() * 10 * first.norms[0];
    if (exhausted) {
      append_h(first.s.part(0, 0, size_ + 1, 1), Dense<W>(0, 1), b.part(0, 0, 2, 1));
      ++size_;
      return 0;
    }
    kept = second.r.columns();
    apply(second);
    const Dense<W> r1 = first.r.part(0, 0, kept, kept);
    const Dense<W> s =
        first.s.part(0, 0, size_ + 1, kept) + second.s.part(0, 0, size_ + 1, kept) * r1;
    append_h(s, second.r * r1, b.part(0, 0, kept + 1, kept));
    size_ += kept;
    return kept;
  }

 private:
  using Real = decltype(std::abs(V()));

  struct Projection {
    Dense<W> s;                 // QᴴV
    Dense<W> r;                 // of what is left
    std::vector<double> norms;  // of the vectors before
  };

  Projection project(int width) {
    const int before = size_ + 1;
    const typename Space::ConstBlock all(columns_, before + width);
    space_.gram(all, {column(before, width), width}, scalars_);
    std::vector<V> known(static_cast<std::size_t>((before + width) * width));
    space_.read(scalars_, known);
    const Dense<W> products(before + width, width, known);
    Projection result;
    result.s = products.part(0, 0, before, width);
    const Dense<W> squares = products.part(before, 0, width, width);
    for (int j = 0; j < width; ++j) result.norms.push_back(std::sqrt(std::real(squares(j, j))));
    result.r = cholesky(squares - adjoint(result.s) * result.s,
                        trusted_pivots<V>(squares, before + width));
    return result;
  }

  // One vector of which little is left: it is not scaled before what is left is known better.
  static Projection single(const Projection& of) {
    return {of.s.part(0, 0, of.s.rows(), 1), Dense<W>::identity(1), {of.norms[0]}};
  }

  // V = (V − QS) R⁻¹ for the columns that R has.
  void apply(const Projection& by) {
    const int before = size_ + 1, width = by.r.columns();
    const Dense<W> inverse = solve_upper(by.r, Dense<W>::identity(width));
    const Dense<W> projected = by.s.part(0, 0, before, width) * inverse;
    std::vector<V> coefficients;
    for (int j = 0; j < width; ++j) {
      for (int i = 0; i < before; ++i) coefficients.push_back(narrowed<V>(-projected(i, j)));
      for (int i = 0; i < width; ++i) coefficients.push_back(narrowed<V>(inverse(i, j)));
    }
    space_.write(scalars_, std::span<const V>(coefficients));
    space_.transform({View(columns_), before + width}, scalars_, before);
  }

  void append_h(const Dense<W>& s, const Dense<W>& r, const Dense<W>& b) {
    Dense<W> g(size_ + 1 + r.rows(), b.columns() + 1);
    g(size_, 0) = W(1);
    g.set_part(0, 1, s);
    g.set_part(size_ + 1, 1, r);
    append_hessenberg(h_, size_, g, b);
  }

  Space& space_;
  typename Space::Vector columns_;
  Scalar scalars_;
  Dense<W> h_;
  int size_ = 0;
};

// The basis that blocks of powers are in: none before there are eigenvalues to learn it from, and
// one vector at a time until then.
template <class Space>
class BlockBasis {
 public:
  using V = typename Space::Value;
  using W = Wide<V>;

  BlockBasis(Powers<Space>& powers, KrylovBasis kind) : powers_(powers), kind_(kind), plain_(2, 1) {
    plain_(1, 0) = W(1);
  }

  bool known() const { return change_.columns() > 0; }
  // From the eigenvalues of the first `size` columns of H.
  void learn(const Dense<W>& h, int size) {
    if (known() || size == 0) return;
    const int s = powers_.power();
    const Basis basis = krylov_basis(kind_, eigenvalues(h.part(0, 0, size, size)), s);
    powers_.set_basis(basis);
    change_ = change_of_basis<V>(basis, s);
  }
  // B of so many vectors from v on: A[v, V_−] = [v, V]B, which is Av = [v, Av] [0; 1] for one.
  Dense<W> change_of(int vectors) const {
    if (vectors <= 1) return vectors == 0 ? Dense<W>() : plain_;
    return change_.part(0, 0, vectors + 1, vectors);
  }
  // The next vectors behind a column, by a product or a sweep.
  template <class Arnoldi>
  void extend(Arnoldi& arnoldi, int column, int vectors, SolveLoop<Space>& loop) {
    if (vectors == 1) {
      loop.multiply(arnoldi.column(column), arnoldi.column(column + 1));
    } else if (vectors > 1) {
      powers_.apply_first(vectors, arnoldi.column(column), arnoldi.column(column + 1, vectors));
      loop.multiplied(vectors);
    }
  }

 private:
  Powers<Space>& powers_;
  KrylovBasis kind_;
  Dense<W> plain_;
  Dense<W> change_;
};

// The first column of the basis: r over its norm.
template <class Space, class Arnoldi>
void set_first_column(Space& space, Arnoldi& arnoldi, typename Space::ConstView r, double norm,
                      Scalar scale) {
  using V = typename Space::Value;
  space.write(scale, narrowed<V>(1 / norm));
  VectorProgram<V> start;
  auto q0 = arnoldi.column(0);
  start.set(q0, {{r, scale}});
  space.run(start);
}

// Each column of H from one on is an iteration.
template <class Space, class Arnoldi>
void take_columns(const Arnoldi& arnoldi, int from,
                  RotatedHessenberg<Wide<typename Space::Value>>& to, SolveLoop<Space>& loop) {
  using V = typename Space::Value;
  for (int j = from; j < arnoldi.size(); ++j) {
    std::vector<Wide<V>> column(static_cast<std::size_t>(j) + 2);
    for (int i = 0; i <= j + 1; ++i) column[static_cast<std::size_t>(i)] = arnoldi.h()(i, j);
    const double residual = to.append(std::move(column));
    loop.iterated(narrowed<V>(residual * residual));
  }
}

// x += Qy, with the y that makes the residual least.
template <class Space, class Arnoldi>
void add_solution(Space& space, Arnoldi& arnoldi,
                  RotatedHessenberg<Wide<typename Space::Value>>& hessenberg, Scalar scale,
                  typename Space::View x) {
  using V = typename Space::Value;
  const std::vector<V> y = narrowed<V>(hessenberg.solution());
  space.write(scale, std::span<const V>(y));
  space.add_product(V(1), {arnoldi.columns(), static_cast<int>(y.size())}, scale, {x, 1});
}

// That blocks became narrower, which they stay.
inline std::string narrower(int tried, int iteration, int width) {
  return fmt::format(
      "blocks of {} vectors were too close to dependent; from iteration {} on they "
      "have {}",
      tried, iteration, width);
}

}  // namespace detail

// `x` has the first guess and gets the solution.
template <class Space>
SolveResult ca_gmres(Space& space, Powers<Space>& powers, typename Space::ConstView b,
                     typename Space::View x, const CaGmresOptions& options = {}) {
  using V = typename Space::Value;
  using W = Wide<V>;
  if (options.blocks < 1) throw InvalidArgument("CA-GMRES restarts after at least one block");
  const int asked = powers.power();
  const Offset room = std::max<Offset>(space.dimension(), 1);
  const int most = static_cast<int>(std::min(Offset{asked} * options.blocks, room));
  detail::BlockArnoldi<Space> arnoldi(space, most, asked);
  const Scalar scale = space.make_scalars(most + asked + 1);
  auto r = space.make_vector();
  detail::BlockBasis<Space> basis(powers, options.basis);
  int width = asked;

  const Operator<Space> a = [&](typename Space::ConstView from, typename Space::View to) {
    powers.multiply(from, to);
  };
  SolveLoop<Space> loop(space, a, b, x, options.solve);
  while (loop.begin_cycle(r, 0.9999)) {
    const double norm = loop.norm_of_residual();
    arnoldi.restart();
    detail::set_first_column<Space>(space, arnoldi, r, norm, scale);
    RotatedHessenberg<W> hessenberg{W(norm)};
    for (bool exhausted = false; arnoldi.size() < most && loop.continues() && !exhausted;) {
      const int k = arnoldi.size();
      if (k >= std::min(asked, most)) basis.learn(arnoldi.h(), k);
      const int tried = basis.known() ? std::min(width, most - k) : 1;
      basis.extend(arnoldi, k, tried, loop);
      const int kept = arnoldi.append(basis.change_of(tried));
      exhausted = kept == 0;
      if (kept < tried && !exhausted) {
        width = kept;
        loop.remark(detail::narrower(tried, loop.iterations() + kept, kept));
      }
      detail::take_columns<Space>(arnoldi, k, hessenberg, loop);
    }
    basis.learn(arnoldi.h(), arnoldi.size());
    detail::add_solution<Space>(space, arnoldi, hessenberg, scale, x);
  }
  return loop.result();
}

}  // namespace strata::solvers

// CA-GMRES(s, t) with one reduction for s vectors, for vectors whose parts are far from each other:
// what distributed solvers run instead of ca_gmres.hpp.
//
// Blocks are orthogonalised twice, and the second time is put off until the inner products of the
// next block are taken. With Q orthonormal, U once orthogonal to it, and V the next vectors of the
// Krylov space, from the last of U:
//
//   [Q, U, V]ᴴ [U, V]                                             (one reduction)
//   S = QᴴU,  RᴴR = UᴴU − SᴴS,  Q_U = (U − QS) R⁻¹                  (what was put off)
//   Z = QᴴV,  Y = R⁻ᴴ(UᴴV − SᴴZ) = Q_UᴴV
//   PᴴP = VᴴV − ZᴴZ − YᴴY,  U = (V − QZ − Q_U Y) P⁻¹,  Q = [Q, Q_U]
//
//   D. Bielich, J. Langou, S. Thomas, K. Świrydowicz, I. Yamazaki, E. G. Boman, Low-synch
//   Gram–Schmidt with delayed reorthogonalization for Krylov solvers, Parallel Comput. 112, 2022
//   (for single vectors)
//   E. Carson, K. Lund, Y. Ma, E. Oktay, On the loss of orthogonality of low-synchronization
//   variants of reorthogonalized block classical Gram–Schmidt, 2024
//
// Bases, cuts of blocks and iterates are those of ca_gmres.hpp but for rounding. Residuals of a
// block are known with the next one: a cycle has one reduction more than blocks, and the last sweep
// is in vain where the one before it was enough. s iterations have s products in one sweep, one
// reduction and two passes over the vectors.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "strata/solvers/ca_gmres.hpp"

namespace strata::solvers {

namespace detail {

// As BlockArnoldi, with a block that is orthogonal only to rounding of its condition until the next
// one has been appended.
template <class Space>
class DelayedArnoldi {
 public:
  using V = typename Space::Value;
  using W = Wide<V>;
  using View = typename Space::View;

  // Room for `most` columns beside the first, and for blocks of up to `width`.
  DelayedArnoldi(Space& space, int most, int width)
      : space_(space),
        columns_(space.make_block(most + width + 1)),
        scalars_(space.make_scalars((most + width + 1) * 2 * width)),
        h_(most + width + 1, most + width) {}

  int size() const { return std::max(done_ - 1, 0) + (exhausted_ ? 1 : 0); }  // columns of H
  int started() const { return done_ + waiting_ - 1; }  // and those that wait to be
  bool exhausted() const { return exhausted_; }         // the space holds its image
  const Dense<W>& h() const { return h_; }
  typename Space::Vector& columns() { return columns_; }
  View column(int k, int count = 1) {
    const auto rows = static_cast<std::size_t>(space_.rows());
    return View(columns_).subspan(static_cast<std::size_t>(k) * rows,
                                  static_cast<std::size_t>(count) * rows);
  }

  // The first column has been set, to a vector of norm 1.
  void restart() {
    done_ = 0;
    waiting_ = 1;
    exhausted_ = false;
    single_ = false;
    s_ = Dense<W>(0, 1);
    r_ = Dense<W>::identity(1);
    b_ = Dense<W>(0, 0);
    norm_ = 1;
  }

  // After the columns behind started() were set to the next vectors of the Krylov space, of which B
  // says how the matrix acts on them; without columns to end a cycle. H gets the columns of the
  // block before. Returns how many vectors were taken: fewer if they are too close to dependent.
  int append(const Dense<W>& b) {
    const int old = done_, middle = waiting_, given = b.columns();
    const int all = old + middle + given, right = middle + given;
    space_.gram({column(0, all), all}, {column(old, right), right}, scalars_);
    std::vector<V> known(static_cast<std::size_t>(all) * static_cast<std::size_t>(right));
    space_.read(scalars_, known);
    const Dense<W> products(all, right, known);
    const Dense<W> s = products.part(0, 0, old, middle);
    const Dense<W> squares = products.part(old, 0, middle, middle);
    Dense<W> r = cholesky(squares - adjoint(s) * s, trusted_pivots<V>(squares, old + middle));
    if (old == 0 && r.columns() == 0) r = Dense<W>::identity(1);  // not finite: others will say so
    const int kept = r.columns();
    finish_block(s, r, middle > 0 ? std::sqrt(std::real(squares(0, 0))) : 0);
    if (exhausted_) return 0;
    // What follows a vector that is cut is of no use.
    const bool cut = kept < middle;
    const int taken = cut ? 0 : given;
    const Dense<W> z = products.part(0, middle, old, taken);
    const Dense<W> inverse = solve_upper(r, Dense<W>::identity(kept));
    const Dense<W> s_kept = s.part(0, 0, old, kept);
    const Dense<W> y =
        adjoint(inverse) * (products.part(old, middle, kept, taken) - adjoint(s_kept) * z);
    const Dense<W> whole = products.part(old + middle, middle, taken, taken);
    Dense<W> p = cholesky(whole - adjoint(z) * z - adjoint(y) * y, trusted_pivots<V>(whole, all));
    single_ = taken > 0 && p.columns() == 0;
    // One vector of which little is left: it is not scaled before what is left is known better.
    if (single_) p = Dense<W>::identity(1);
    const int next = p.columns();
    move(old, s_kept, inverse, z.part(0, 0, old, next), y.part(0, 0, kept, next), p);
    done_ = old + kept;
    waiting_ = next;
    norm_ = next > 0 ? std::sqrt(std::real(whole(0, 0))) : 0;
    start_ = Dense<W>(done_, 1);
    if (cut || middle == 0) {
      start_(done_ - 1, 0) = W(1);
    } else {
      start_.set_part(0, 0, s_kept.part(0, kept - 1, old, 1));
      start_.set_part(old, 0, r.part(0, kept - 1, kept, 1));
    }
    s_ = Dense<W>(done_, next);
    s_.set_part(0, 0, z.part(0, 0, old, next));
    s_.set_part(old, 0, y.part(0, 0, kept, next));
    r_ = p;
    b_ = b.part(0, 0, next == 0 ? 0 : next + 1, next);
    return next;
  }

 private:
  using Real = decltype(std::abs(V()));

  // The block that waits is V = Q(S₁ + SP) + Q_U RP, and what of it is kept has columns of H.
  void finish_block(const Dense<W>& s, const Dense<W>& r, double norm) {
    if (b_.columns() == 0) return;  // the first vector, or none
    const int old = done_;
    exhausted_ =
        r.columns() == 0 || (single_ && norm <= 10 * std::numeric_limits<Real>::epsilon() * norm_);
    const int kept = exhausted_ ? 1 : r.columns();
    const Dense<W> p = r_.part(0, 0, kept, kept);
    const Dense<W> added = s_.part(0, 0, old, kept) + s.part(0, 0, old, kept) * p;
    const Dense<W> below = exhausted_ ? Dense<W>(0, 1) : r.part(0, 0, kept, kept) * p;
    Dense<W> g(old + below.rows(), kept + 1);
    g.set_part(0, 0, start_);
    g.set_part(0, 1, added);
    g.set_part(old, 1, below);
    append_hessenberg(h_, old - 1, g, b_.part(0, 0, kept + 1, kept));
  }

  // U becomes (U − QS)R⁻¹, and V becomes (V − QZ − UY)P⁻¹ with it.
  void move(int old, const Dense<W>& s, const Dense<W>& inverse, const Dense<W>& z,
            const Dense<W>& y, const Dense<W>& p) {
    const int kept = inverse.columns(), next = p.columns();
    if (kept + next == 0) return;
    const Dense<W> p_inverse = solve_upper(p, Dense<W>::identity(next));
    const Dense<W> projected = s * inverse, along = y * p_inverse;
    const int all = old + kept + next;
    Dense<W> by(all, kept + next);
    by.set_part(0, 0, Dense<W>(old, kept) - projected);
    by.set_part(old, 0, inverse);
    by.set_part(0, kept, projected * along - z * p_inverse);
    by.set_part(old, kept, Dense<W>(kept, next) - inverse * along);
    by.set_part(old + kept, kept, p_inverse);
    const std::vector<V> coefficients = narrowed<V>(by.values());
    space_.write(scalars_, std::span<const V>(coefficients));
    space_.transform({column(0, all), all}, scalars_, old);
  }

  Space& space_;
  typename Space::Vector columns_;
  Scalar scalars_;
  Dense<W> h_;
  int done_ = 0;     // orthonormal columns, Q
  int waiting_ = 0;  // behind them, U
  bool exhausted_ = false;
  // Of the block that waits: V = Q s_ + U r_, from v_0 = Q start_, with its B.
  Dense<W> s_, r_, b_, start_;
  double norm_ = 0;      // of its first vector before it lost what is in Q
  bool single_ = false;  // which has not been scaled
};

}  // namespace detail

// As ca_gmres.
template <class Space>
SolveResult fused_ca_gmres(Space& space, Powers<Space>& powers, typename Space::ConstView b,
                           typename Space::View x, const CaGmresOptions& options = {}) {
  using V = typename Space::Value;
  using W = Wide<V>;
  if (options.blocks < 1) throw InvalidArgument("CA-GMRES restarts after at least one block");
  const int asked = powers.power();
  const Offset room = std::max<Offset>(space.dimension(), 1);
  const int most = static_cast<int>(std::min(Offset{asked} * options.blocks, room));
  detail::DelayedArnoldi<Space> arnoldi(space, most, asked);
  const Scalar scale = space.make_scalars(most + 1);
  auto r = space.make_vector();
  detail::BlockBasis<Space> basis(powers, options.basis);
  int width = asked;

  const Operator<Space> a = [&](typename Space::ConstView from, typename Space::View to) {
    powers.multiply(from, to);
  };
  SolveLoop<Space> loop(space, a, b, x, options.solve);
  while (loop.begin_cycle(r, 0.9999)) {
    const double norm = loop.norm_of_residual();
    detail::set_first_column<Space>(space, arnoldi, r, norm, scale);
    arnoldi.restart();
    RotatedHessenberg<W> hessenberg{W(norm)};
    const int length = std::min(most, options.solve.most_iterations - loop.iterations());
    while (true) {
      const int k = arnoldi.started();
      if (arnoldi.size() >= asked) basis.learn(arnoldi.h(), arnoldi.size());
      const int tried = std::min(basis.known() ? width : 1, length - k);
      basis.extend(arnoldi, k, tried, loop);
      const int before = arnoldi.size();
      const int kept = arnoldi.append(basis.change_of(tried));
      detail::take_columns<Space>(arnoldi, before, hessenberg, loop);
      if (arnoldi.exhausted() || tried == 0 || !loop.continues()) break;
      if (kept < tried) {
        width = std::max(kept, 1);
        loop.remark(detail::narrower(tried, arnoldi.started(), width));
      }
    }
    basis.learn(arnoldi.h(), arnoldi.size());
    detail::add_solution<Space>(space, arnoldi, hessenberg, scale, x);
  }
  return loop.result();
}

}  // namespace strata::solvers

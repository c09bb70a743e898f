// CA-Lanczos: Lanczos' method with s vectors at a time, from one sweep of powers.
//
//   P = [p_1 … p_s] of v_j by a sweep;   A [v_j, p_1 … p_{s−1}] = [v_j, p_1 … p_s] B
//   P = VC + QR,  QᴴQ = I                block Gram–Schmidt and CholeskyQR, twice
//   A q_c = (A p_c − Σ A v_i C_ic − Σ_{i<c} A q_i R_ic) / R_cc      on the host, by H and B
//
//   M. Hoemmen, Communication-avoiding Krylov subspace methods, PhD thesis, Berkeley 2010, chapter
//   4 Y. Yamamoto, Y. Nakatsukasa, Y. Yanagisawa, T. Fukaya, Roundoff error analysis of the
//   CholeskyQR2 algorithm, Electron. Trans. Numer. Anal. 44, 2015
//
// The vectors are those of Chebyshev's basis on the bounds of the spectrum. R says how well they
// are told apart: those from which on that is no more the case are dropped, and where that happens
// again and again, s becomes smaller, which the result remarks. s vectors take s products, four
// passes over the basis and four over the block; the host waits twice.
#pragma once

#include "strata/solvers/krylov_basis.hpp"
#include "strata/solvers/lanczos.hpp"
#include "strata/solvers/powers.hpp"
#include "strata/solvers/spectrum_bounds.hpp"

namespace strata::solvers {

namespace detail {

template <class Space>
class BlockExpansion {
 public:
  using V = typename Space::Value;
  using W = Wide<V>;
  using Krylov = KrylovSpace<Space>;

  BlockExpansion(Space& space, Powers<Space>& powers, const Basis& basis, int s, int most,
                 double tolerance)
      : powers_(powers),
        s_(s),
        b_(change_of_basis<V>(basis, s)),
        first_(space.make_scalars(2 * (most + 1 + s) * s)),
        // Rounding of a product is amplified by 1/R_cc; see below.
        least_(
            std::clamp(10 * Krylov::kEpsilon / tolerance, 30 * std::sqrt(Krylov::kEpsilon), 0.1)) {
    powers.set_basis(basis);
  }

  int s() const { return s_; }
  const std::vector<std::string>& remarks() const { return remarks_; }

  int operator()(Krylov& krylov) {
    const int count = std::min(krylov.most() - krylov.size(), s_);
    if (count == 1) return single(krylov);
    powers_.apply_first(count, krylov.column(krylov.size()),
                        krylov.columns(krylov.size() + 1, count));
    const int grown = orthogonalise(krylov, count);
    if (grown < count && ++dependent_ == 3) use_fewer(grown);
    // Nothing new in the first of them: the space may be invariant, which a single step finds out.
    return count + (grown == 0 ? single(krylov) : 0);
  }

 private:
  int single(Krylov& krylov) {
    krylov.expand(
        [&](typename Space::ConstView x, typename Space::View y) { powers_.multiply(x, y); });
    return 1;
  }

  void use_fewer(int grown) {
    const int fewer = std::max(grown, s_ / 2);
    remarks_.push_back(fmt::format(
        "{} vectors at a time could not be told apart well enough; went on with {}", s_, fewer));
    s_ = fewer;
    dependent_ = 0;
  }

  // The columns after v_size become orthonormal, to each other and to the basis, as far as they can
  // be told apart; H gets their columns. Returns how many there are.
  int orthogonalise(Krylov& krylov, int candidates) {
    Space& space = krylov.space();
    const int old = krylov.size() + 1;
    const auto block = [&](int count) {
      return typename Space::Block(krylov.columns(old, count), count);
    };
    const auto project = [&](int count) -> std::pair<Dense<W>, Dense<W>> {
      const Scalar among = first_ + old * count;
      space.gram(krylov.vectors(old), block(count), first_);
      space.add_product(V(-1), krylov.vectors(old), first_, block(count));
      space.gram(block(count), block(count), among);
      std::vector<V> known(static_cast<std::size_t>((old + count) * count));
      space.read(first_, known);
      const auto at = static_cast<std::size_t>(old * count);
      return {
          Dense<W>(old, count, known),
          Dense<W>(count, count,
                   std::vector<V>(known.begin() + static_cast<std::ptrdiff_t>(at), known.end()))};
    };
    const auto divide = [&](const Dense<W>& r) {
      const Dense<W> inverse = solve_upper(r, Dense<W>::identity(r.columns()));
      std::vector<V> rotation;
      for (int j = 0; j < r.columns(); ++j) {
        for (int i = 0; i < r.columns(); ++i) rotation.push_back(V(inverse(i, j)));
      }
      space.write(first_, rotation);
      space.transform(block(r.columns()), first_);
    };

    const auto [c_first, gram] = project(candidates);
    const Dense<W> r_first = distinct(c_first, gram);
    const int count = r_first.columns();
    if (count == 0) return 0;
    divide(r_first);
    const auto [c_second, rest] = project(count);
    const std::vector<double> any(static_cast<std::size_t>(count));
    const Dense<W> r_second = cholesky(rest, any);
    if (r_second.columns() < count) return 0;
    divide(r_second);
    enter(krylov, c_first.part(0, 0, old, count) + c_second * r_first, r_second * r_first);
    krylov.grown(count);
    return count;
  }

  // The factor of the vectors that can be told apart: each keeps enough of its length beside all
  // before it, and R⁻¹, by which the rounding of products grows on its way into H, is no larger
  // than that allows.
  Dense<W> distinct(const Dense<W>& c, const Dense<W>& gram) const {
    std::vector<double> least;
    double longest = 0;
    for (int k = 0; k < gram.columns(); ++k) {
      double square = std::real(gram(k, k));
      for (int i = 0; i < c.rows(); ++i) square += std::norm(c(i, k));
      least.push_back(least_ * least_ * square);
      longest = std::max(longest, std::sqrt(square));
    }
    const Dense<W> r = cholesky(gram, least);
    if (r.columns() == 0) return r;
    const Dense<W> inverse = solve_upper(r, Dense<W>::identity(r.columns()));
    int count = 0;
    double sum = 0;
    for (; count < r.columns(); ++count) {
      for (int i = 0; i <= count; ++i) sum += std::norm(inverse(i, count));
      if (!(std::sqrt(sum) * longest * least_ <= 1)) break;
    }
    return r.part(0, 0, count, count);
  }

  // H's columns of v_j and of all new vectors but the last.
  void enter(Krylov& krylov, const Dense<W>& c, const Dense<W>& r) {
    const int old = c.rows(), count = r.columns(), all = old + count;
    Dense<W> m(all, count + 1);  // [v_j, P] in the new basis
    m(old - 1, 0) = W(1);
    m.set_part(0, 1, c);
    m.set_part(old, 1, r);
    const Dense<W> k = m * b_.part(0, 0, count + 1, count);
    Dense<W>& h = krylov.h();
    for (int column = 0; column < count; ++column) {
      const int target = old - 1 + column;
      for (int row = 0; row < all; ++row) {
        W sum = k(row, column);
        if (column > 0) {
          for (int i = 0; i < old; ++i) sum -= h(row, i) * c(i, column - 1);
          for (int i = 0; i + 1 < column; ++i) sum -= h(row, old + i) * r(i, column - 1);
          sum /= r(column - 1, column - 1);
        }
        h(row, target) = sum;
      }
    }
  }

  Powers<Space>& powers_;
  int s_ = 1;
  Dense<W> b_;
  Scalar first_;
  double least_ = 0;
  int dependent_ = 0;  // sweeps with vectors that were dropped
  std::vector<std::string> remarks_;
};

}  // namespace detail

struct CaLanczosOptions {
  EigenOptions eigen = {};
  int s = 8;  // vectors at a time, as many as the powers have or fewer
};

// `vectors`, of count columns, gets the eigenvectors; `dimension` is the number of rows without
// padded ones. The bounds hold the spectrum.
template <class Space>
EigenResult ca_lanczos(Space& space, Powers<Space>& powers, const SpectrumBounds& bounds,
                       const RandomVector<Space>& random, Offset dimension,
                       typename Space::View vectors, const CaLanczosOptions& options = {}) {
  if (options.s < 1) throw InvalidArgument("s is at least 1");
  const EigenOptions& eigen = options.eigen;
  const int size = subspace_size(eigen, dimension);
  // No more vectors at a time than a restart leaves room for.
  const int s =
      std::clamp(std::min(options.s, powers.power()), 1, std::max((size - eigen.count + 1) / 2, 1));
  std::vector<std::string> remarks;
  if (s < options.s) {
    remarks.push_back(fmt::format("s is {}: a subspace of {} vectors has no room for {} at a time",
                                  s, size, options.s));
  }
  const SpectrumBounds wide = bounds.widened(1e-3);
  const Basis basis = Basis::chebyshev(wide.low, wide.high);
  KrylovSpace<Space> krylov(space, random, size, dimension, eigen.seed);
  krylov.note_scale(std::max(std::abs(bounds.smallest), std::abs(bounds.largest)));
  detail::BlockExpansion<Space> expand(space, powers, basis, s, size, eigen.tolerance);
  const Operator<Space> a = [&](typename Space::ConstView x, typename Space::View y) {
    powers.multiply(x, y);
  };
  EigenResult result = ThickRestart(krylov, a, expand, eigen, vectors).run();
  remarks.insert(remarks.end(), expand.remarks().begin(), expand.remarks().end());
  if (result.status == SolveStatus::stagnated && expand.s() > 1) {
    remarks.push_back(
        fmt::format("with s = {} {}; began again with single steps", expand.s(), result.message));
    EigenResult again = lanczos(space, a, random, dimension, vectors, eigen);
    again.products += result.products;
    again.restarts += result.restarts;
    for (EigenIteration each : again.history) {
      each.number += result.restarts;
      each.products += result.products;
      result.history.push_back(each);
    }
    again.history = std::move(result.history);
    result = std::move(again);
  }
  result.remarks.insert(result.remarks.begin(), remarks.begin(), remarks.end());
  return result;
}

}  // namespace strata::solvers

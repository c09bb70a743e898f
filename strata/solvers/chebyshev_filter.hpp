// Chebyshev filter diagonalisation: eigenpairs of a Hermitian matrix inside an interval, or nearest
// to a number, wherever in the spectrum.
//
//   W = f(A) U               f: 1 in the interval, 0 outside, as a damped Chebyshev series
//   WᴴW = X Σ Xᴴ,  Q = W X Σ^{−1/2},  QᴴAQ = Y Θ Yᴴ,  U = QY         (Rayleigh–Ritz)
//   until ‖AU − UΘ‖ is small for all Θ in the interval
//
//   A. Pieper et al., High-performance implementation of Chebyshev filter diagonalization for
//   interior eigenvalue computations, J. Comput. Phys. 325, 2016
//   A. Stathopoulos, K. Wu, A block orthogonalization procedure with constant synchronization
//   requirements, SIAM J. Sci. Comput. 23, 2002 (orthogonalisation by the eigenvalues of WᴴW)
//
// The vectors come in interleaved blocks; f(A) of a block is one sweep that never stores its
// powers. An iteration takes `degree` + 2 products with each vector; the host waits twice. Memory
// has all vectors twice.
#pragma once

#include <optional>

#include "strata/base/checked.hpp"
#include "strata/solvers/chebyshev_series.hpp"
#include "strata/solvers/powers.hpp"
#include "strata/solvers/spectrum_bounds.hpp"
#include "strata/solvers/thick_restart.hpp"

namespace strata::solvers {

struct FilterOptions {
  EigenOptions eigen = {};            // its count matters where there is a target
  ChebyshevInterval window = {};      // of the filter
  std::optional<double> target = {};  // the `count` nearest to it; none: all in the window
  Offset dimension = 0;               // rows without padded ones
  int blocks = 1;
  int width = 8;  // vectors of a block, as the powers have them
};

template <class Space>
struct FilteredPairs {
  EigenResult result;
  typename Space::Vector vectors;  // blocks, one after another, interleaved inside
  std::vector<int> columns;        // where in them the eigenvectors are
  bool too_few = false;            // vectors for the interval
};

// The filter has the degree powers.power(). `random` fills a block.
template <class Space>
class FilteredSubspace {
 public:
  using V = typename Space::Value;
  using W = Wide<V>;
  using Real = decltype(std::abs(V()));
  using View = typename Space::View;

  FilteredSubspace(Space& space, Powers<Space>& powers, const SpectrumBounds& bounds,
                   const RandomVector<Space>& random, const FilterOptions& options)
      : space_(space),
        powers_(powers),
        options_(options),
        width_(options.width),
        all_(options.width * options.blocks),
        norm_(std::max(std::abs(bounds.smallest), std::abs(bounds.largest))),
        u_(space.make_block(all_)),
        w_(space.make_block(all_)),
        z_(space.make_block(width_)),
        first_(space.make_scalars(
            narrow<int>(Offset{all_} * (2 * Offset{all_} + width_), "inner products of vectors"))) {
    const ChebyshevInterval interval{bounds.low, bounds.high};
    const int degree = powers.power();
    const auto series = window_series(options.window, interval, degree);
    const auto damping = jackson_damping(degree + 1);
    for (std::size_t k = 0; k < series.size(); ++k) {
      coefficients_.push_back(V(static_cast<Real>(series[k] * damping[k])));
    }
    powers.set_basis(Basis::chebyshev(interval.low, interval.high));
    for (int b = 0; b < options.blocks; ++b) {
      random(block(u_, b), options.eigen.seed + static_cast<std::uint64_t>(b));
    }
  }

  FilteredPairs<Space> run() {
    FilteredPairs<Space> pairs;
    result_.norm = norm_;
    std::vector<double> worst_before;
    std::size_t count_before = 0;
    while (true) {
      filter();
      if (!rayleigh_ritz()) {
        end(SolveStatus::not_finite, "products with the matrix are not finite");
        break;
      }
      find_residuals();
      choose();
      const double worst = report();
      const bool steady = result_.restarts > 1 && wanted_.size() == count_before;
      count_before = wanted_.size();
      if (!options_.target && wanted_.size() == static_cast<std::size_t>(all_) &&
          all_ < options_.dimension) {
        pairs.too_few = true;
        end(SolveStatus::breakdown,
            fmt::format("{} vectors are too few for the interval, which has at least as many "
                        "eigenvalues",
                        all_));
        break;
      }
      if (worst <= options_.eigen.tolerance && steady) {
        end(SolveStatus::converged, "");
        break;
      }
      if (options_.eigen.progress && !options_.eigen.progress(result_.history.back())) {
        end(SolveStatus::stopped, fmt::format("stopped after {} products", result_.products));
        break;
      }
      if (result_.products >= options_.eigen.most_products) {
        end(SolveStatus::most_iterations,
            fmt::format("{} products were not enough", result_.products));
        break;
      }
      worst_before.push_back(worst);
      const std::size_t done = worst_before.size();
      if (steady && done > 4 && worst > 0.5 * worst_before[done - 4]) {
        pairs.too_few = worst > 1e3 * std::numeric_limits<Real>::epsilon();
        end(SolveStatus::stagnated,
            fmt::format("a residual stays at {:.1e}; {}", worst,
                        pairs.too_few ? "more vectors or a higher degree may help"
                                      : "the matrix allows no more in this precision"));
        break;
      }
    }
    for (const int k : wanted_) {
      result_.values.push_back(values_[static_cast<std::size_t>(k)]);
      result_.residuals.push_back(residuals_[static_cast<std::size_t>(k)]);
    }
    pairs.result = std::move(result_);
    pairs.vectors = std::move(u_);
    pairs.columns = wanted_;
    return pairs;
  }

 private:
  View block(typename Space::Vector& of, int b) {
    const auto size = static_cast<std::size_t>(space_.rows()) * static_cast<std::size_t>(width_);
    return View(of).subspan(static_cast<std::size_t>(b) * size, size);
  }
  typename Space::Block operand(typename Space::Vector& of, int b) {
    return {block(of, b), width_, true};
  }
  typename Space::Block operand_z() { return {View(z_), width_, true}; }

  void end(SolveStatus status, std::string message) {
    result_.status = status;
    result_.message = std::move(message);
  }

  void filter() {
    for (int b = 0; b < options_.blocks; ++b) {
      powers_.apply_sum(block(u_, b), coefficients_, block(w_, b));
    }
    result_.products += Offset{powers_.power()} * all_;
  }

  // Where the numbers of a pair of blocks are among all.
  Scalar pair(int number) const { return first_ + number * width_ * width_; }
  // So many matrices of inner products, of one pair of blocks each, in one reading.
  std::vector<Dense<W>> read_pairs(int count) {
    const auto size = static_cast<std::size_t>(width_ * width_);
    std::vector<V> known(static_cast<std::size_t>(count) * size);
    space_.read(first_, known);
    std::vector<Dense<W>> pairs;
    for (auto at = known.begin(); at != known.end(); at += width_ * width_) {
      pairs.emplace_back(width_, width_, std::vector<V>(at, at + width_ * width_));
    }
    return pairs;
  }

  // U = the Ritz vectors of the space of W. False where something is not finite.
  bool rayleigh_ritz() {
    Dense<W> s(all_, all_), h(all_, all_);
    const int blocks = options_.blocks;
    for (int b = 0; b < blocks; ++b) {
      powers_.multiply(block(w_, b), View(z_));
      for (int a = 0; a < blocks; ++a) {
        space_.gram(operand(w_, a), operand(w_, b), pair(2 * (b * blocks + a)));
        space_.gram(operand(w_, a), operand_z(), pair(2 * (b * blocks + a) + 1));
      }
    }
    const std::vector<Dense<W>> products = read_pairs(2 * blocks * blocks);
    for (int b = 0; b < blocks; ++b) {
      for (int a = 0; a < blocks; ++a) {
        const auto at = static_cast<std::size_t>(2 * (b * blocks + a));
        s.set_part(a * width_, b * width_, products[at]);
        h.set_part(a * width_, b * width_, products[at + 1]);
      }
    }
    result_.products += all_;
    std::vector<double> lengths;
    for (int k = 0; k < all_; ++k) {
      lengths.push_back(std::sqrt(std::real(s(k, k))));
      if (!std::isfinite(lengths.back()) || !std::isfinite(std::abs(h(k, k)))) return false;
    }
    // Columns of length 1, so that small ones are not taken for dependent ones.
    for (int j = 0; j < all_; ++j) {
      for (int i = 0; i < all_; ++i) {
        const double by =
            lengths[static_cast<std::size_t>(i)] * lengths[static_cast<std::size_t>(j)];
        s(i, j) = by > 0 ? s(i, j) / by : W(0);
        h(i, j) = by > 0 ? h(i, j) / by : W(0);
      }
    }
    const HermitianEigen<W> metric = hermitian_eigen(s);
    const double least =
        std::max(1e3 * std::numeric_limits<Real>::epsilon(), 1e-14) * metric.values.back();
    int dropped = 0;
    while (dropped < all_ && !(metric.values[static_cast<std::size_t>(dropped)] > least)) ++dropped;
    const int rank = all_ - dropped;
    Dense<W> q = metric.vectors.part(0, dropped, all_, rank);
    for (int j = 0; j < rank; ++j) {
      const double by = 1 / std::sqrt(metric.values[static_cast<std::size_t>(dropped + j)]);
      for (int i = 0; i < all_; ++i) q(i, j) *= by;
    }
    Dense<W> projected = adjoint(q) * (h * q);
    for (int j = 0; j < rank; ++j) {
      for (int i = 0; i <= j; ++i) {
        const W mean = (projected(i, j) + conjugate_of(projected(j, i))) * 0.5;
        projected(i, j) = mean;
        projected(j, i) = conjugate_of(mean);
      }
    }
    const HermitianEigen<W> ritz = hermitian_eigen(projected);
    values_ = ritz.values;
    Dense<W> c(all_, all_);  // what is dropped becomes 0
    c.set_part(0, 0, q * ritz.vectors);
    for (int i = 0; i < all_; ++i) {
      const double length = lengths[static_cast<std::size_t>(i)];
      for (int j = 0; j < rank; ++j) c(i, j) = length > 0 ? c(i, j) / length : W(0);
    }
    std::vector<V> values;
    for (int b = 0; b < blocks; ++b) {
      for (int a = 0; a < blocks; ++a) {
        append(values, c.part(a * width_, b * width_, width_, width_));
      }
    }
    space_.write(first_, values);
    for (int b = 0; b < blocks; ++b) {
      View target = block(u_, b);
      clear(target);
      for (int a = 0; a < blocks; ++a) {
        space_.add_product(V(1), operand(w_, a), pair(b * blocks + a), operand(u_, b));
      }
    }
    return true;
  }

  void find_residuals() {
    const int blocks = options_.blocks;
    std::vector<V> values;
    for (int b = 0; b < blocks; ++b) {
      Dense<W> theta(width_, width_);
      for (int k = 0; k < width_; ++k) theta(k, k) = W(value(b * width_ + k));
      append(values, theta);
    }
    const Scalar thetas = pair(2 * blocks * blocks);  // behind all inner products
    space_.write(thetas, values);
    for (int b = 0; b < blocks; ++b) {
      powers_.multiply(block(u_, b), View(z_));
      space_.add_product(V(-1), operand(u_, b), thetas + b * width_ * width_, operand_z());
      space_.gram(operand_z(), operand_z(), pair(2 * b));
      space_.gram(operand(u_, b), operand(u_, b), pair(2 * b + 1));
    }
    const std::vector<Dense<W>> products = read_pairs(2 * blocks);
    residuals_.clear();
    for (int k = 0; k < static_cast<int>(values_.size()); ++k) {
      const auto at = static_cast<std::size_t>(2 * (k / width_));
      const int column = k % width_;
      const double residual = std::sqrt(std::real(products[at](column, column)) /
                                        std::real(products[at + 1](column, column)));
      residuals_.push_back(norm_ > 0 ? residual / norm_ : residual);
    }
    result_.products += all_;
  }

  void choose() {
    wanted_.clear();
    for (int k = 0; k < static_cast<int>(values_.size()); ++k) {
      const double at = value(k);
      if (options_.target || (at >= options_.window.low && at <= options_.window.high)) {
        wanted_.push_back(k);
      }
    }
    if (!options_.target) return;
    const auto distance = [&](int k) { return std::abs(value(k) - *options_.target); };
    std::stable_sort(wanted_.begin(), wanted_.end(),
                     [&](int a, int b) { return distance(a) < distance(b); });
    wanted_.resize(std::min(wanted_.size(), static_cast<std::size_t>(options_.eigen.count)));
    std::sort(wanted_.begin(), wanted_.end());
  }

  double report() {
    EigenIteration now{.number = ++result_.restarts, .products = result_.products};
    for (const int k : wanted_) {
      const double residual = residuals_[static_cast<std::size_t>(k)];
      now.converged += residual <= options_.eigen.tolerance ? 1 : 0;
      now.residual = std::max(now.residual, residual);
    }
    result_.history.push_back(now);
    return now.residual;
  }

  double value(int k) const {
    return k < static_cast<int>(values_.size()) ? values_[static_cast<std::size_t>(k)] : 0;
  }
  static W conjugate_of(const W& value) {
    if constexpr (is_complex<W>) return std::conj(value);
    return value;
  }
  static void append(std::vector<V>& values, const Dense<W>& matrix) {
    for (int j = 0; j < matrix.columns(); ++j) {
      for (int i = 0; i < matrix.rows(); ++i) values.push_back(V(matrix(i, j)));
    }
  }
  // A block is as long as its vectors together.
  void clear(View target) {
    const auto rows = static_cast<std::size_t>(space_.rows());
    for (int k = 0; k < width_; ++k) {
      View part = target.subspan(static_cast<std::size_t>(k) * rows, rows);
      VectorProgram<V> program;
      program.set(part, {});
      space_.run(program);
    }
  }

  Space& space_;
  Powers<Space>& powers_;
  FilterOptions options_;
  int width_ = 8;
  int all_ = 8;
  double norm_ = 0;
  typename Space::Vector u_, w_, z_;
  Scalar first_;
  std::vector<V> coefficients_;
  std::vector<double> values_, residuals_;
  std::vector<int> wanted_;
  EigenResult result_;
};

}  // namespace strata::solvers

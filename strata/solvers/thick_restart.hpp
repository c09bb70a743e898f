// Thick restarts: extreme eigenpairs of a Hermitian matrix from Krylov spaces of bounded size. What
// Lanczos' method (lanczos.hpp) and its s-step form (ca_lanczos.hpp) have in common; they differ in
// how a basis grows.
//
//   A [v_0 … v_{m−1}] = [v_0 … v_m] H             the basis, orthonormal; H has one row more
//   T = (H + Hᴴ)/2 without its last row,  T Z = Z Θ          Ritz values
//   |H's last row · z_i| = ‖A x_i − θ_i x_i‖,  x_i = V z_i   their residuals
//   restart:  [x_1 … x_l, v_m] is a basis of the same kind,  H = [Θ; last row · Z]
//
//   K. Wu, H. Simon, Thick-restart Lanczos method for large symmetric eigenvalue problems, SIAM J.
//   Matrix Anal. Appl. 22, 2000
//
// Every cycle costs the products of its new vectors, two passes over the basis for each of them,
// and one that rotates it. Memory has the basis and the vectors that are wanted.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "strata/solvers/dense.hpp"
#include "strata/solvers/eigen_result.hpp"
#include "strata/solvers/method.hpp"

namespace strata::solvers {

// Fills a vector with random numbers of this seed, and with 0 where rows are padded.
template <class Space>
using RandomVector = std::function<void(typename Space::View target, std::uint64_t seed)>;

// The basis with its H. All vectors are in one block, of which the host knows nothing but products.
template <class Space>
class KrylovSpace {
 public:
  using V = typename Space::Value;
  using W = Wide<V>;
  using Real = decltype(std::abs(V()));
  using View = typename Space::View;
  using ConstView = typename Space::ConstView;
  static constexpr double kEpsilon = std::numeric_limits<Real>::epsilon();

  // At most `most` columns of H, and no more than the matrix has rows.
  KrylovSpace(Space& space, const RandomVector<Space>& random, int most, Offset dimension,
              std::uint64_t seed)
      : space_(space),
        random_(random),
        most_(static_cast<int>(std::min<Offset>(most, dimension))),
        dimension_(dimension),
        seed_(seed),
        basis_(space.make_block(most_ + 1)),
        first_(space.make_scalars(2 * (most_ + 1) * (most_ + 1) + 2)),
        h_(most_ + 1, most_) {
    random_next();
  }

  Space& space() { return space_; }
  int size() const { return size_; }  // columns of H that are known; v_size exists unless exhausted
  int most() const { return most_; }
  bool full() const { return size_ == most_ || exhausted_; }
  bool exhausted() const { return exhausted_; }  // the space is all there is
  Dense<W>& h() { return h_; }
  Scalar scalars() const { return first_; }

  View column(int k) { return columns(k, 1); }
  View columns(int k, int count) {
    const auto rows = static_cast<std::size_t>(space_.rows());
    return View(basis_).subspan(static_cast<std::size_t>(k) * rows,
                                static_cast<std::size_t>(count) * rows);
  }
  typename Space::ConstBlock vectors(int count) { return {columns(0, count), count}; }

  // One step: w = Av, orthogonalised twice against all vectors (classical Gram–Schmidt).
  template <class Multiply>
  void expand(const Multiply& multiply) {
    const int j = size_;
    View w = column(j + 1);
    multiply(column(j), w);
    const auto [h, length] = orthogonalise(w, j + 1);
    double norm = length * length;
    for (int i = 0; i <= j; ++i) {
      h_(i, j) = h[static_cast<std::size_t>(i)];
      norm += std::norm(h_(i, j));
    }
    scale_ = std::max(scale_, std::sqrt(norm));
    ++size_;
    if (!std::isfinite(length) || !std::isfinite(norm)) {
      finite_ = false;
    } else if (length <= 20 * kEpsilon * scale_) {  // the space is invariant
      h_(j + 1, j) = W(0);
      random_next();
    } else {
      h_(j + 1, j) = W(length);
      scale(w, 1 / length);
    }
  }
  bool finite() const { return finite_; }

  // v_size … v_{size+r−1} are orthonormal to all before, and H's columns are known.
  void grown(int by) { size_ += by; }
  // The norm of the matrix is at least this, for what is negligible.
  void note_scale(double scale) { scale_ = std::max(scale_, scale); }

  struct Ritz {
    std::vector<double> values;     // ascending
    std::vector<double> residuals;  // by H's last row
    Dense<W> vectors;
  };
  Ritz ritz() const {
    Dense<W> t(size_, size_);
    for (int j = 0; j < size_; ++j) {
      for (int i = 0; i < size_; ++i) t(i, j) = (h_(i, j) + conjugate_of(h_(j, i))) * 0.5;
    }
    HermitianEigen<W> eigen = hermitian_eigen(t);
    Ritz ritz{std::move(eigen.values), std::vector<double>(static_cast<std::size_t>(size_)),
              std::move(eigen.vectors)};
    if (exhausted_) return ritz;
    for (int k = 0; k < size_; ++k) {
      ritz.residuals[static_cast<std::size_t>(k)] = std::abs(coupling(ritz, k));
    }
    return ritz;
  }

  // The Ritz vectors `kept` and v_size, or, `anew`, a random vector: these must have converged.
  void restart(const Ritz& ritz, const std::vector<int>& kept, bool anew) {
    const int size = size_, left = static_cast<int>(kept.size());
    std::vector<int> order = kept;
    for (int k = 0; k < size; ++k) {
      if (std::find(kept.begin(), kept.end(), k) == kept.end()) order.push_back(k);
    }
    std::vector<V> rotation(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
    for (int j = 0; j < size; ++j) {
      for (int i = 0; i < size; ++i) {
        rotation[static_cast<std::size_t>(j * size + i)] =
            V(ritz.vectors(i, order[static_cast<std::size_t>(j)]));
      }
    }
    space_.write(first_, rotation);
    space_.transform({columns(0, size), size}, first_);
    Dense<W> h(most_ + 1, most_);
    for (int k = 0; k < left; ++k) {
      const int of = kept[static_cast<std::size_t>(k)];
      h(k, k) = W(ritz.values[static_cast<std::size_t>(of)]);
      if (!anew && !exhausted_) h(left, k) = coupling(ritz, of);
    }
    if (!anew && left != size) {
      View target = column(left);
      VectorProgram<V> copy;
      copy.set(target, {{column(size)}});
      space_.run(copy);
    }
    h_ = std::move(h);
    size_ = left;
    if (anew) random_next();
  }

  // X = [x_k], of the Ritz vectors `of`.
  void ritz_vectors(const Ritz& ritz, const std::vector<int>& of, View target) {
    const int count = static_cast<int>(of.size());
    std::vector<V> rotation(static_cast<std::size_t>(size_) * of.size());
    for (int j = 0; j < count; ++j) {
      for (int i = 0; i < size_; ++i) {
        rotation[static_cast<std::size_t>(j * size_ + i)] =
            V(ritz.vectors(i, of[static_cast<std::size_t>(j)]));
      }
    }
    const auto rows = static_cast<std::size_t>(space_.rows());
    for (int j = 0; j < count; ++j) {
      View x = target.subspan(static_cast<std::size_t>(j) * rows, rows);
      VectorProgram<V> clear;
      clear.set(x, {});
      space_.run(clear);
    }
    space_.write(first_, rotation);
    space_.add_product(V(1), vectors(size_), first_, {target, count});
  }

 private:
  static W conjugate_of(const W& value) {
    if constexpr (is_complex<W>) return std::conj(value);
    return value;
  }
  W coupling(const Ritz& ritz, int k) const {
    W sum(0);
    for (int i = 0; i < size_; ++i) sum += h_(size_, i) * ritz.vectors(i, k);
    return sum;
  }

  // Subtracts the first `count` vectors from w twice; what was subtracted, and the length left.
  std::pair<std::vector<W>, double> orthogonalise(View w, int count) {
    const Scalar again = first_ + count, square = again + count;
    space_.gram(vectors(count), {w, 1}, first_);
    space_.add_product(V(-1), vectors(count), first_, {w, 1});
    space_.gram(vectors(count), {w, 1}, again);
    space_.add_product(V(-1), vectors(count), again, {w, 1});
    VectorProgram<V> measure;
    measure.dot(w, w, square);
    space_.run(measure);
    std::vector<V> known(2 * static_cast<std::size_t>(count) + 1);
    space_.read(first_, known);
    std::vector<W> h(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < h.size(); ++i) h[i] = W(known[i]) + W(known[h.size() + i]);
    return {std::move(h), std::sqrt(static_cast<double>(std::real(known.back())))};
  }

  void scale(View w, double by) {
    space_.write(first_, V(static_cast<Real>(by)));
    VectorProgram<V> program;
    program.set(w, {{w, first_}});
    space_.run(program);
  }

  // v_size: random, orthogonal to all before.
  void random_next() {
    const int count = size_;
    if (count >= dimension_ || count > most_) {
      exhausted_ = count >= dimension_;
      return;
    }
    View w = column(count);
    for (int attempt = 0; attempt < 5; ++attempt) {
      random_(w, seed_++);
      VectorProgram<V> measure;
      measure.dot(w, w, first_);
      space_.run(measure);
      const double before = std::sqrt(static_cast<double>(std::real(space_.read(first_))));
      if (!(before > 0)) continue;
      scale(w, 1 / before);
      double length = 1;
      if (count > 0) {
        length = orthogonalise(w, count).second;
        if (!(length > 1e3 * kEpsilon)) continue;
        scale(w, 1 / length);
        length = orthogonalise(w, count).second;  // a short rest has lost digits
      }
      scale(w, 1 / length);
      return;
    }
    exhausted_ = true;
  }

  Space& space_;
  RandomVector<Space> random_;
  int most_ = 0;
  Offset dimension_ = 0;
  std::uint64_t seed_ = 0;
  typename Space::Vector basis_;
  Scalar first_;
  Dense<W> h_;
  int size_ = 0;
  double scale_ = 0;
  bool exhausted_ = false;
  bool finite_ = true;
};

// Which of `size` Ritz values in ascending order are wanted: so many at either end.
struct Ends {
  int low = 0;
  int high = 0;

  static Ends of(Wanted which, int count) {
    switch (which) {
      case Wanted::largest: return {0, count};
      case Wanted::smallest: return {count, 0};
      case Wanted::both: break;
    }
    return {count / 2, count - count / 2};
  }
  int count() const { return low + high; }
  // As EigenResult::values has them.
  std::vector<int> indices(int size) const {
    std::vector<int> wanted;
    for (int k = 0; k < std::min(low, size); ++k) wanted.push_back(k);
    for (int k = std::max(size - high, std::min(low, size)); k < size; ++k) wanted.push_back(k);
    if (low == 0) std::reverse(wanted.begin(), wanted.end());
    return wanted;
  }
  // Some more at the ends that are wanted, for restarts.
  Ends extended(int by) const {
    if (low == 0) return {0, high + by};
    if (high == 0) return {low + by, 0};
    return {low + by / 2, high + by - by / 2};
  }
};

// `expand(krylov)` adds at least one vector to a basis that is not full and returns how many
// products that took. `vectors`, of options.count columns, gets the eigenvectors.
template <class Space, class Expand>
class ThickRestart {
 public:
  using V = typename Space::Value;
  using View = typename Space::View;
  using Ritz = typename KrylovSpace<Space>::Ritz;

  ThickRestart(KrylovSpace<Space>& krylov, const Operator<Space>& a, Expand& expand,
               const EigenOptions& options, View vectors)
      : krylov_(krylov),
        a_(a),
        expand_(expand),
        options_(options),
        vectors_(vectors),
        ends_(Ends::of(options.which, options.count)),
        product_(krylov.space().make_vector()),
        squares_(krylov.space().make_scalars(2)) {}

  EigenResult run() {
    double target = options_.tolerance, checked = std::numeric_limits<double>::infinity();
    while (true) {
      while (!krylov_.full() && krylov_.finite()) result_.products += expand_(krylov_);
      if (!krylov_.finite()) return ended(SolveStatus::not_finite, "products are not finite");
      const Ritz ritz = krylov_.ritz();
      const bool goes_on = report(ritz, target);
      const bool all_there = result_.history.back().converged == ends_.count();
      if (!goes_on || result_.products >= options_.most_products) return cut_off(ritz, goes_on);
      if (!improves()) {
        check(ritz);
        return ended(SolveStatus::stagnated,
                     fmt::format("the estimates of residuals stay at {:.1e} or above", best_));
      }
      if (all_there && (!probing_ || separated(ritz))) {
        const double worst = check(ritz);
        if (worst <= options_.tolerance) {
          if (krylov_.exhausted() || !options_.find_copies || (probing_ && nothing_new(ritz))) {
            return ended(SolveStatus::converged, "");
          }
          probing_ = true;
          found_ = result_.values;
          krylov_.restart(ritz, ends_.indices(krylov_.size()), /*anew=*/true);
          continue;
        }
        if (worst > 0.5 * checked || krylov_.exhausted()) {
          return ended(SolveStatus::stagnated,
                       fmt::format("a residual stays at {:.1e}, whatever its estimate says; the "
                                   "matrix allows no more in this precision",
                                   worst));
        }
        checked = worst;
        target *= 0.1;
      }
      const int size = krylov_.size();
      const Ends kept = ends_.extended((size - ends_.count()) / 2);
      krylov_.restart(ritz, kept.indices(size), /*anew=*/false);
    }
  }

 private:
  EigenResult ended(SolveStatus status, std::string message) {
    result_.status = status;
    result_.message = std::move(message);
    return std::move(result_);
  }
  EigenResult cut_off(const Ritz& ritz, bool by_products) {
    if (check(ritz) <= options_.tolerance) {
      if (!krylov_.exhausted() && options_.find_copies) {
        result_.remarks.push_back("ended before further copies of eigenvalues could be ruled out");
      }
      return ended(SolveStatus::converged, "");
    }
    return by_products ? ended(SolveStatus::most_iterations,
                               fmt::format("{} products were not enough", result_.products))
                       : ended(SolveStatus::stopped,
                               fmt::format("stopped after {} products", result_.products));
  }

  // Appends to the history. False: progress says that this is enough.
  bool report(const Ritz& ritz, double target) {
    for (const double value : ritz.values) {
      result_.norm = std::max(result_.norm, std::abs(value));
    }
    // Estimates below that of rounding say nothing.
    const double reachable = std::max(target, 10 * KrylovSpace<Space>::kEpsilon);
    EigenIteration now{.number = ++result_.restarts, .products = result_.products};
    for (const int k : ends_.indices(krylov_.size())) {
      const double residual = relative(ritz.residuals[static_cast<std::size_t>(k)]);
      now.converged += residual <= reachable ? 1 : 0;
      now.residual = std::max(now.residual, residual);
    }
    result_.history.push_back(now);
    return !options_.progress || options_.progress(now);
  }

  // Whether the largest residual has become smaller within so many restarts; looking for further
  // copies begins again.
  bool improves() {
    constexpr int kMostInVain = 200;
    const double now = result_.history.back().residual;
    in_vain_ = now < 0.9 * best_ || probing_ ? 0 : in_vain_ + 1;
    best_ = std::min(best_, now);
    return in_vain_ < kMostInVain;
  }

  double relative(double residual) const {
    return result_.norm > 0 ? residual / result_.norm : residual;
  }

  // Vectors, values and residuals, with a product for each. Returns the largest.
  double check(const Ritz& ritz) {
    Space& space = krylov_.space();
    const std::vector<int> wanted = ends_.indices(krylov_.size());
    const auto rows = static_cast<std::size_t>(space.rows());
    krylov_.ritz_vectors(ritz, wanted, vectors_);
    result_.values.clear();
    result_.residuals.clear();
    double worst = 0;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const double value = ritz.values[static_cast<std::size_t>(wanted[k])];
      result_.values.push_back(value);
      result_.residuals.push_back(residual_of(vectors_.subspan(k * rows, rows), value));
      worst = std::max(worst, result_.residuals.back());
    }
    return worst;
  }
  double residual_of(View x, double value) {
    using Real = decltype(std::abs(V()));
    View r(product_);
    a_(x, r);
    ++result_.products;
    VectorProgram<V> subtract;
    subtract.set(r, {{r}, {x, V(static_cast<Real>(-value))}});
    subtract.dot(r, r, squares_);
    subtract.dot(x, x, squares_ + 1);
    krylov_.space().run(subtract);
    V squares[2];
    krylov_.space().read(squares_, squares);
    return relative(std::sqrt(static_cast<double>(std::real(squares[0])) /
                              static_cast<double>(std::real(squares[1]))));
  }

  // No further eigenvalue is hidden beyond the wanted ones: the next one is known to be less
  // extreme, or is known itself.
  bool separated(const Ritz& ritz) const {
    const auto beyond = [&](int next, int last, double sign) {
      const auto at = static_cast<std::size_t>(next);
      if (relative(ritz.residuals[at]) <= options_.tolerance) return true;
      return sign * ritz.values[at] + ritz.residuals[at] <
             sign * ritz.values[static_cast<std::size_t>(last)];
    };
    const int size = static_cast<int>(ritz.values.size());
    if (ends_.count() >= size) return true;
    return (ends_.high == 0 || beyond(size - ends_.high - 1, size - ends_.high, 1)) &&
           (ends_.low == 0 || beyond(ends_.low, ends_.low - 1, -1));
  }
  bool nothing_new(const Ritz& ritz) const {
    const std::vector<int> wanted = ends_.indices(static_cast<int>(ritz.values.size()));
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const double change = std::abs(ritz.values[static_cast<std::size_t>(wanted[k])] - found_[k]);
      if (relative(change) > options_.tolerance) return false;
    }
    return true;
  }

  KrylovSpace<Space>& krylov_;
  const Operator<Space>& a_;
  Expand& expand_;
  const EigenOptions& options_;
  View vectors_;
  Ends ends_;
  typename Space::Vector product_;
  Scalar squares_;
  double best_ = std::numeric_limits<double>::infinity();
  int in_vain_ = 0;
  bool probing_ = false;
  std::vector<double> found_;
  EigenResult result_;
};

// How many vectors a method keeps.
inline int subspace_size(const EigenOptions& options, Offset dimension) {
  if (options.count < 1) throw InvalidArgument("at least one eigenvalue must be wanted");
  if (options.count > dimension) {
    throw InvalidArgument(
        fmt::format("{} eigenvalues of a matrix that has {}", options.count, dimension));
  }
  if (!(options.tolerance > 0)) throw InvalidArgument("the tolerance must be positive");
  if (options.subspace > 0 && options.subspace < options.count + 2) {
    throw InvalidArgument(
        fmt::format("a subspace of {} vectors for {} eigenvalues; it needs two "
                    "more at least",
                    options.subspace, options.count));
  }
  const int size = options.subspace > 0 ? options.subspace : std::max(2 * options.count + 10, 40);
  return static_cast<int>(std::min<Offset>(size, dimension));
}

}  // namespace strata::solvers

// The least-squares problem of GMRES: minimise ‖‖r‖ e_0 − Hy‖, as H grows by a column at a time.
#pragma once

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "strata/base/types.hpp"

namespace strata::solvers {

// The triangular factor of H by Givens rotations, a column at a time, and what they make of the
// right-hand side ‖r‖ e_0: its last element is the residual.
template <Value V>
class RotatedHessenberg {
 public:
  explicit RotatedHessenberg(V norm) : right_{norm} {}

  // `column` has one element more than there are columns with it. Returns |residual|.
  double append(std::vector<V> column) {
    const std::size_t j = rotations_.size();
    for (std::size_t k = 0; k < j; ++k) rotations_[k].apply(column[k], column[k + 1]);
    rotations_.push_back(Rotation::clearing(column[j], column[j + 1]));
    rotations_[j].apply(column[j], column[j + 1]);
    right_.push_back(V(0));
    rotations_[j].apply(right_[j], right_[j + 1]);
    columns_.push_back(std::move(column));
    return std::abs(right_[j + 1]);
  }

  // Of the columns so far; a zero on the diagonal, which a singular matrix may leave, gives zero.
  std::vector<V> solution() const {
    const std::size_t count = columns_.size();
    std::vector<V> y(right_.begin(), right_.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = count; i-- > 0;) {
      for (std::size_t k = i + 1; k < count; ++k) y[i] -= columns_[k][i] * y[k];
      y[i] = columns_[i][i] == V(0) ? V(0) : y[i] / columns_[i][i];
    }
    return y;
  }

 private:
  // [c s; −s̄ c] with a real c.
  struct Rotation {
    V cosine, sine;

    static Rotation clearing(V a, V b) {
      const auto length = std::hypot(std::abs(a), std::abs(b));
      if (length == 0) return {V(1), V(0)};
      if (std::abs(a) == 0) return {V(0), V(1)};
      const V phase = a / std::abs(a);
      return {V(std::abs(a) / length), phase * conjugate(b) / length};
    }
    void apply(V& upper, V& lower) const {
      const V before = upper;
      upper = cosine * before + sine * lower;
      lower = -conjugate(sine) * before + cosine * lower;
    }
    static V conjugate(V value) {
      if constexpr (is_complex<V>) return std::conj(value);
      return value;
    }
  };

  std::vector<Rotation> rotations_;
  std::vector<std::vector<V>> columns_;
  std::vector<V> right_;
};

}  // namespace strata::solvers

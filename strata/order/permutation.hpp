// Permutation: a reordering of rows. Row `i` of the new order is row `old_of(i)` of the old one.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"

namespace strata {

template <Index I>
class Permutation {
 public:
  // Of no rows.
  Permutation() = default;
  // Throws InvalidArgument unless every number 0 … n−1 occurs exactly once.
  explicit Permutation(Array<I> old_of_new);

  static Permutation identity(I size);
  // Every order equally likely; the same for the same seed on every machine.
  static Permutation random(I size, std::uint64_t seed);

  I size() const { return static_cast<I>(old_of_new_.size()); }
  I old_of(I position) const { return old_of_new_[position]; }
  std::span<const I> old_of_new() const { return old_of_new_; }

  Permutation inverse() const;
  // The effect of this permutation followed by `next`.
  Permutation then(const Permutation& next) const;

  // new[i] = old[old_of(i)], and back. The vectors have size() elements and do not overlap.
  template <Value V>
  void gather(std::span<const V> old_values, std::span<V> new_values) const;
  template <Value V>
  void scatter(std::span<const V> new_values, std::span<V> old_values) const;

  bool operator==(const Permutation&) const = default;

 private:
  Array<I> old_of_new_;
};

// PAPᵀ: rows and columns of a square matrix reordered alike.
template <Value V, Index I>
Csr<V, I> reordered(const Csr<V, I>& matrix, const Permutation<I>& order);

// PA: rows reordered, columns as they were.
template <Value V, Index I>
Csr<V, I> reordered_rows(const Csr<V, I>& matrix, const Permutation<I>& order);

// Column c becomes column new_of_old.old_of(c), rows as they were: for some of the rows of a matrix
// that is being reordered by the inverse of `new_of_old`.
template <Value V, Index I>
Csr<V, I> renumbered_columns(const Csr<V, I>& matrix, const Permutation<I>& new_of_old);

}  // namespace strata

// Awkward matrices and plain vectors for the tests.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "strata/base/random.hpp"
#include "strata/formats/coo.hpp"
#include "strata/formats/csr.hpp"

namespace strata::test {

// A number in [−1, 1)², reproducible.
template <Value V>
V random_value(const Random& random, std::uint64_t counter) {
  if constexpr (is_complex<V>) {
    using Real = typename V::value_type;
    return V(static_cast<Real>(random.uniform(2 * counter, -1, 1)),
             static_cast<Real>(random.uniform(2 * counter + 1, -1, 1)));
  } else {
    return static_cast<V>(random.uniform(counter, -1, 1));
  }
}

template <Value V>
std::vector<V> random_vector(std::size_t size, std::uint64_t seed) {
  const Random random(seed, 99);
  std::vector<V> vector(size);
  for (std::size_t i = 0; i < size; ++i) vector[i] = random_value<V>(random, i);
  return vector;
}

// Builds a list of entries one by one.
template <Value V, Index I>
class Entries {
 public:
  Entries(I rows, I cols, std::uint64_t seed) : rows_(rows), cols_(cols), random_(seed) {}

  void add(Offset row, Offset column) {
    add(row, column, random_value<V>(random_, values_.size()));
  }
  void add(Offset row, Offset column, V value) {
    row_indices_.push_back(static_cast<I>(row));
    column_indices_.push_back(static_cast<I>(column));
    values_.push_back(value);
  }
  Coo<V, I> coo() const { return Coo<V, I>(rows_, cols_, row_indices_, column_indices_, values_); }

 private:
  I rows_;
  I cols_;
  Random random_;
  Array<I> row_indices_;
  Array<I> column_indices_;
  Array<V> values_;
};

// The lower triangle of a square matrix with its mirror image, and of the diagonal what the
// symmetry allows.
template <Value V, Index I>
Csr<V, I> with_symmetry(const Csr<V, I>& matrix, Symmetry symmetry) {
  Entries<V, I> lower(matrix.rows(), matrix.cols(), 0);
  for (I row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      const I column = matrix.columns()[k];
      const V value = matrix.values()[k];
      if (column < row) lower.add(row, column, value);
      if (column == row) lower.add(row, row, (value + mirrored(value, symmetry)) / V{2});
    }
  }
  return lower.coo().to_csr(symmetry);
}

template <Value V, Index I>
struct NamedCoo {
  std::string name;
  Coo<V, I> entries;
};

// The shapes that break sparse codes. Every entry list is a valid COO; `to_csr` gives the matrix.
template <Value V, Index I>
std::vector<NamedCoo<V, I>> awkward_matrices();

}  // namespace strata::test

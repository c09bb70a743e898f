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
std::vector<NamedCoo<V, I>> awkward_matrices() {
  std::vector<NamedCoo<V, I>> all;
  const auto add = [&](std::string name, I rows, I cols, auto&& fill) {
    Entries<V, I> entries(rows, cols, all.size() + 1);
    fill(entries);
    all.push_back({std::move(name), entries.coo()});
  };
  const auto scatter = [](Entries<V, I>& entries, I rows, I cols, int count, std::uint64_t seed) {
    const Random random(seed);
    for (int k = 0; k < count; ++k) {
      entries.add(static_cast<Offset>(random.below(2 * k, rows)),
                  static_cast<Offset>(random.below(2 * k + 1, cols)));
    }
  };
  add("0 x 0", 0, 0, [](auto&) {});
  add("0 x 5", 0, 5, [](auto&) {});
  add("5 x 0", 5, 0, [](auto&) {});
  add("no entries", 7, 9, [](auto&) {});
  add("1 x 1", 1, 1, [](auto& e) { e.add(0, 0); });
  add("one row", 1, 40, [](auto& e) {
    for (int j = 0; j < 40; j += 3) e.add(0, j);
  });
  add("one column", 40, 1, [](auto& e) {
    for (int i = 0; i < 40; i += 3) e.add(i, 0);
  });
  add("empty rows and columns", 37, 41, [](auto& e) {
    for (int i = 5; i < 30; i += 5) {
      for (int j = 4; j < 40; j += 7) e.add(i, j);
    }
  });
  add("one full row", 50, 50, [](auto& e) {
    for (int j = 0; j < 50; ++j) e.add(20, j);
    for (int i = 0; i < 50; ++i) e.add(i, i == 20 ? 20 : 49 - i);
  });
  add("dense", 17, 13, [](auto& e) {
    for (int i = 0; i < 17; ++i) {
      for (int j = 0; j < 13; ++j) e.add(i, j);
    }
  });
  add("identity", 33, 33, [](auto& e) {
    for (int i = 0; i < 33; ++i) e.add(i, i, V{1});
  });
  add("tridiagonal", 70, 70, [](auto& e) {
    for (int i = 0; i < 70; ++i) {
      for (int j = std::max(0, i - 1); j <= std::min(69, i + 1); ++j) e.add(i, j);
    }
  });
  add("antidiagonal", 45, 45, [](auto& e) {
    for (int i = 0; i < 45; ++i) e.add(i, 44 - i);
  });
  add("duplicates, unsorted", 30, 30, [&](auto& e) {
    scatter(e, 30, 30, 300, 5);
    for (int k = 0; k < 5; ++k) e.add(3, 4);
  });
  add("explicit zeros", 20, 20, [](auto& e) {
    for (int i = 0; i < 20; ++i) {
      e.add(i, i, V{});
      e.add(i, (i * 7) % 20, V{1});
    }
  });
  add("wide", 19, 150, [&](auto& e) { scatter(e, 19, 150, 200, 6); });
  add("tall", 150, 19, [&](auto& e) { scatter(e, 150, 19, 200, 7); });
  add("two components", 60, 60, [](auto& e) {
    for (int i = 0; i < 60; ++i) {
      e.add(i, i);
      if (i != 29 && i != 59) {
        e.add(i, i + 1);
        e.add(i + 1, i);
      }
    }
  });
  add("random rows of all lengths", 129, 129, [](auto& e) {
    for (int i = 0; i < 129; ++i) {
      for (int j = 0; j < i % 23; ++j) e.add(i, (i * 31 + j * 17) % 129);
    }
  });
  add("five-point grid", 120, 120, [](auto& e) {
    for (int i = 0; i < 120; ++i) {
      e.add(i, i);
      if (i % 12 != 0) e.add(i, i - 1);
      if (i % 12 != 11) e.add(i, i + 1);
      if (i >= 12) e.add(i, i - 12);
      if (i < 108) e.add(i, i + 12);
    }
  });
  add("blocks of 3 x 3 with holes", 36, 39, [](auto& e) {
    for (int node = 0; node < 12; ++node) {
      for (int k = 0; k < 27; ++k) {
        if ((node + k) % 8 != 0) e.add(3 * node + k / 9, 3 * ((node * 5) % 11) + k % 9 / 3);
      }
    }
  });
  add("columns far apart", 40, 100000, [](auto& e) {
    for (int i = 0; i < 40; ++i) {
      for (int j = 0; j < 4; ++j) e.add(i, (i * 2503 + j * 24989) % 100000);
    }
  });
  return all;
}

}  // namespace strata::test

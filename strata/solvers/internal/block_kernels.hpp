// Products of tall, narrow blocks of vectors, a range of rows at a time, on the calling thread.
// Sums are formed in an order that depends on the range alone.
#pragma once

#include <algorithm>
#include <complex>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "strata/base/internal/plain_product.hpp"
#include "strata/base/types.hpp"

namespace strata::solvers::detail {

// Some rows of a block.
template <class V>
struct Columns {
  V* data;
  int count;
  Offset row_stride;
  Offset column_stride;

  V& at(Offset row, int column) const { return data[row * row_stride + column * column_stride]; }
  V* column(int k) const { return data + k * column_stride; }
};

// (x, y) by independent sums, so that additions overlap and become vector instructions; the same
// for any compiler that keeps the order of additions.
template <Value V>
V dot_of(const V* x, const V* y, Offset count) {
  using strata::detail::conjugate_product;
  constexpr Offset kLanes = 16;
  V sums[kLanes] = {};
  Offset i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (Offset lane = 0; lane < kLanes; ++lane) {
      sums[lane] += conjugate_product(x[i + lane], y[i + lane]);
    }
  }
  for (; i < count; ++i) sums[i % kLanes] += conjugate_product(x[i], y[i]);
  for (Offset half = kLanes / 2; half > 0; half /= 2) {
    for (Offset lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

// Registers for sums and what is multiplied: half of those that a processor has.
#if defined(__aarch64__)
inline constexpr int kRegisters = 16;
#else
inline constexpr int kRegisters = 8;
#endif

// What one of them holds. Wider ones than every processor has end up in memory.
template <class R>
struct LanesOf {
  static constexpr int kCount = 16 / static_cast<int>(sizeof(R));
  typedef R Type __attribute__((vector_size(16)));

  static Type load(const R* from) {
    Type lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
  }
  static void store(const Type& lanes, R* to) { std::memcpy(to, &lanes, sizeof lanes); }
};

// sums[i + j·stride] = (a_i, b_j) for kA columns of a and kB of b, at a distance each: so many that
// what is loaded is used several times and sums stay in registers.
template <int kA, int kB, class R>
void gram_tile(const R* a, Offset a_distance, const R* b, Offset b_distance, Offset rows, R* sums,
               Offset stride) {
  using Lanes = LanesOf<R>;
  typename Lanes::Type of[kB][kA] = {};
  Offset row = 0;
  for (; row + Lanes::kCount <= rows; row += Lanes::kCount) {
    typename Lanes::Type left[kA];
    for (int i = 0; i < kA; ++i) left[i] = Lanes::load(a + i * a_distance + row);
    for (int j = 0; j < kB; ++j) {
      const auto right = Lanes::load(b + j * b_distance + row);
      for (int i = 0; i < kA; ++i) of[j][i] += left[i] * right;
    }
  }
  for (int j = 0; j < kB; ++j) {
    for (int i = 0; i < kA; ++i) {
      R sum = 0;
      for (int lane = 0; lane < Lanes::kCount; ++lane) sum += of[j][i][lane];
      for (Offset r = row; r < rows; ++r) sum += a[i * a_distance + r] * b[j * b_distance + r];
      sums[i + j * stride] = sum;
    }
  }
}

// sums[i + j·a.count] = (a_i, b_j).
template <Value V>
void gram_of(const Columns<const V>& a, const Columns<const V>& b, Offset rows, V* sums) {
  if constexpr (!is_complex<V>) {
    if (a.row_stride == 1 && b.row_stride == 1) {
      const auto tile = [&]<int kA, int kB>(int i, int j) {
        gram_tile<kA, kB>(a.column(i), a.column_stride, b.column(j), b.column_stride, rows,
                          sums + i + Offset{j} * a.count, a.count);
      };
      const auto across = [&]<int kB>(int j) {
        int i = 0;
        for (; i + 4 <= a.count; i += 4) tile.template operator()<4, kB>(i, j);
        for (; i < a.count; ++i) tile.template operator()<1, kB>(i, j);
      };
      constexpr int kMost = kRegisters / 4;
      int j = 0;
      for (; j + kMost <= b.count; j += kMost) across.template operator()<kMost>(j);
      for (; j < b.count; ++j) across.template operator()<1>(j);
      return;
    }
  }
  if (a.row_stride == 1 && b.row_stride == 1) {
    for (int j = 0; j < b.count; ++j) {
      for (int i = 0; i < a.count; ++i) {
        sums[i + Offset{j} * a.count] = dot_of(a.column(i), b.column(j), rows);
      }
    }
    return;
  }
  std::fill_n(sums, Offset{a.count} * b.count, V(0));
  for (Offset row = 0; row < rows; ++row) {
    for (int j = 0; j < b.count; ++j) {
      const V right = b.at(row, j);
      for (int i = 0; i < a.count; ++i) {
        sums[i + Offset{j} * a.count] += strata::detail::conjugate_product(a.at(row, i), right);
      }
    }
  }
}

// target_j += Σ_i coefficients[i·kColumns + j] a_used[i] for kColumns columns of the target.
template <int kColumns, class R>
void add_product_tile(const R* a, Offset a_distance, std::span<const int> used,
                      const R* coefficients, R* target, Offset target_distance, Offset rows) {
  using Lanes = LanesOf<R>;
  constexpr int kDeep = kRegisters / 4;
  const int count = static_cast<int>(used.size());
  Offset row = 0;
  for (; row + kDeep * Lanes::kCount <= rows; row += kDeep * Lanes::kCount) {
    typename Lanes::Type sums[kColumns][kDeep];
    for (int j = 0; j < kColumns; ++j) {
      for (int d = 0; d < kDeep; ++d) {
        sums[j][d] = Lanes::load(target + j * target_distance + row + d * Lanes::kCount);
      }
    }
    for (int i = 0; i < count; ++i) {
      const R* const column = a + used[static_cast<std::size_t>(i)] * a_distance + row;
      typename Lanes::Type of[kDeep];
      for (int d = 0; d < kDeep; ++d) of[d] = Lanes::load(column + d * Lanes::kCount);
      for (int j = 0; j < kColumns; ++j) {
        const R coefficient = coefficients[i * kColumns + j];
        for (int d = 0; d < kDeep; ++d) sums[j][d] += of[d] * coefficient;
      }
    }
    for (int j = 0; j < kColumns; ++j) {
      for (int d = 0; d < kDeep; ++d) {
        Lanes::store(sums[j][d], target + j * target_distance + row + d * Lanes::kCount);
      }
    }
  }
  for (; row < rows; ++row) {
    for (int j = 0; j < kColumns; ++j) {
      R sum = target[j * target_distance + row];
      for (int i = 0; i < count; ++i) {
        sum += a[used[static_cast<std::size_t>(i)] * a_distance + row] *
               coefficients[i * kColumns + j];
      }
      target[j * target_distance + row] = sum;
    }
  }
}

// target_j = target_j + Σ_i c_ij a_i, with the coefficients sorted for it: what is 0 for all
// columns of a tile costs nothing.
template <Value V>
class NarrowProduct {
 public:
  // `coefficients` column by column, `rows` each.
  NarrowProduct(std::span<const V> coefficients, int rows, int columns)
      : whole_(coefficients), rows_(rows), columns_(columns) {
    for (int j = 0; j < columns;) {
      Tile tile{j, columns - j >= 4 ? 4 : columns - j >= 2 ? 2 : 1, {}, {}};
      for (int i = 0; i < rows; ++i) {
        bool is_used = false;
        for (int k = 0; k < tile.columns; ++k) is_used |= coefficient(i, j + k) != V(0);
        if (!is_used) continue;
        tile.used.push_back(i);
        for (int k = 0; k < tile.columns; ++k) tile.packed.push_back(coefficient(i, j + k));
      }
      j += tile.columns;
      tiles_.push_back(std::move(tile));
    }
  }

  void add(const Columns<const V>& a, const Columns<V>& target, Offset rows) const {
    if constexpr (!is_complex<V>) {
      if (a.row_stride == 1 && target.row_stride == 1) {
        for (const Tile& tile : tiles_) {
          const auto run = [&]<int kColumns>() {
            add_product_tile<kColumns>(a.data, a.column_stride, tile.used, tile.packed.data(),
                                       target.column(tile.first), target.column_stride, rows);
          };
          switch (tile.columns) {
            case 4: run.template operator()<4>(); break;
            case 2: run.template operator()<2>(); break;
            default: run.template operator()<1>();
          }
        }
        return;
      }
    }
    using strata::detail::plain_product;
    if (a.row_stride == 1 && target.row_stride == 1) {
      for (int j = 0; j < columns_; ++j) {
        V* const sums = target.column(j);
        for (int i = 0; i < rows_; ++i) {
          const V factor = coefficient(i, j);
          const V* const column = a.column(i);
          if (factor == V(0)) continue;
          for (Offset row = 0; row < rows; ++row) sums[row] += plain_product(factor, column[row]);
        }
      }
      return;
    }
    for (int j = 0; j < columns_; ++j) {
      for (Offset row = 0; row < rows; ++row) {
        V value = target.at(row, j);
        for (int i = 0; i < rows_; ++i) value += plain_product(coefficient(i, j), a.at(row, i));
        target.at(row, j) = value;
      }
    }
  }

 private:
  struct Tile {
    int first;
    int columns;
    std::vector<int> used;
    std::vector<V> packed;
  };
  const V& coefficient(int i, int j) const {
    return whole_[static_cast<std::size_t>(i) +
                  static_cast<std::size_t>(j) * static_cast<std::size_t>(rows_)];
  }

  std::span<const V> whole_;
  int rows_;
  int columns_;
  std::vector<Tile> tiles_;
};

}  // namespace strata::solvers::detail

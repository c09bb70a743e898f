// The bodies of kernels on blocks of vectors, tall and narrow: all dot products of two blocks, a
// block times a small matrix. They are bound by memory for up to some tens of columns: dot products
// are formed in tiles of several columns, whose numbers stay in registers, and the warps of a
// thread block have the tiles of the same rows, which are read from memory once.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/arrivals.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/value.hpp"
#include "strata/kernels/gpu/vector_bodies.hpp"
#include "strata/solvers/gpu/scalar_operations.hpp"

namespace strata::gpu {

// Columns one after another, or interleaved.
template <class T>
struct BlockView {
  T* data = nullptr;
  std::int64_t row_stride = 1;
  std::int64_t column_stride = 0;
  std::int32_t columns = 0;

  STRATA_DEVICE T& at(std::int64_t row, std::int32_t column) const {
    return data[row * row_stride + column * column_stride];
  }
};

inline constexpr int kGramThreads = 512;
inline constexpr int kGramTiles = 8;  // of a block of threads
inline constexpr int kGramPanels = 64;
// A tile has so many columns of the first block and one or four of the second.
template <class T>
inline constexpr int kGramColumns = sizeof(T) > 8 ? 4 : 8;
template <class T>
inline constexpr int kGramShared = kGramThreads / 32 * kGramColumns<T> * 4;  // in elements

template <class T>
struct GramArguments {
  BlockView<const T> a;
  BlockView<const T> b;
  std::int64_t rows = 0;
  T* target = nullptr;                // (a_i, b_j) at i + j·a.columns
  T* sums = nullptr;                  // for every panel, of each tile, of each block of rows
  std::uint32_t* arrivals = nullptr;  // of each panel
  std::int32_t row_blocks = 1;
  std::int32_t tiles_of_a = 1;
  std::int32_t tiles = 1;
};

// Blocks of kGramThreads, row_blocks for every panel of kGramTiles tiles. A warp has a tile and
// some of the rows; where there are fewer tiles, more warps share one.
template <int columns_of_b, class Thread, class T>
STRATA_DEVICE void gram(Thread& thread, const GramArguments<T>& a) {
  constexpr int columns_of_a = kGramColumns<T>;
  constexpr int pairs = columns_of_a * columns_of_b;
  T* const shared = thread.template shared<T>();
  const int panel = thread.block() / a.row_blocks;
  const int row_block = thread.block() % a.row_blocks;
  const int first_tile = panel * kGramTiles;
  const int tiles = a.tiles - first_tile < kGramTiles ? a.tiles - first_tile : kGramTiles;
  const int groups = thread.warps() / tiles;
  const int mine = thread.warp() / groups;
  const int group = thread.warp() % groups;
  const auto column = [](int tile, int width, int k, int columns) {
    const int wanted = tile * width + k;
    return wanted < columns ? wanted : columns - 1;
  };
  if (mine < tiles) {
    const int tile_a = (first_tile + mine) % a.tiles_of_a;
    const int tile_b = (first_tile + mine) / a.tiles_of_a;
    T sums[columns_of_a][columns_of_b] = {};
    const std::int64_t stride = std::int64_t{a.row_blocks} * groups * Thread::warp_size;
    for (std::int64_t row =
             (std::int64_t{row_block} * groups + group) * Thread::warp_size + thread.lane();
         row < a.rows; row += stride) {
      T of_a[columns_of_a], of_b[columns_of_b];
      STRATA_UNROLL
      for (int i = 0; i < columns_of_a; ++i) {
        of_a[i] = a.a.at(row, column(tile_a, columns_of_a, i, a.a.columns));
      }
      STRATA_UNROLL
      for (int j = 0; j < columns_of_b; ++j) {
        of_b[j] = a.b.at(row, column(tile_b, columns_of_b, j, a.b.columns));
      }
      STRATA_UNROLL
      for (int i = 0; i < columns_of_a; ++i) {
        STRATA_UNROLL
        for (int j = 0; j < columns_of_b; ++j) {
          sums[i][j] = multiply_add(conjugated(of_a[i]), of_b[j], sums[i][j]);
        }
      }
    }
    STRATA_UNROLL
    for (int i = 0; i < columns_of_a; ++i) {
      STRATA_UNROLL
      for (int j = 0; j < columns_of_b; ++j) {
        const T sum = sum_of_lanes(thread, 1, sums[i][j]);
        if (thread.lane() == 0) shared[thread.warp() * pairs + j * columns_of_a + i] = sum;
      }
    }
  }
  thread.sync_block();
  T* const partial = a.sums + std::int64_t{first_tile} * pairs * a.row_blocks;
  for (int pair = thread.index(); pair < tiles * pairs; pair += thread.size()) {
    const T* const of_groups = shared + pair / pairs * groups * pairs + pair % pairs;
    T sum = of_groups[0];
    for (int g = 1; g < groups; ++g) sum = add(sum, of_groups[g * pairs]);
    partial[std::int64_t{pair} * a.row_blocks + row_block] = sum;
  }
  thread.sync_block();
  auto* const last = reinterpret_cast<std::uint32_t*>(shared);
  if (thread.index() == 0) {
    *last = arrives_last(thread, a.arrivals + panel, a.row_blocks - 1);
  }
  thread.sync_block();
  if (*last == 0) return;
  for (int pair = thread.warp(); pair < tiles * pairs; pair += thread.warps()) {
    T sum{};
    for (int block = thread.lane(); block < a.row_blocks; block += Thread::warp_size) {
      sum = add(sum, partial[std::int64_t{pair} * a.row_blocks + block]);
    }
    sum = sum_of_lanes(thread, 1, sum);
    const int tile = first_tile + pair / pairs;
    const int i = tile % a.tiles_of_a * columns_of_a + pair % columns_of_a;
    const int j = tile / a.tiles_of_a * columns_of_b + pair % pairs / columns_of_a;
    if (thread.lane() == 0 && i < a.a.columns && j < a.b.columns) {
      a.target[i + std::int64_t{j} * a.a.columns] = sum;
    }
  }
}

inline constexpr int kBlockThreads = 256;
inline constexpr int kBlockGrid = 1056;
inline constexpr int kMostAdded = 256;  // columns of a block that one launch adds

// target_j = target_j + factor · Σ_i a_i · coefficient(i, j), for some of the columns of both.
template <class T>
struct AddProductArguments {
  BlockView<const T> a;
  BlockView<T> target;
  std::int64_t rows = 0;
  T factor{};
  const T* coefficients = nullptr;  // (i, j) at i + j·coefficient_stride
  std::int64_t coefficient_stride = 0;
};

// With shared memory for a.columns × columns numbers. target.columns is `columns` at most.
template <int columns, class Thread, class T>
STRATA_DEVICE void add_product(Thread& thread, const AddProductArguments<T>& a) {
  T* const shared = thread.template shared<T>();
  for (int k = thread.index(); k < a.a.columns * columns; k += thread.size()) {
    const int i = k / columns, j = k % columns;
    shared[k] = j < a.target.columns
                    ? multiply(a.factor, a.coefficients[i + j * a.coefficient_stride])
                    : T{};
  }
  thread.sync_block();
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  for (std::int64_t row =
           static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
       row < a.rows; row += stride) {
    T sums[columns];
    STRATA_UNROLL
    for (int j = 0; j < columns; ++j) {
      sums[j] = j < a.target.columns ? a.target.at(row, j) : T{};
    }
    constexpr int ahead = 4;
    int i = 0;
    for (; i + ahead <= a.a.columns; i += ahead) {
      T of_a[ahead];
      STRATA_UNROLL
      for (int u = 0; u < ahead; ++u) of_a[u] = a.a.at(row, i + u);
      STRATA_UNROLL
      for (int u = 0; u < ahead; ++u) {
        STRATA_UNROLL
        for (int j = 0; j < columns; ++j) {
          sums[j] = multiply_add(of_a[u], shared[(i + u) * columns + j], sums[j]);
        }
      }
    }
    for (; i < a.a.columns; ++i) {
      const T of_a = a.a.at(row, i);
      STRATA_UNROLL
      for (int j = 0; j < columns; ++j) {
        sums[j] = multiply_add(of_a, shared[i * columns + j], sums[j]);
      }
    }
    STRATA_UNROLL
    for (int j = 0; j < columns; ++j) {
      if (j < a.target.columns) a.target.at(row, j) = sums[j];
    }
  }
}

// Columns `from` and following become those of block · C.
template <class T>
struct TransformArguments {
  BlockView<T> block;
  std::int64_t rows = 0;
  const T* coefficients = nullptr;  // C, column by column
  std::int32_t from = 0;
};

// So many rows at a time are copied to shared memory, of which a block of threads has 48 KB: 32
// rows of up to 192 doubles, fewer of wider blocks.
template <class T>
STRATA_HOST_DEVICE constexpr int transform_rows(int columns) {
  constexpr int most = 48 * 1024 / static_cast<int>(sizeof(T));
  int rows = columns <= 8 ? 128 : columns <= 16 ? 64 : 32;
  while (rows > 1 && rows * columns > most) rows /= 2;
  return rows;
}

template <class Thread, class T>
STRATA_DEVICE void transform(Thread& thread, const TransformArguments<T>& a) {
  constexpr int columns = 4;  // of the result, by one thread
  T* const tile = thread.template shared<T>();
  const int n = a.block.columns;
  const int rows = transform_rows<T>(n);
  const int r = thread.index() % rows;
  const int groups = thread.size() / rows;
  for (std::int64_t first = static_cast<std::int64_t>(thread.block()) * rows; first < a.rows;
       first += static_cast<std::int64_t>(thread.blocks()) * rows) {
    const bool inside = first + r < a.rows;
    for (int i = thread.index() / rows; i < n; i += groups) {
      tile[i * rows + r] = inside ? a.block.at(first + r, i) : T{};
    }
    thread.sync_block();
    for (int j = a.from + thread.index() / rows * columns; j < n; j += groups * columns) {
      T sums[columns] = {};
      for (int i = 0; i < n; ++i) {
        const T value = tile[i * rows + r];
        STRATA_UNROLL
        for (int c = 0; c < columns; ++c) {
          const int column = j + c < n ? j + c : n - 1;
          sums[c] =
              multiply_add(value, a.coefficients[i + std::int64_t{column - a.from} * n], sums[c]);
        }
      }
      STRATA_UNROLL
      for (int c = 0; c < columns; ++c) {
        if (inside && j + c < n) a.block.at(first + r, j + c) = sums[c];
      }
    }
    thread.sync_block();
  }
}

// y = D⁻¹x for the blocks on the diagonal, of so many rows each in the caller's order.
template <class T>
struct BlockJacobiArguments {
  const T* x = nullptr;
  T* y = nullptr;
  const T* inverses = nullptr;                // element j of row r of its block at r + j·rows
  const std::int32_t* position_of = nullptr;  // of the rows
  std::int64_t rows = 0;
  std::int32_t block_rows = 1;
};

// A thread has a row: those of a block find the block's x in a cache.
template <class Thread, class T>
STRATA_DEVICE void block_jacobi(Thread& thread, const BlockJacobiArguments<T>& a) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  for (std::int64_t row =
           static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
       row < a.rows; row += stride) {
    const std::int64_t first = row - row % a.block_rows;
    const std::int64_t left = a.rows - first;
    const int size = left < a.block_rows ? static_cast<int>(left) : a.block_rows;
    T sum{};
    for (int j = 0; j < size; ++j) {
      sum = multiply_add(a.inverses[row + j * a.rows], a.x[a.position_of[first + j]], sum);
    }
    a.y[a.position_of[row]] = sum;
  }
}

}  // namespace strata::gpu

// Dense blocks with their sums in registers. Blocks of 1, 2, 3, 4, 6 or 8 rows and columns have
// code of their own for one vector; others, several vectors, and matrices of 2^31 block columns or
// more, run row by row.
//
// A row has several independent sums, because a single one would wait for every addition (BlockSums
// says which entry belongs to which); they are added up in a fixed order. Both depend on the shape
// of the blocks and the type of the values only.
#include <bit>
#include <cstddef>
#include <cstdint>

#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/level_functions.hpp"
#include "strata/kernels/cpu/internal/slice.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

namespace {

// Neighbouring sums, in vector registers or one by one.
template <Value V, int size, bool in_registers>
class Sums {
 public:
  STRATA_INLINE void multiply_add(const V* values, const V* x) {
    lanes_.multiply_add(values, Direct{x});
  }
  STRATA_INLINE void add_scaled(V factor, const V* values) {
    lanes_.add_scaled(factor, Direct{values});
  }
  STRATA_INLINE void store(V* to) const { lanes_.store(to); }

 private:
  using Direct = typename Lanes<V, size>::Direct;
  Lanes<V, size> lanes_;
};
template <Value V, int size>
class Sums<V, size, false> {
 public:
  STRATA_INLINE void multiply_add(const V* values, const V* x) {
    STRATA_UNROLL
    for (int i = 0; i < size; ++i) {
      numbers_[i] = STRATA_CPU_LEVEL::multiply_add(loaded(values + i), loaded(x + i), numbers_[i]);
    }
  }
  STRATA_INLINE void add_scaled(Number<V> factor, const V* values) {
    STRATA_UNROLL
    for (int i = 0; i < size; ++i) {
      numbers_[i] = STRATA_CPU_LEVEL::multiply_add(factor, loaded(values + i), numbers_[i]);
    }
  }
  STRATA_INLINE void store(V* to) const {
    STRATA_UNROLL
    for (int i = 0; i < size; ++i) STRATA_CPU_LEVEL::store(to + i, numbers_[i]);
  }

 private:
  Number<V> numbers_[size] = {};
};

// The sum of so many neighbours, in pairs.
template <int size, Value V>
STRATA_INLINE inline Number<V> sum_of(const V* numbers) {
  if constexpr (size == 1) {
    return loaded(numbers);
  } else {
    constexpr int kFirst = (size + 1) / 2;
    return added(sum_of<kFirst>(numbers), sum_of<size - kFirst>(numbers + kFirst));
  }
}

// The sums of a block row. Column j of a block goes to sum j % kLanes of each row; in blocks of one
// column, which are multiplied as vectors of rows, rows have one sum. Where this makes few sums,
// block k of the block row goes to set k % kSets of them.
template <Value V, int rows, int cols>
class BlockSums {
 public:
  static constexpr bool kOneColumn = cols == 1;

 private:
  static constexpr int kLine = kOneColumn ? rows : cols;
  static constexpr int kWhole = kLine % 4 == 0 ? 4 : kLine % 2 == 0 ? 2 : kLine;
  static constexpr bool kInRegisters =
      !is_complex<V> && kWhole % 2 == 0 && kWhole * sizeof(V) >= 16;
  static constexpr int kLanes = kInRegisters || kOneColumn || rows < 4 ? kWhole : 1;
  static constexpr int kLines = kOneColumn ? rows / kLanes : rows;
  static constexpr int kChains = kInRegisters ? kLines : kLines * kLanes;

 public:
  static constexpr int kSets = kChains >= 4 ? 1 : kChains >= 2 ? 2 : 4;

  STRATA_INLINE void add_block(int set, const V* values, const V* x) {
    if constexpr (kOneColumn) {
      STRATA_UNROLL
      for (int line = 0; line < kLines; ++line) {
        sums_[set][line].add_scaled(loaded(x), values + line * kLanes);
      }
    } else {
      STRATA_UNROLL
      for (int j = 0; j < cols; j += kLanes) {
        STRATA_UNROLL
        for (int row = 0; row < rows; ++row) {
          sums_[set][row].multiply_add(values + row * cols + j, x + j);
        }
      }
    }
  }

  // The sum of each row.
  STRATA_INLINE void store(Number<V> (&results)[rows]) const {
    constexpr int kPerRow = kOneColumn ? 1 : kLanes;
    constexpr int kPerSet = rows * kPerRow;
    alignas(V) std::byte bytes[kSets * kPerSet * sizeof(V)];
    V* numbers = reinterpret_cast<V*>(bytes);
    STRATA_UNROLL
    for (int set = 0; set < kSets; ++set) {
      STRATA_UNROLL
      for (int line = 0; line < kLines; ++line) {
        sums_[set][line].store(numbers + set * kPerSet + line * kLanes);
      }
    }
    STRATA_UNROLL
    for (int row = 0; row < rows; ++row) {
      Number<V> sets[kSets];
      STRATA_UNROLL
      for (int set = 0; set < kSets; ++set) {
        sets[set] = sum_of<kPerRow>(numbers + set * kPerSet + row * kPerRow);
      }
      results[row] = sets[0];
      if constexpr (kSets == 2) results[row] = added(sets[0], sets[1]);
      if constexpr (kSets == 4) {
        results[row] = added(added(sets[0], sets[1]), added(sets[2], sets[3]));
      }
    }
  }

 private:
  Sums<V, kLanes, kInRegisters> sums_[kSets][kLines];
};

// Block columns of 32 bits, or the halves of wider ones that say all of them: the kernels of so
// many shapes are there once for both.
class BlockColumns {
 public:
  template <Index I>
  explicit BlockColumns(const I* columns)
      : first_(reinterpret_cast<const std::byte*>(columns) +
               (std::endian::native == std::endian::little ? 0 : sizeof(I) - kBytes)),
        distance_(sizeof(I)) {}

  STRATA_INLINE Offset operator[](Offset block) const {
    std::int32_t column;
    __builtin_memcpy(&column, first_ + block * distance_, kBytes);
    return column;
  }

 private:
  static constexpr std::size_t kBytes = sizeof(std::int32_t);
  const std::byte* first_;
  Offset distance_;
};

inline constexpr Offset kMostBlockColumns = Offset{1} << 31;

// A matrix with so many block columns.
template <Value V>
struct Blocks {
  const Offset* block_row_offsets;
  BlockColumns block_columns;
  const V* values;
  const std::uint64_t* presence;
  Offset block_rows;
  Offset block_cols;
  Offset cols;
};

// The sums of a row without padding, one entry after the other.
template <class Matrix, Value V>
[[gnu::noinline]] void sum_entries(const Matrix& matrix, Offset row, const V* x, int count,
                                   Number<V>* sums) {
  for (int v = 0; v < count; ++v) sums[v] = {};
  const Offset* offsets = matrix.block_row_offsets + row / matrix.block_rows;
  for (Offset block = offsets[0]; block < offsets[1]; ++block) {
    const Offset first = (block * matrix.block_rows + row % matrix.block_rows) * matrix.block_cols;
    const Offset first_column = matrix.block_columns[block] * matrix.block_cols;
    for (Offset j = 0; j < matrix.block_cols; ++j) {
      if (!is_present(matrix.presence, first + j)) continue;
      const V* from = x + (first_column + j) * count;
      const Number<V> value = loaded(matrix.values + first + j);
      STRATA_KEEP_LOOP
      for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, loaded(from + v), sums[v]);
    }
  }
}

// x by blocks of columns. The last may reach beyond the end of x and has a copy, with zeros there.
template <Value V, int cols>
class BlocksOfX {
 public:
  BlocksOfX(const V* x, Offset length) : x_(x), copied_(length % cols == 0 ? -1 : length / cols) {
    if (copied_ < 0) return;
    for (Offset j = 0; copied_ * cols + j < length; ++j) {
      store(copy() + j, loaded(x + copied_ * cols + j));
    }
  }
  BlocksOfX(const BlocksOfX&) = delete;
  BlocksOfX& operator=(const BlocksOfX&) = delete;

  const V* at(Offset block_column) const {
    return block_column == copied_ ? copy() : x_ + block_column * cols;
  }

 private:
  V* copy() { return reinterpret_cast<V*>(bytes_); }
  const V* copy() const { return reinterpret_cast<const V*>(bytes_); }

  const V* x_;
  Offset copied_;  // a block column, or −1
  alignas(V) std::byte bytes_[cols * sizeof(V)] = {};
};

template <int rows, int cols, Value V>
[[gnu::noinline]] void step_blocks(const Blocks<V>& matrix, const Step<V>& step,
                                   const StepVectors<V>& vectors, Offset begin, Offset end) {
  using RowSums = BlockSums<V, rows, cols>;
  const BlocksOfX<V, cols> x(vectors.x, matrix.cols);
  for (Offset first_row = begin; first_row < end; first_row += rows) {
    const Offset* offsets = matrix.block_row_offsets + first_row / rows;
    const Offset last = offsets[1];
    RowSums sums;
    const auto add_block = [&](int set, Offset block) STRATA_INLINE {
      const V* values = matrix.values + block * (rows * cols);
      constexpr int kBytes = rows * cols * static_cast<int>(sizeof(V));
      if constexpr (kBytes >= kLineBytes) prefetch_ahead<kBytes>(values);
      sums.add_block(set, values, x.at(matrix.block_columns[block]));
    };
    Offset block = offsets[0];
    for (; block + RowSums::kSets <= last; block += RowSums::kSets) {
      STRATA_UNROLL
      for (int set = 0; set < RowSums::kSets; ++set) add_block(set, block + set);
    }
    STRATA_UNROLL
    for (int set = 0; set < RowSums::kSets - 1; ++set) {
      if (block + set < last) add_block(set, block + set);
    }
    Number<V> results[rows];
    sums.store(results);
    STRATA_UNROLL
    for (int row = 0; row < rows; ++row) {
      if (first_row + row >= end) break;
      Number<V> sum = results[row];
      if (!is_finite(sum) && matrix.presence != nullptr) {
        sum_entries(matrix, first_row + row, vectors.x, 1, &sum);
      }
      finish(step, vectors, first_row + row, sum);
    }
  }
}

template <int count, Value V, Index I>
void step_rowwise(const BcsrView<V, I>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
                  Offset begin, Offset end) {
  const Offset rows = matrix.block_rows;
  const Offset cols = matrix.block_cols;
  for (Offset row = begin; row < end; ++row) {
    const Offset* offsets = matrix.block_row_offsets + row / rows;
    Number<V> sums[count] = {};
    for (Offset block = offsets[0]; block < offsets[1]; ++block) {
      const V* values = matrix.values + (block * rows + row % rows) * cols;
      const Offset first_column = matrix.block_columns[block] * cols;
      const Offset left = matrix.cols - first_column;
      const V* from = vectors.x + first_column * count;
      for (Offset j = 0; j < (left < cols ? left : cols); ++j, from += count) {
        const Number<V> value = loaded(values + j);
        for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, loaded(from + v), sums[v]);
      }
    }
    bool finite = true;
    for (int v = 0; v < count; ++v) finite &= is_finite(sums[v]);
    if (finite) {
      finish_row(step, vectors, row * count, sums);
    } else {
      // The same sums, but for what padding let through.
      Number<V> entries[count];
      sum_entries(matrix, row, vectors.x, count, entries);
      finish_row(step, vectors, row * count, entries);
    }
  }
}

// Calls body(Constant<size>()) if blocks of so many rows or columns have code of their own.
template <class Body>
inline void with_block_size(Offset size, const Body& body) {
  switch (size) {
    case 1: body(Constant<1>()); break;
    case 2: body(Constant<2>()); break;
    case 3: body(Constant<3>()); break;
    case 4: body(Constant<4>()); break;
    case 6: body(Constant<6>()); break;
    case 8: body(Constant<8>()); break;
    default: break;
  }
}

}  // namespace

template <Value V, Index I>
void step_bcsr(const BcsrView<V, I>& matrix, const StepCoefficients<V>& coefficients,
               const StepVectors<V>& vectors, Offset begin, Offset end) {
  const Step<V> step = step_of(coefficients);
  bool done = false;
  if (vectors.count == 1 && matrix.cols / matrix.block_cols < kMostBlockColumns) {
    const Blocks<V> blocks{matrix.block_row_offsets,
                           BlockColumns(matrix.block_columns),
                           matrix.values,
                           matrix.presence,
                           matrix.block_rows,
                           matrix.block_cols,
                           matrix.cols};
    with_block_size(matrix.block_rows, [&]<int rows>(Constant<rows>) {
      with_block_size(matrix.block_cols, [&]<int cols>(Constant<cols>) {
        step_blocks<rows, cols>(blocks, step, vectors, begin, end);
        done = true;
      });
    });
  }
  if (done) return;
  with_vector_count<1>(vectors.count, [&]<int count>(Constant<count>) {
    step_rowwise<count>(matrix, step, vectors, begin, end);
  });
}

#define STRATA_INSTANTIATE(V, I)                                             \
  template void step_bcsr(const BcsrView<V, I>&, const StepCoefficients<V>&, \
                          const StepVectors<V>&, Offset, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu::STRATA_CPU_LEVEL

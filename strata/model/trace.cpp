#include "strata/model/trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"

namespace strata {

namespace {

// Hands out addresses page by page.
class AddressSpace {
 public:
  template <class T>
  std::uint64_t place(Offset count) {
    const std::uint64_t start = next_;
    next_ += ceil_div<Offset>(bytes_of<T>(count), kPage) * kPage;
    return start;
  }
  template <class T>
  std::uint64_t place(std::span<const T> array) {
    return place<T>(static_cast<Offset>(array.size()));
  }
  template <Value V>
  std::vector<std::uint64_t> place_vectors(int power, Offset rows) {
    std::vector<std::uint64_t> vectors;
    for (int k = 0; k <= power; ++k) vectors.push_back(place<V>(rows));
    return vectors;
  }

 private:
  static constexpr Offset kPage = 4096;
  std::uint64_t next_ = kPage;
};

// Loads and stores of single elements, counted by array.
class Player {
 public:
  Player(const SweepAddresses& addresses, CacheSimulator& cache)
      : addresses_(&addresses), cache_(&cache) {}

  const SweepAddresses& addresses() const { return *addresses_; }

  template <class T>
  void read_value(std::uint64_t array, Offset position) {
    misses_.values += cache_->read(at<T>(array, position), sizeof(T));
  }
  template <class T>
  void read_index(std::uint64_t array, Offset position) {
    misses_.indices += cache_->read(at<T>(array, position), sizeof(T));
  }
  template <class T>
  void read_vector(std::uint64_t array, Offset position) {
    misses_.vectors += cache_->read(at<T>(array, position), sizeof(T));
  }
  template <class T>
  void write_vector(std::uint64_t array, Offset position) {
    misses_.vectors += cache_->write(at<T>(array, position), sizeof(T));
  }
  const SweepMisses& misses() const { return misses_; }

 private:
  template <class T>
  static std::uint64_t at(std::uint64_t array, Offset position) {
    return array + static_cast<std::uint64_t>(position) * sizeof(T);
  }

  const SweepAddresses* addresses_;
  CacheSimulator* cache_;
  SweepMisses misses_;
};

// y = Ax on some rows.
template <Index I>
struct Product {
  RowRange<I> rows;
  std::uint64_t x = 0;
  std::uint64_t y = 0;
};

template <Value V, Index I>
void play(const Csr<V, I>& matrix, const Product<I>& product, Player& player) {
  const SweepAddresses& arrays = player.addresses();
  for (I row = product.rows.begin; row < product.rows.end; ++row) {
    player.read_index<Offset>(arrays.offsets, row);
    player.read_index<Offset>(arrays.offsets, Offset{row} + 1);
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      player.read_index<I>(arrays.columns, k);
      player.read_value<V>(arrays.values, k);
      player.read_vector<V>(product.x, matrix.columns()[k]);
    }
    player.write_vector<V>(product.y, row);
  }
}

// The sliced formats differ in four things: where values are, what is read when a slice begins,
// what to know the columns of one entry of some slots, and these columns.

template <Value V, Index I>
I width_of(const Sell<V, I>& matrix, Offset slice) {
  const std::span<const Offset> offsets = matrix.slice_offsets();
  return static_cast<I>((offsets[slice + 1] - offsets[slice]) / matrix.slice_height());
}
template <Value V, Index I>
void play_values(const Sell<V, I>& matrix, std::span<const I> slots, I entry, Player& player) {
  for (const I slot : slots) {
    player.read_value<V>(player.addresses().values, matrix.position(slot, entry));
  }
}
template <Value V, Index I>
void play_begin(const Sell<V, I>&, Offset slice, Player& player) {
  player.read_index<Offset>(player.addresses().offsets, slice);
  player.read_index<Offset>(player.addresses().offsets, slice + 1);
}
template <Value V, Index I>
void play_columns(const Sell<V, I>& matrix, std::span<const I> slots, I entry, Player& player) {
  for (const I slot : slots) {
    player.read_index<I>(player.addresses().columns, matrix.position(slot, entry));
  }
}
template <Value V, Index I>
I column_of(const Sell<V, I>& matrix, I slot, I entry) {
  return matrix.columns()[matrix.position(slot, entry)];
}

template <Value V, Index I>
I width_of(const PackedSell<V, I>& matrix, Offset slice) {
  return matrix.width(static_cast<I>(slice));
}
// Constants, their masks and the table are in the cache after the first slices, but for large
// tables.
template <Value V, Index I>
void play_values(const PackedSell<V, I>& matrix, std::span<const I> slots, I entry,
                 Player& player) {
  const SweepAddresses& arrays = player.addresses();
  const Offset height = matrix.slice_height();
  const I slice = slots.front() / matrix.slice_height();
  const Offset width = matrix.width(slice);
  const Offset columns =
      value_block_begin(matrix.encoding(slice), height, width, matrix.run_length());
  const std::uint64_t block = arrays.columns + matrix.code_offsets()[slice] + columns;
  const std::uint64_t data = arrays.values + matrix.data_offsets()[slice];
  const auto read_column = [&](ValueEncoding encoding, Offset number, std::uint64_t constants,
                               std::uint64_t masks, std::uint64_t place) {
    const Offset per_word = encoding == ValueEncoding::dict8 ? 4 : 2;
    switch (encoding) {
      case ValueEncoding::masked: player.read_value<std::uint32_t>(masks, number); [[fallthrough]];
      case ValueEncoding::constant: player.read_value<V>(constants, number); break;
      case ValueEncoding::dict8:
      case ValueEncoding::dict16:
        for (const I slot : slots) {
          player.read_value<std::uint32_t>(place, number / per_word * height + slot % height);
          player.read_value<V>(arrays.table, matrix.table().code_of(matrix.value(slot, entry)));
        }
        break;
      default:
        for (const I slot : slots) player.read_value<V>(place, number * height + slot % height);
    }
  };
  if (matrix.value_encoding(slice) != ValueEncoding::mixed) {
    read_column(matrix.value_encoding(slice), entry, block, block + width * sizeof(V), data);
    return;
  }
  const std::byte* stored = matrix.codes().data() + matrix.code_offsets()[slice] + columns;
  const auto header = number_at<MixedHeader>(stored, 0);
  const auto column = number_at<std::uint32_t>(stored + sizeof(MixedHeader), entry);
  const auto encoding = static_cast<ValueEncoding>(column % 8);
  player.read_value<std::uint32_t>(block + sizeof(MixedHeader), entry);
  read_column(encoding, column / 8, block + mixed_constants_begin(width, header.constants),
              block + sizeof(MixedHeader) + 4 * width,
              data + mixed_data_begin<V>(encoding, height, header));
}
template <Value V, Index I>
void play_begin(const PackedSell<V, I>&, Offset slice, Player& player) {
  player.read_index<Offset>(player.addresses().offsets, slice);
  player.read_index<Offset>(player.addresses().offsets, slice + 1);
  player.read_index<Offset>(player.addresses().code_offsets, slice);
  player.read_index<Offset>(player.addresses().data_offsets, slice);
  player.read_index<SliceEncoding>(player.addresses().encodings, slice);
  player.read_index<ValueEncoding>(player.addresses().value_encodings, slice);
}
template <Value V, Index I>
void play_columns(const PackedSell<V, I>& matrix, std::span<const I> slots, I entry,
                  Player& player) {
  const Offset height = matrix.slice_height();
  const I slice = slots.front() / matrix.slice_height();
  const SliceEncoding encoding = matrix.encoding(slice);
  const std::uint64_t codes = player.addresses().columns + matrix.code_offsets()[slice];
  const Offset run = matrix.run_length();
  const std::uint64_t deltas =
      codes + delta_begin(height, bases_of(encoding, matrix.width(slice), run));
  const Offset base = has_runs(encoding) ? entry / run : Offset{entry};
  if (encoding != SliceEncoding::index32) player.read_index<std::int32_t>(codes, base);
  for (const I slot : slots) {
    const Offset code = base * height + slot % height;
    switch (encoding) {
      case SliceEncoding::dia: break;
      case SliceEncoding::run8:
      case SliceEncoding::delta8: player.read_index<std::uint8_t>(deltas, code); break;
      case SliceEncoding::run16:
      case SliceEncoding::delta16: player.read_index<std::uint16_t>(deltas, code); break;
      case SliceEncoding::index32: player.read_index<std::int32_t>(codes, code); break;
    }
  }
}
template <Value V, Index I>
I column_of(const PackedSell<V, I>& matrix, I slot, I entry) {
  return matrix.column(slot, entry);
}

// The slots of one slice that a product computes. Those after the last row run along with it.
template <class Matrix, Index I>
std::vector<I> slots_in(const Matrix& matrix, Offset slice, RowRange<I> rows) {
  std::vector<I> slots;
  for (I lane = 0; lane < matrix.slice_height(); ++lane) {
    const Offset slot = slice * matrix.slice_height() + lane;
    const bool holds_row = slot < matrix.rows();
    const bool runs =
        holds_row ? rows.contains(matrix.row_at(static_cast<I>(slot))) : rows.end == matrix.rows();
    if (runs) slots.push_back(static_cast<I>(slot));
  }
  return slots;
}

template <class Matrix, Index I>
void play_slice(const Matrix& matrix, std::span<const I> slots, const Product<I>& product,
                Player& player) {
  using V = typename Matrix::value_type;
  const Offset height = matrix.slice_height();
  const Offset slice = slots.front() / height;
  play_begin(matrix, slice, player);
  for (I entry = 0; entry < width_of(matrix, slice); ++entry) {
    play_columns(matrix, slots, entry, player);
    play_values(matrix, slots, entry, player);
    for (const I slot : slots) {
      player.read_vector<V>(product.x, column_of(matrix, slot, entry));
    }
  }
  for (const I slot : slots) {
    if (slot >= matrix.rows()) break;
    if (matrix.sorted()) player.read_index<I>(player.addresses().row_of_slot, slot);
    player.write_vector<V>(product.y, matrix.row_at(slot));
  }
}

template <class Sliced, Index I>
void play(const Sliced& matrix, const Product<I>& product, Player& player) {
  if (product.rows.begin >= product.rows.end) return;
  // Only the sort windows that the rows touch can hold them.
  const Offset window = matrix.sort_window();
  const Offset first_slot = product.rows.begin / window * window;
  const Offset end_slot =
      std::min<Offset>(ceil_div<Offset>(product.rows.end, window) * window, matrix.rows());
  const Offset end_slice = ceil_div<Offset>(end_slot, matrix.slice_height());
  for (Offset slice = first_slot / matrix.slice_height(); slice < end_slice; ++slice) {
    const std::vector<I> slots = slots_in(matrix, slice, product.rows);
    if (!slots.empty()) play_slice<Sliced, I>(matrix, slots, product, player);
  }
}

}  // namespace

template <Value V, Index I>
SweepAddresses place_arrays(const Csr<V, I>& matrix, int power) {
  AddressSpace space;
  return {.values = space.place(matrix.values()),
          .columns = space.place(matrix.columns()),
          .offsets = space.place(matrix.row_offsets()),
          .vectors = space.place_vectors<V>(power, matrix.rows())};
}

template <Value V, Index I>
SweepAddresses place_arrays(const Sell<V, I>& matrix, int power) {
  AddressSpace space;
  return {.values = space.place(matrix.values()),
          .columns = space.place(matrix.columns()),
          .offsets = space.place(matrix.slice_offsets()),
          .row_of_slot = space.place(matrix.row_of_slot()),
          .vectors = space.place_vectors<V>(power, matrix.rows())};
}

template <Value V, Index I>
SweepAddresses place_arrays(const PackedSell<V, I>& matrix, int power) {
  AddressSpace space;
  return {.values = space.place(matrix.data()),
          .columns = space.place(matrix.codes()),
          .offsets = space.place(matrix.entry_offsets()),
          .code_offsets = space.place(matrix.code_offsets()),
          .encodings = space.place(matrix.encodings()),
          .data_offsets = space.place(matrix.data_offsets()),
          .value_encodings = space.place(matrix.value_encodings()),
          .table = space.place(matrix.table().values()),
          .row_of_slot = space.place(matrix.row_of_slot()),
          .vectors = space.place_vectors<V>(power, matrix.rows())};
}

template <class Matrix>
SweepMisses play_sweep(const Matrix& matrix, const Tiling<typename Matrix::index_type>& tiling,
                       const Schedule& schedule, const SweepAddresses& addresses,
                       CacheSimulator& cache) {
  using I = typename Matrix::index_type;
  if (tiling.row_offsets.back() != matrix.rows() || matrix.rows() != matrix.cols()) {
    throw InvalidArgument(fmt::format("a tiling of {} rows for a {} x {} matrix",
                                      tiling.row_offsets.back(), matrix.rows(), matrix.cols()));
  }
  if (addresses.vectors.size() != static_cast<std::size_t>(schedule.power) + 1) {
    throw InvalidArgument(
        fmt::format("{} vectors for x and {} powers", addresses.vectors.size(), schedule.power));
  }
  Player player(addresses, cache);
  for (const Task& task : schedule.tasks) {
    const RowRange<I> rows{tiling.row_offsets[task.begin], tiling.row_offsets[task.end]};
    play(matrix, Product<I>{rows, addresses.vectors[task.power - 1], addresses.vectors[task.power]},
         player);
  }
  return player.misses();
}

#define STRATA_INSTANTIATE_FOR(Matrix, V, I)                                              \
  template SweepAddresses place_arrays(const Matrix<V, I>&, int);                         \
  template SweepMisses play_sweep(const Matrix<V, I>&, const Tiling<I>&, const Schedule&, \
                                  const SweepAddresses&, CacheSimulator&)
#define STRATA_INSTANTIATE(V, I)      \
  STRATA_INSTANTIATE_FOR(Csr, V, I);  \
  STRATA_INSTANTIATE_FOR(Sell, V, I); \
  STRATA_INSTANTIATE_FOR(PackedSell, V, I)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata

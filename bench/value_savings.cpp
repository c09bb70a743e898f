// What further lossless encodings of values would save in packed SELL beyond those that it has.
// Nothing is timed: bytes are counted, slice by slice, and a saving counts only where it takes
// fewer bytes than what the slice is stored in today.
//
//     value_savings [--json FILE] WHERE…
//
// WHERE is a generator's specification, a Matrix Market file, a folder of those, or a suite file
// (NAME.txt: a class and a matrix per line, @ for the folder `matrices` beside it), of which the
// class cpu is taken. Folders and suite files have geometric means of their own.
//
// The savings, in bytes of a slice of C rows and `width` entries per row (D is 1, complex 2):
//
//   row_constant      all entries of a row have one value, but perhaps that on the diagonal, which
//   a
//                     kernel knows by its column: one value per row, or its code, and one for the
//                     diagonal. Which entries are holes: a mask per column (dia) or the length of
//                     each row (2 bytes).
//   narrow            all values are exactly integers of 1, 2 or 4 bytes, or floats of 2 (either
//                     kind) or 4: width · C · D times as many bytes.
//   seven_bytes       sign and exponent take at most 16 patterns in the slice: 4 bits name one of
//                     them, 52 are the fraction, and the patterns take 32 bytes.
//   byte_planes       the same without the last bytes of the fraction where they are 0 in the whole
//                     slice; 8 bytes less those where there are more patterns.
//   symmetric_scatter the lower triangle alone as packed SELL, if that is less for the matrix:
//   values
//                     and columns are read once and y is updated in two places.
//   symmetric_gather  `dia` slices take full values below the diagonal from where the mirrored
//                     entries are stored, which is hoped to be in a cache still. Per column of a
//                     slice: two places and a mask, 12 bytes.
//
// In mixed slices the second to fourth apply to the columns with full values. Slices that share
// their data today would share what takes its place, and value blocks that several slices share
// stay. The table of values goes where no code is left.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "strata/formats/packed_sell.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/gen/generate.hpp"
#include "strata/io/matrix_market.hpp"
#include "strata/measure/json.hpp"

namespace {

using namespace strata;

enum class Saving {
  row_constant,
  narrow,
  seven_bytes,
  byte_planes,
  symmetric_scatter,
  symmetric_gather
};
constexpr std::size_t kSavings = 6;
constexpr std::size_t kSliceSavings = 4;  // the first of them: those that replace a slice's values
constexpr std::array<std::string_view, kSavings> kNames{"row_constant",      "narrow",
                                                        "seven_bytes",       "byte_planes",
                                                        "symmetric_scatter", "symmetric_gather"};
constexpr std::array<Offset, 4> kHeights{4, 8, 16, 32};

// What one saving leaves of a matrix.
struct Saved {
  Offset bytes = 0;
  Offset slices = 0;  // those that would be stored in the new way
};

// One slice height.
struct Counted {
  Offset height = 0;
  Offset slices = 0;
  Offset full = 0;   // bytes with full values
  Offset today = 0;  // bytes with all encodings
  std::array<Saved, kSavings> saved = {};
  // Of symmetric_gather: the bytes of the matrix between a value's first use and its last.
  Offset gather_distance = 0;
};

struct Result {
  std::string set = {};
  std::string matrix = {};
  std::string_view type;
  std::string_view symmetry;
  Offset rows = 0;
  Offset nnz = 0;
  Offset value_size = 0;
  std::vector<Counted> heights = {};

  const Counted& of_height(Offset height) const {
    return *std::ranges::find(heights, height, &Counted::height);
  }
  Offset least_today() const { return std::ranges::min(heights, {}, &Counted::today).today; }
  Offset least(std::size_t saving) const {
    const auto bytes = [&](const Counted& counted) { return counted.saved[saving].bytes; };
    return bytes(std::ranges::min(heights, {}, bytes));
  }
  // How much less a product reads and writes, x and y included: 2 vectors, and y once more where it
  // is updated instead of written. Where that is not less, nothing changes.
  double roofline_gain(std::size_t saving) const {
    const Counted& counted = of_height(32);
    const Offset vector = rows * value_size;
    const bool updates = saving == static_cast<std::size_t>(Saving::symmetric_scatter);
    const Offset today = counted.today + 2 * vector;
    const Offset then = counted.saved[saving].bytes + (updates ? 3 : 2) * vector;
    return static_cast<double>(today) / static_cast<double>(std::min(today, then));
  }
};

template <Value V>
constexpr Offset kParts = Offset{sizeof(V)} / 8;  // doubles of a value

template <Value V>
std::array<double, kParts<V>> parts_of(V value) {
  return std::bit_cast<std::array<double, kParts<V>>>(value);
}

template <Value V>
bool same_bits(V a, V b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Number types that a double may be exactly, as bits of a set.
enum NarrowType : unsigned {
  kInt8 = 1,
  kInt16 = 2,
  kHalf = 4,
  kBfloat16 = 8,
  kInt32 = 16,
  kFloat = 32,
  kAllNarrow = 63
};

// The bytes of the narrowest type of a set, 8 if it is empty.
Offset narrowest(unsigned types) {
  if (types & kInt8) return 1;
  if (types & (kInt16 | kHalf | kBfloat16)) return 2;
  return types != 0 ? 4 : 8;
}

template <class Integer>
bool is_exactly(double value) {
  return value >= std::numeric_limits<Integer>::min() &&
         value <= std::numeric_limits<Integer>::max() &&
         same_bits(static_cast<double>(static_cast<Integer>(value)), value);
}

bool is_half(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent) * 2048;
  const double smallest = value * 16777216;  // in units of the smallest half
  return std::abs(value) <= 65504 && fraction == std::trunc(fraction) &&
         smallest == std::trunc(smallest);
}

unsigned narrow_types(double value) {
  unsigned types = 0;
  if (is_exactly<std::int8_t>(value)) types |= kInt8;
  if (is_exactly<std::int16_t>(value)) types |= kInt16;
  if (is_exactly<std::int32_t>(value)) types |= kInt32;
  // Beyond the range of floats the conversion would be undefined.
  const bool in_range = !(std::abs(value) > std::numeric_limits<float>::max()) || std::isinf(value);
  if (!in_range || !same_bits(static_cast<double>(static_cast<float>(value)), value)) return types;
  types |= kFloat;
  if ((std::bit_cast<std::uint32_t>(static_cast<float>(value)) & 0xffff) == 0) types |= kBfloat16;
  if (is_half(value)) types |= kHalf;
  return types;
}

// What the values of a slice, or of its full columns, have in common.
class CommonBits {
 public:
  void add(double value) {
    types_ &= types_ != 0 ? narrow_types(value) : 0;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto pattern = static_cast<std::uint16_t>(bits >> 52);
    if (patterns_ <= kPatterns &&
        std::find(seen_.begin(), seen_.begin() + patterns_, pattern) == seen_.begin() + patterns_) {
      if (patterns_ < kPatterns) seen_[patterns_] = pattern;
      ++patterns_;
    }
    fractions_ |= bits & ((std::uint64_t{1} << 52) - 1);
  }

  // The bytes of so many doubles in each way.
  Offset bytes(Saving saving, Offset count) const {
    const bool few = patterns_ <= kPatterns;
    const Offset zeros = std::min(6, std::countr_zero(fractions_) / 8);
    switch (saving) {
      case Saving::narrow: return count * narrowest(types_);
      case Saving::seven_bytes: return few ? count * 7 + 32 : count * 8;
      default: return few ? count * (7 - zeros) + 32 : count * (8 - zeros);
    }
  }

 private:
  static constexpr int kPatterns = 16;
  unsigned types_ = kAllNarrow;
  std::array<std::uint16_t, kPatterns> seen_{};
  int patterns_ = 0;  // kPatterns + 1: more
  std::uint64_t fractions_ = 0;
};

struct Alternative {
  Offset bytes = std::numeric_limits<Offset>::max();
  bool codes = false;  // needs the table of values
};

// The savings in one packed matrix.
template <Value V>
class Counter {
 public:
  using Matrix = PackedSell<V, std::int32_t>;

  explicit Counter(const Matrix& packed) : packed_(packed), height_(packed.slice_height()) {
    for (std::int32_t slice = 0; slice < packed.slices(); ++slice) {
      if (packed.width(slice) > 0) ++users_[packed.code_offsets()[slice]];
    }
  }

  void count(Counted& counted) {
    std::array<Offset, kSliceSavings> saved{};
    std::array<Offset, kSliceSavings> codes_left{};
    std::array<std::unordered_map<Offset, bool>, kSliceSavings> chosen_data;
    for (std::int32_t slice = 0; slice < packed_.slices(); ++slice) {
      if (packed_.width(slice) == 0) continue;
      const Owned owned = take_owned(slice);
      const Offset data = packed_.data_offsets()[slice];
      if (owned.data_bytes == 0 && packed_.data_of(slice).size() > 0) {
        for (std::size_t s = 0; s < kSliceSavings; ++s) {
          counted.saved[s].slices += chosen_data[s][data];
        }
        continue;
      }
      read_values(slice);
      const bool codes = has_codes(slice);
      for (std::size_t s = 0; s < kSliceSavings; ++s) {
        const Alternative other = alternative(static_cast<Saving>(s), slice, owned);
        const Offset today = owned.data_bytes + owned.block_bytes;
        const bool chosen = other.bytes < today;
        chosen_data[s][data] = chosen;
        counted.saved[s].slices += chosen;
        if (chosen) saved[s] += today - other.bytes;
        codes_left[s] += other.bytes <= today ? other.codes : codes;
      }
    }
    require_all_counted();
    const Offset table = packed_.table().size() * Offset{sizeof(V)};
    for (std::size_t s = 0; s < kSliceSavings; ++s) {
      counted.saved[s].bytes = counted.today - saved[s] - (codes_left[s] == 0 ? table : 0);
    }
  }

  // For a matrix with symmetric values.
  void count_gathered(Counted& counted) {
    Saved& gather = counted.saved[static_cast<std::size_t>(Saving::symmetric_gather)];
    constexpr Offset kDescription = 12;
    std::int64_t farthest = 0;
    for (std::int32_t slice = 0; slice < packed_.slices(); ++slice) {
      if (packed_.encoding(slice) != SliceEncoding::dia) continue;
      Offset columns = 0;
      for (std::int32_t entry = 0; entry < packed_.width(slice); ++entry) {
        const std::int32_t offset = offset_of(slice, entry);
        if (offset >= 0) break;
        if (!is_full(slice, entry) || !mirrors_are_full(slice, entry, -offset)) continue;
        ++columns;
        farthest = std::max<std::int64_t>(farthest, -offset);
      }
      gather.slices += columns > 0;
      gather.bytes -= columns * (height_ * Offset{sizeof(V)} - kDescription);
    }
    counted.gather_distance = farthest * (counted.today / std::max(1, packed_.rows()));
  }

 private:
  // What of its values is stored for this slice first or alone.
  struct Owned {
    Offset data_bytes = 0;
    Offset block_bytes = 0;
  };

  Owned take_owned(std::int32_t slice) {
    Owned owned;
    if (packed_.data_offsets()[slice] == data_end_) {
      owned.data_bytes = std::ssize(packed_.data_of(slice));
      data_end_ += owned.data_bytes;
    }
    if (packed_.code_offsets()[slice] == code_end_) {
      const Offset block = packed_.block_bytes(slice) -
                           value_block_begin(packed_.encoding(slice), height_, packed_.width(slice),
                                             packed_.run_length());
      code_end_ += packed_.block_bytes(slice);
      counted_ += block;
      if (users_[packed_.code_offsets()[slice]] == 1) owned.block_bytes = block;
    }
    counted_ += owned.data_bytes;
    return owned;
  }

  void require_all_counted() const {
    const Offset table = packed_.table().size() * Offset{sizeof(V)};
    if (counted_ + table != packed_.footprint().value_bytes) {
      throw InvalidArgument("the bytes of the slices do not add up to those of the matrix");
    }
  }

  void read_values(std::int32_t slice) {
    const Offset width = packed_.width(slice);
    const SliceValues<V> values{
        packed_.value_encoding(slice),
        height_,
        width,
        packed_.codes().data() + packed_.code_offsets()[slice] +
            value_block_begin(packed_.encoding(slice), height_, width, packed_.run_length()),
        packed_.data().data() + packed_.data_offsets()[slice],
        packed_.table().values().data()};
    values_.resize(static_cast<std::size_t>(width * height_));
    for (Offset entry = 0; entry < width; ++entry) {
      for (Offset lane = 0; lane < height_; ++lane) {
        values_[entry * height_ + lane] = values.at(entry, lane);
      }
    }
  }

  bool has(std::int32_t slice, Offset entry, Offset lane) const {
    return slice * height_ + lane < packed_.rows() &&
           packed_.presence().has(packed_.entry_offsets()[slice] + entry * height_ + lane);
  }
  bool has_codes(std::int32_t slice) const {
    switch (packed_.value_encoding(slice)) {
      case ValueEncoding::dict8:
      case ValueEncoding::dict16: return true;
      case ValueEncoding::mixed: {
        const MixedHeader mixed = packed_.mixed_header(slice);
        return mixed.dict8 + mixed.dict16 > 0;
      }
      default: return false;
    }
  }
  bool is_full(std::int32_t slice, Offset entry) const {
    if (packed_.value_encoding(slice) != ValueEncoding::mixed) {
      return packed_.value_encoding(slice) == ValueEncoding::full;
    }
    const std::byte* block = packed_.codes().data() + packed_.code_offsets()[slice] +
                             value_block_begin(packed_.encoding(slice), height_,
                                               packed_.width(slice), packed_.run_length());
    const auto column = number_at<std::uint32_t>(block + sizeof(MixedHeader), entry);
    return static_cast<ValueEncoding>(column % 8) == ValueEncoding::full;
  }

  Offset aligned(Offset bytes) const {
    const Offset alignment = data_alignment(height_, sizeof(V));
    return ceil_div<Offset>(bytes, alignment) * alignment;
  }

  Alternative alternative(Saving saving, std::int32_t slice, const Owned& owned) {
    if (saving == Saving::row_constant) return row_constant(slice);
    const Offset doubles = packed_.width(slice) * height_ * kParts<V>;
    const Alternative whole{aligned(common_bits(slice, false).bytes(saving, doubles)), false};
    if (packed_.value_encoding(slice) != ValueEncoding::mixed) return whole;
    const MixedHeader mixed = packed_.mixed_header(slice);
    if (mixed.full == 0) return whole;
    const Offset full = mixed.full * height_ * kParts<V>;
    const Offset data =
        value_data_bytes(ValueEncoding::mixed, height_, packed_.width(slice), sizeof(V), mixed) -
        full * 8 + common_bits(slice, true).bytes(saving, full);
    const Alternative columns{aligned(data) + owned.block_bytes, has_codes(slice)};
    return columns.bytes < whole.bytes ? columns : whole;
  }

  CommonBits common_bits(std::int32_t slice, bool full_columns) const {
    CommonBits common;
    for (Offset entry = 0; entry < packed_.width(slice); ++entry) {
      if (full_columns && !is_full(slice, entry)) continue;
      for (Offset lane = 0; lane < height_; ++lane) {
        for (const double part : parts_of(values_[entry * height_ + lane])) common.add(part);
      }
    }
    return common;
  }

  // The value of a row's entries, and whether that on the diagonal is another; none if others
  // differ.
  struct RowValue {
    V value{};
    V diagonal{};
    bool diagonal_differs = false;
    Offset entries = 0;
  };
  template <class ColumnOf>
  std::optional<RowValue> row_value(std::int32_t slice, Offset lane,
                                    const ColumnOf& column_of) const {
    RowValue row;
    bool any = false;
    bool diagonal = false;
    for (Offset entry = 0; entry < packed_.width(slice); ++entry) {
      if (!has(slice, entry, lane)) continue;
      ++row.entries;
      const V value = values_[entry * height_ + lane];
      if (column_of(entry, lane) == slice * height_ + lane) {
        row.diagonal = value;
        diagonal = true;
      } else if (!any) {
        row.value = value;
        any = true;
      } else if (!same_bits(row.value, value)) {
        return std::nullopt;
      }
    }
    if (diagonal && !any) row.value = row.diagonal;
    row.diagonal_differs = diagonal && !same_bits(row.value, row.diagonal);
    return row;
  }

  Alternative row_constant(std::int32_t slice) const {
    Alternative best;
    const Offset width = packed_.width(slice);
    const auto try_rows = [&](const auto& column_of) {
      bool diagonals = false;
      Offset entries = 0;
      std::int32_t largest = 0;
      bool coded = true;
      const auto use = [&](V value) {
        const std::int32_t code = packed_.table().code_of(value);
        coded &= code >= 0;
        largest = std::max(largest, code);
      };
      for (Offset lane = 0; lane < height_; ++lane) {
        const std::optional<RowValue> row = row_value(slice, lane, column_of);
        if (!row) return;
        diagonals |= row->diagonal_differs;
        entries += row->entries;
        use(row->value);
        if (row->diagonal_differs) use(row->diagonal);
      }
      const bool dia = packed_.encoding(slice) == SliceEncoding::dia;
      const Offset holes = entries == width * height_ ? 0 : dia ? 4 * width : 2 * height_;
      const Offset values = height_ * (diagonals ? 2 : 1);
      best = {aligned(values * Offset{sizeof(V)} + holes), false};
      if (coded && packed_.table().size() > 0) {
        const Offset in_codes = aligned(values * (largest <= 0xff ? 1 : 2) + holes);
        if (in_codes < best.bytes) best = {in_codes, true};
      }
    };
    with_slice_columns(packed_.encoding(slice),
                       packed_.codes().data() + packed_.code_offsets()[slice], slice * height_,
                       height_, width, packed_.run_length(), try_rows);
    return best;
  }

  std::int32_t offset_of(std::int32_t slice, Offset entry) const {
    return number_at<std::int32_t>(packed_.codes().data() + packed_.code_offsets()[slice], entry);
  }

  // Whether the entries of a column of a `dia` slice, `distance` below the diagonal, are stored as
  // they are once more, above it.
  bool mirrors_are_full(std::int32_t slice, Offset entry, std::int32_t distance) const {
    for (Offset lane = 0; lane < height_; ++lane) {
      if (!has(slice, entry, lane)) continue;
      const auto other = static_cast<std::int32_t>((slice * height_ + lane - distance) / height_);
      if (packed_.encoding(other) != SliceEncoding::dia) return false;
      Offset mirror = packed_.width(other) - 1;
      while (mirror >= 0 && offset_of(other, mirror) != distance) --mirror;
      if (mirror < 0 || !is_full(other, mirror)) return false;
    }
    return true;
  }

  const Matrix& packed_;
  Offset height_;
  std::unordered_map<Offset, Offset> users_;  // of a code block, by its offset
  std::vector<V> values_;
  Offset data_end_ = 0;
  Offset code_end_ = 0;
  Offset counted_ = 0;
};

template <Value V>
Csr<V, std::int32_t> lower_triangle(const Csr<V, std::int32_t>& matrix) {
  Array<Offset> row_offsets(1, 0);
  Array<std::int32_t> columns;
  Array<V> values;
  for (std::int32_t row = 0; row < matrix.rows(); ++row) {
    for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      if (matrix.columns()[at] > row) break;
      columns.push_back(matrix.columns()[at]);
      values.push_back(matrix.values()[at]);
    }
    row_offsets.push_back(std::ssize(columns));
  }
  return {matrix.rows(), matrix.cols(), std::move(row_offsets), std::move(columns),
          std::move(values)};
}

template <Value V>
Result analysed(const Csr<V, std::int32_t>& matrix) {
  using Matrix = PackedSell<V, std::int32_t>;
  const Symmetry symmetry = statistics_of(matrix).value_symmetry;
  const bool symmetric = symmetry != Symmetry::general;
  const Csr<V, std::int32_t> lower = symmetric ? lower_triangle(matrix) : Csr<V, std::int32_t>();
  Result result{.type = is_complex<V> ? "complex" : "real",
                .symmetry = name_of(symmetry),
                .rows = matrix.rows(),
                .nnz = matrix.nnz(),
                .value_size = sizeof(V)};
  for (const Offset height : kHeights) {
    const PackedSellOptions options{.slice_height = height, .max_fill = 1e6};
    PackedSellOptions full = options;
    full.stored_values = static_cast<Offset>(StoredValues::full);
    const Matrix packed = Matrix::from_csr(matrix, options);
    Counted counted{.height = height,
                    .slices = packed.slices(),
                    .full = Matrix::footprint_of(matrix, full).bytes(),
                    .today = packed.footprint().bytes()};
    for (Saved& saved : counted.saved) saved.bytes = counted.today;
    Counter<V> counter(packed);
    counter.count(counted);
    if (symmetric) {
      counter.count_gathered(counted);
      const Offset half = Matrix::footprint_of(lower, options).bytes();
      Saved& scatter = counted.saved[static_cast<std::size_t>(Saving::symmetric_scatter)];
      if (half < scatter.bytes) scatter = {half, packed.slices()};
    }
    result.heights.push_back(counted);
  }
  return result;
}

Result analysed(const std::string& argument) {
  if (is_generator_spec(argument)) return analysed(generate<double, std::int32_t>(argument));
  MatrixMarketFile file(argument);
  return file.header().field == MatrixMarketHeader::Field::complex
             ? analysed(file.read<std::complex<double>, std::int32_t>())
             : analysed(file.read<double, std::int32_t>());
}

// A matrix to read or generate.
struct Item {
  std::string set;
  std::string name;
  std::string argument;
};

std::vector<Item> items_of_folder(const std::filesystem::path& folder) {
  std::vector<Item> items;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".mtx") && !name.ends_with(".mtx.gz")) continue;
    items.push_back({folder.filename().string(), name, entry.path().string()});
  }
  std::ranges::sort(items, {}, &Item::name);
  return items;
}

std::vector<Item> items_of_suite(const std::filesystem::path& suite) {
  std::ifstream file(suite);
  if (!file) throw FileError(suite.string(), "cannot be read");
  std::vector<Item> items;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string size_class;
    std::string spec;
    words >> size_class >> spec;
    if (size_class != "cpu") continue;
    std::string argument = spec;
    if (const std::size_t at = spec.find('@'); at != std::string::npos) {
      argument.replace(at, 1, (suite.parent_path() / "matrices").string());
    }
    items.push_back({suite.stem().string(), spec, argument});
  }
  return items;
}

std::vector<Item> items_of(const std::string& where) {
  const std::filesystem::path path(where);
  if (is_generator_spec(where)) return {{"", where, where}};
  if (std::filesystem::is_directory(path)) return items_of_folder(path);
  if (path.extension() == ".txt") return items_of_suite(path);
  return {{"", path.filename().string(), where}};
}

// Over the matrices of a set that have entries.
struct Means {
  std::string set;
  Offset matrices = 0;
  double full = 0;                           // bytes per nonzero, C = 32
  double today = 0;                          // likewise
  std::array<double, kSavings> left{};       // of today's bytes, C = 32
  std::array<double, kSavings> left_best{};  // the best C for each against the best C today
  std::array<double, kSavings> gain{};       // by the roofline, C = 32
};

template <class Quantity>
double geometric_mean(const std::vector<const Result*>& results, const Quantity& quantity) {
  double sum = 0;
  for (const Result* result : results) sum += std::log(quantity(*result));
  return std::exp(sum / static_cast<double>(results.size()));
}

double ratio(Offset one, Offset other) {
  return static_cast<double>(one) / static_cast<double>(other);
}

Means means_of(const std::string& set, const std::vector<const Result*>& results) {
  Means means{.set = set, .matrices = std::ssize(results)};
  const auto mean = [&](const auto& quantity) { return geometric_mean(results, quantity); };
  means.full = mean([](const Result& r) { return ratio(r.of_height(32).full, r.nnz); });
  means.today = mean([](const Result& r) { return ratio(r.of_height(32).today, r.nnz); });
  for (std::size_t s = 0; s < kSavings; ++s) {
    means.left[s] = mean([&](const Result& r) {
      return ratio(r.of_height(32).saved[s].bytes, r.of_height(32).today);
    });
    means.left_best[s] = mean([&](const Result& r) { return ratio(r.least(s), r.least_today()); });
    means.gain[s] = mean([&](const Result& r) { return r.roofline_gain(s); });
  }
  return means;
}

std::vector<Means> means_by_set(const std::vector<Result>& results) {
  std::map<std::string, std::vector<const Result*>> sets;
  for (const Result& result : results) {
    if (!result.set.empty() && result.nnz > 0) sets[result.set].push_back(&result);
  }
  std::vector<Means> all;
  for (const auto& [set, members] : sets) all.push_back(means_of(set, members));
  return all;
}

void print_row(const Result& result) {
  const Counted& counted = result.of_height(32);
  fmt::print("{:<48} {:>9} {:>7.3f} {:>7.3f}", result.matrix, result.nnz,
             ratio(counted.full, result.nnz), ratio(counted.today, result.nnz));
  for (std::size_t s = 0; s < kSavings; ++s) {
    fmt::print(" {:>7.3f} {:>5.3f}", ratio(counted.saved[s].bytes, result.nnz),
               ratio(counted.saved[s].bytes, counted.today));
  }
  fmt::print("\n");
  std::fflush(stdout);
}

void print_means(const Means& means) {
  fmt::print("\n{}: {} matrices, geometric means of bytes per nonzero: full {:.3f}, today {:.3f}\n",
             means.set, means.matrices, means.full, means.today);
  for (std::size_t s = 0; s < kSavings; ++s) {
    fmt::print("  {:<18} leaves {:.4f} of today's bytes (best C {:.4f}), roofline x{:.3f}\n",
               kNames[s], means.left[s], means.left_best[s], means.gain[s]);
  }
}

Json json_of(const Counted& counted) {
  Json json{{"slice_height", counted.height},
            {"slices", counted.slices},
            {"bytes_full", counted.full},
            {"bytes", counted.today},
            {"gather_distance_bytes", counted.gather_distance}};
  for (std::size_t s = 0; s < kSavings; ++s) {
    json["with"][kNames[s]] = {
        {"bytes", counted.saved[s].bytes},
        {"share_of_slices",
         counted.slices == 0 ? 0 : ratio(counted.saved[s].slices, counted.slices)}};
  }
  return json;
}

Json json_of(const Result& result) {
  Json json{{"matrix", result.matrix},     {"set", result.set},   {"type", result.type},
            {"symmetry", result.symmetry}, {"rows", result.rows}, {"nnz", result.nnz}};
  for (const Counted& counted : result.heights) json["packed_sell"].push_back(json_of(counted));
  return json;
}

Json json_of(const Means& means) {
  Json json{{"set", means.set},
            {"matrices", means.matrices},
            {"bytes_per_nonzero_full", means.full},
            {"bytes_per_nonzero", means.today}};
  for (std::size_t s = 0; s < kSavings; ++s) {
    json["with"][kNames[s]] = {{"bytes_over_today", means.left[s]},
                               {"bytes_over_today_best_height", means.left_best[s]},
                               {"roofline_gain", means.gain[s]}};
  }
  return json;
}

void run(int argc, char** argv) {
  std::string json_file;
  std::vector<Item> items;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json_file = argv[++i];
      continue;
    }
    std::ranges::move(items_of(argv[i]), std::back_inserter(items));
  }
  fmt::print("C = 32: bytes per nonzero, and behind each saving what is left of today's bytes\n");
  fmt::print("{:<48} {:>9} {:>7} {:>7}", "matrix", "nnz", "full", "today");
  for (const std::string_view name : kNames) fmt::print(" {:>13.13}", name);
  fmt::print("\n");
  std::vector<Result> results;
  Json matrices = Json::array();
  for (const Item& item : items) {
    Result& result = results.emplace_back(analysed(item.argument));
    result.set = item.set;
    result.matrix = item.name;
    print_row(result);
    matrices.push_back(json_of(result));
  }
  Json means = Json::array();
  for (const Means& of_set : means_by_set(results)) {
    print_means(of_set);
    means.push_back(json_of(of_set));
  }
  if (json_file.empty()) return;
  std::ofstream(json_file) << text_of(Json{{"means", means}, {"matrices", matrices}}) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "value_savings: {}\n", error.what());
    return 1;
  }
}

#include "strata/io/petsc_binary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/io/internal/output_file.hpp"
#include "strata/io/internal/seekable_file.hpp"

namespace strata {

namespace {

constexpr std::int64_t kMatrixClass = 1211216;
// What may follow a matrix: vectors, index sets, other matrices.
constexpr std::array<std::int64_t, 3> kClasses{1211214, 1211218, kMatrixClass};
constexpr std::int64_t kDense = -1;
constexpr std::int64_t kHeaderIntegers = 4;
// Read and written at a time.
constexpr Offset kPieceNumbers = Offset{1} << 16;

template <class Word>
Word big_endian(const char* bytes) {
  Word word = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i) {
    word = static_cast<Word>(word << 8 | static_cast<unsigned char>(bytes[i]));
  }
  return word;
}

template <class Word>
void put_big_endian(Word word, char* bytes) {
  for (std::size_t i = sizeof(Word); i-- > 0; word = static_cast<Word>(word >> 8)) {
    bytes[i] = static_cast<char>(word & 0xff);
  }
}

std::int64_t integer_at(const char* bytes, int width) {
  return width == 4 ? std::int64_t{static_cast<std::int32_t>(big_endian<std::uint32_t>(bytes))}
                    : static_cast<std::int64_t>(big_endian<std::uint64_t>(bytes));
}

double double_at(const char* bytes) {
  return std::bit_cast<double>(big_endian<std::uint64_t>(bytes));
}

// visit(number, bytes of it) for `count` numbers of `width` bytes from `offset` of the file on.
template <class Visit>
void visit_numbers(const detail::SeekableFile& file, std::int64_t offset, Offset count, int width,
                   const Visit& visit) {
  const Offset pieces = ceil_div(count, kPieceNumbers);
  parallel_dynamic(pieces, 1, [&](Offset piece, Offset) {
    const Offset begin = piece * kPieceNumbers;
    const Offset end = std::min(begin + kPieceNumbers, count);
    Array<char> bytes((end - begin) * width);
    file.read_at(offset + begin * width, bytes);
    for (Offset i = begin; i < end; ++i) visit(i, bytes.data() + (i - begin) * width);
  });
}

// The bytes of the class id and so of all integers; nothing if there is none.
std::optional<int> integer_bytes_of(const detail::SeekableFile& file) {
  std::array<char, 8> start;
  for (const int width : {4, 8}) {
    if (file.size() < width) return std::nullopt;
    file.read_at(0, std::span(start).first(static_cast<std::size_t>(width)));
    if (integer_at(start.data(), width) == kMatrixClass) return width;
  }
  return std::nullopt;
}

}  // namespace

struct PetscBinaryFile::File {
  explicit File(const std::filesystem::path& path) : bytes(path) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw InvalidMatrix(fmt::format("{}: {}", bytes.name(), why));
  }

  detail::SeekableFile bytes;
  std::int64_t lengths = 0;  // where the numbers of entries, the columns and the values begin
  std::int64_t columns = 0;
  std::int64_t values = 0;
};

bool is_petsc_binary(const std::filesystem::path& path) {
  try {
    return integer_bytes_of(detail::SeekableFile(path)).has_value();
  } catch (const FileError&) {
    return false;
  }
}

PetscBinaryFile::PetscBinaryFile(const std::filesystem::path& path) {
  const auto file = std::make_shared<File>(path);
  const std::optional<int> width = integer_bytes_of(file->bytes);
  if (!width) file->refuse("the file does not begin as a matrix of PETSc does");
  integer_bytes_ = *width;
  const std::int64_t size = file->bytes.size();
  file->lengths = kHeaderIntegers * integer_bytes_;
  if (size < file->lengths) file->refuse("the file ends before the sizes of the matrix");
  std::array<char, kHeaderIntegers * 8> start;
  file->bytes.read_at(0, std::span(start).first(static_cast<std::size_t>(file->lengths)));
  const auto header = [&](int place) {
    return integer_at(start.data() + place * integer_bytes_, integer_bytes_);
  };
  shape_ = {header(1), header(2)};
  entries_ = header(3);
  if (entries_ == kDense) file->refuse("the matrix is dense, and only sparse ones are read");
  if (shape_.rows < 0 || shape_.cols < 0 || entries_ < 0) {
    file->refuse(fmt::format("{} x {} with {} entries is no size of a matrix", shape_.rows,
                             shape_.cols, entries_));
  }

  // Nothing overflows: what does not fit into the file is refused before it is multiplied.
  const auto refuse_length = [&] {
    file->refuse(fmt::format("{} bytes are not the length of a {} x {} matrix with {} entries",
                             size, shape_.rows, shape_.cols, entries_));
  };
  const std::int64_t integers = (size - file->lengths) / integer_bytes_;
  if (shape_.rows > integers || entries_ > integers - shape_.rows) refuse_length();
  file->columns = file->lengths + shape_.rows * integer_bytes_;
  file->values = file->columns + entries_ * integer_bytes_;
  const std::int64_t rest = size - file->values;
  const auto ends_with = [&](int bytes, bool exactly) {
    if (entries_ > rest / bytes) return false;
    const std::int64_t left = rest - entries_ * bytes;
    if (exactly || left < integer_bytes_) return left == 0;
    std::array<char, 8> next;
    file->bytes.read_at(size - left, std::span(next).first(static_cast<std::size_t>(*width)));
    return std::ranges::count(kClasses, integer_at(next.data(), *width)) > 0;
  };
  if (ends_with(8, true) || (!ends_with(16, true) && ends_with(8, false))) {
    scalar_bytes_ = 8;
  } else if (ends_with(16, false)) {
    scalar_bytes_ = 16;
  } else {
    refuse_length();
  }
  file_ = file;
}

void PetscBinaryFile::require_rows(Offset begin, Offset end) const {
  if (0 <= begin && begin <= end && end <= shape_.rows) return;
  throw InvalidArgument(fmt::format("{}: there are no rows [{}, {}) of {}", file_->bytes.name(),
                                    begin, end, shape_.rows));
}

std::vector<Offset> PetscBinaryFile::row_lengths(Offset begin, Offset end) const {
  require_rows(begin, end);
  std::vector<Offset> lengths(static_cast<std::size_t>(end - begin));
  visit_numbers(file_->bytes, file_->lengths + begin * integer_bytes_, end - begin, integer_bytes_,
                [&](Offset i, const char* bytes) {
                  const std::int64_t length = integer_at(bytes, integer_bytes_);
                  if (length < 0 || length > entries_) {
                    file_->refuse(fmt::format("row {} has {} entries, of {} in the matrix",
                                              begin + i, length, entries_));
                  }
                  lengths[i] = length;
                });
  return lengths;
}

template <Value V, Index I>
Csr<V, I> PetscBinaryFile::read_rows(Offset begin, Offset end, Offset first_entry) const {
  return read_entries<V, I>(begin, row_lengths(begin, end), first_entry);
}

template <Value V, Index I>
Csr<V, I> PetscBinaryFile::read() const {
  const std::vector<Offset> lengths = row_lengths(0, shape_.rows);
  Offset sum = 0;
  for (std::size_t row = 0; row < lengths.size() && sum <= entries_; ++row) sum += lengths[row];
  if (sum < entries_) {
    file_->refuse(fmt::format("the rows have {} of the {} entries of the matrix", sum, entries_));
  }
  return read_entries<V, I>(0, lengths, 0);
}

template <Value V, Index I>
Csr<V, I> PetscBinaryFile::read_entries(Offset begin, const std::vector<Offset>& lengths,
                                        Offset first_entry) const {
  if (complex() && !is_complex<V>) file_->refuse("a complex matrix cannot be read as a real one");
  const auto end = begin + static_cast<Offset>(lengths.size());
  const I rows = narrow<I>(end - begin, "the number of rows");
  const I cols = narrow<I>(shape_.cols, "the number of columns");
  Array<Offset> offsets(lengths.size() + 1, 0);
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    // No sum overflows: neither number is more than all entries, which are in the file.
    offsets[row + 1] = offsets[row] + lengths[row];
    if (offsets[row + 1] > entries_) {
      file_->refuse(fmt::format("rows {} … {} have more than the {} entries of the matrix", begin,
                                begin + static_cast<Offset>(row), entries_));
    }
  }
  const Offset count = offsets.back();
  if (first_entry < 0 || first_entry > entries_ - count) {
    throw InvalidArgument(
        fmt::format("{}: {} entries cannot stand before the {} of rows [{}, {}): "
                    "the matrix has {}",
                    file_->bytes.name(), first_entry, count, begin, end, entries_));
  }

  Array<I> columns(count);
  visit_numbers(file_->bytes, file_->columns + first_entry * integer_bytes_, count, integer_bytes_,
                [&](Offset k, const char* bytes) {
                  const std::int64_t column = integer_at(bytes, integer_bytes_);
                  if (column < 0 || column >= shape_.cols) {
                    file_->refuse(fmt::format("entry {} is in column {} of {}", first_entry + k,
                                              column, shape_.cols));
                  }
                  columns[k] = static_cast<I>(column);
                });
  Array<V> values(count);
  visit_numbers(file_->bytes, file_->values + first_entry * scalar_bytes_, count, scalar_bytes_,
                [&](Offset k, const char* bytes) {
                  using Real = decltype(std::real(V{}));
                  const Real real = static_cast<Real>(double_at(bytes));
                  if constexpr (is_complex<V>) {
                    values[k] =
                        V(real, complex() ? static_cast<Real>(double_at(bytes + 8)) : Real{0});
                  } else {
                    values[k] = real;
                  }
                });
  return Csr<V, I>::from_unsorted(rows, cols, std::move(offsets), std::move(columns),
                                  std::move(values));
}

template <Value V, Index I>
Csr<V, I> read_petsc_binary(const std::filesystem::path& path) {
  return PetscBinaryFile(path).read<V, I>();
}

namespace {

// Numbers one after the other, big-endian, in pieces.
class NumberWriter {
 public:
  explicit NumberWriter(const std::filesystem::path& path) : file_(path) {}

  template <class Word>
  void put(Word word) {
    if (buffer_.size() - used_ < sizeof(Word)) flush();
    put_big_endian(word, buffer_.data() + used_);
    used_ += sizeof(Word);
  }
  void put(double number) { put(std::bit_cast<std::uint64_t>(number)); }
  void put_integer(std::int64_t number, int bits) {
    if (bits == 32) {
      put(static_cast<std::uint32_t>(number));
    } else {
      put(static_cast<std::uint64_t>(number));
    }
  }
  void finish() {
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(std::span(buffer_).first(used_));
    used_ = 0;
  }

  detail::OutputFile file_;
  Array<char> buffer_ = Array<char>(std::size_t{8} * kPieceNumbers);
  std::size_t used_ = 0;
};

}  // namespace

template <Value V, Index I>
void write_petsc_binary(const std::filesystem::path& path, const Csr<V, I>& matrix,
                        const PetscWriteOptions& options) {
  int bits = options.integer_bits;
  if (bits != 0 && bits != 32 && bits != 64) {
    throw InvalidArgument(fmt::format("integers of {} bits cannot be written", bits));
  }
  const Offset largest = std::max({Offset{matrix.rows()}, Offset{matrix.cols()}, matrix.nnz()});
  if (bits == 0) bits = std::in_range<std::int32_t>(largest) ? 32 : 64;
  if (bits == 32) narrow<std::int32_t>(largest, "the largest number of the file");

  NumberWriter file(path);
  for (const Offset number :
       {Offset{kMatrixClass}, Offset{matrix.rows()}, Offset{matrix.cols()}, matrix.nnz()}) {
    file.put_integer(number, bits);
  }
  for (I row = 0; row < matrix.rows(); ++row) {
    file.put_integer(matrix.pattern().row_length(row), bits);
  }
  for (const I column : matrix.columns()) file.put_integer(column, bits);
  for (const V value : matrix.values()) {
    file.put(static_cast<double>(std::real(value)));
    if constexpr (is_complex<V>) file.put(static_cast<double>(std::imag(value)));
  }
  file.finish();
}

#define STRATA_INSTANTIATE(V, I)                                                   \
  template Csr<V, I> PetscBinaryFile::read_rows(Offset, Offset, Offset) const;     \
  template Csr<V, I> PetscBinaryFile::read() const;                                \
  template Csr<V, I> read_petsc_binary(const std::filesystem::path&);              \
  template void write_petsc_binary(const std::filesystem::path&, const Csr<V, I>&, \
                                   const PetscWriteOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata

// Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html), plain or gzip: all of the
// format in, shortest exact numbers out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/symmetry.hpp"

namespace strata {

// How a file stores its matrix, as its banner and size line say.
struct MatrixMarketHeader {
  enum class Object { matrix, vector };
  enum class Layout { coordinate, array };
  enum class Field { real, integer, unsigned_integer, complex, pattern };

  Object object = Object::matrix;
  Layout layout = Layout::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stored_entries = 0;  // lines of entries in the file
};

std::string_view name_of(MatrixMarketHeader::Field field);

// Called now and then with the fraction done, from the calling thread.
using ProgressCallback = std::function<void(double fraction)>;

struct ReadOptions {
  ProgressCallback progress = {};  // none when empty
};

struct WriteOptions {
  Symmetry symmetry = Symmetry::general;  // other than general: checked, and the lower half written
  bool pattern = false;                   // leave the values out
  std::string_view comment = {};          // written behind the banner, a '%' before each line
  ProgressCallback progress = {};         // none when empty
};

// A file of a few bytes may claim any number of rows, and each costs 8 bytes of memory. More rows
// than kRowsAlwaysRead are therefore read only when there is an entry for every kRowsPerEntry rows.
inline constexpr std::int64_t kRowsAlwaysRead = std::int64_t{1} << 24;
inline constexpr std::int64_t kRowsPerEntry = 256;

// Reads only the beginning of the file. Throws like read_matrix_market.
MatrixMarketHeader read_matrix_market_header(const std::filesystem::path& path);

// Throws FileError when the file cannot be read or decompressed, ParseError ("FILE:LINE: what is
// wrong") when it is not valid, OverflowError when it does not fit I, and InvalidMatrix when it is
// complex and V is not. A vector is read as a matrix of one column. Symmetric storage is expanded,
// duplicates are added up, pattern entries are 1.
template <Value V, Index I>
Csr<V, I> read_matrix_market(const std::filesystem::path& path, const ReadOptions& options = {});

// The same in two steps, for those who choose the types by the header: the file is opened once, so
// it may be a pipe, which cannot be read from its beginning again.
class MatrixMarketFile {
 public:
  // Reads the beginning of the file. Throws like read_matrix_market.
  explicit MatrixMarketFile(const std::filesystem::path& path);
  MatrixMarketFile(MatrixMarketFile&&) noexcept;
  MatrixMarketFile& operator=(MatrixMarketFile&&) noexcept;
  ~MatrixMarketFile();

  const MatrixMarketHeader& header() const { return header_; }

  // Reads the rest and closes the file. Throws like read_matrix_market, and InvalidArgument when it
  // has been called before.
  template <Value V, Index I>
  Csr<V, I> read(const ReadOptions& options = {});

 private:
  struct Rest;
  MatrixMarketHeader header_;
  std::unique_ptr<Rest> rest_;  // what is behind the header; null once it is read
};

// Writes FILE, compressed when its name ends in .gz, under a temporary name that is moved into
// place at the end: an old file is either kept or replaced whole, with its permissions, and a
// symbolic link stays one. What is no regular file (a pipe, a device, /dev/stdout) is written to as
// it is. Reading the file back gives the same matrix.
template <Value V, Index I>
void write_matrix_market(const std::filesystem::path& path, const Csr<V, I>& matrix,
                         const WriteOptions& options = {});

}  // namespace strata

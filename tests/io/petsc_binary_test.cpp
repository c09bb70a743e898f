// Matrices in PETSc's binary format, byte by byte.
#include "strata/io/petsc_binary.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "tests/io/support.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

namespace fs = std::filesystem;
using Complex = std::complex<double>;
using Matrix = Csr<double, std::int32_t>;

constexpr std::int64_t kMatrixClass = 1211216;

// A file by hand.
class Bytes {
 public:
  explicit Bytes(int integer_bytes = 4) : integer_bytes_(integer_bytes) {}

  Bytes& integers(const std::vector<std::int64_t>& numbers) {
    for (const std::int64_t number : numbers) {
      put(static_cast<std::uint64_t>(number), integer_bytes_);
    }
    return *this;
  }
  Bytes& doubles(const std::vector<double>& numbers) {
    for (const double number : numbers) put(std::bit_cast<std::uint64_t>(number), 8);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void put(std::uint64_t word, int bytes) {
    for (int byte = bytes - 1; byte >= 0; --byte) {
      text_ += static_cast<char>(word >> (8 * byte) & 0xff);
    }
  }

  int integer_bytes_;
  std::string text_;
};

// [ 1.5  0 -2 ; 0 0 0 ; 0 4 0 ; 0 0 0.1 ]
Bytes small(int integer_bytes) {
  return Bytes(integer_bytes)
      .integers({kMatrixClass, 4, 3, 4, 2, 0, 1, 1, 0, 2, 1, 2})
      .doubles({1.5, -2, 4, 0.1});
}
const Matrix kSmall(4, 3, {0, 2, 2, 3, 4}, {0, 2, 1, 2}, {1.5, -2, 4, 0.1});

std::string error_of(const std::string& bytes) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.write("file", bytes);
  try {
    read_petsc_binary<double, std::int32_t>(path);
  } catch (const InvalidMatrix& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with(path.string() + ": ")) << text;
    return text.substr(path.string().size() + 2);
  }
  return "no error";
}

TEST(PetscBinary, IsWhatPetscDocuments) {
  const test::TemporaryFolder folder;
  for (const int bytes : {4, 8}) {
    const fs::path path = folder.write("small", small(bytes).text());
    const PetscBinaryFile file(path);
    EXPECT_EQ(file.shape(), (MatrixShape{4, 3}));
    EXPECT_EQ(file.entries(), 4);
    EXPECT_FALSE(file.complex());
    EXPECT_EQ(file.integer_bits(), 8 * bytes);
    EXPECT_EQ((file.read<double, std::int32_t>()), kSmall);
    EXPECT_EQ((read_petsc_binary<Complex, std::int64_t>(path)),
              (converted<Complex, std::int64_t>(kSmall)));
    EXPECT_EQ(file.row_lengths(0, 4), (std::vector<Offset>{2, 0, 1, 1}));
    EXPECT_EQ(file.row_lengths(1, 3), (std::vector<Offset>{0, 1}));
    EXPECT_EQ((file.read_rows<double, std::int32_t>(2, 4, 2)),
              Matrix(2, 3, {0, 1, 2}, {1, 2}, {4, 0.1}));
    EXPECT_EQ((file.read_rows<double, std::int32_t>(1, 2, 2)), Matrix(1, 3, {0, 0}, {}, {}));
    EXPECT_EQ((file.read_rows<double, std::int32_t>(4, 4, 4)), Matrix(0, 3, {0}, {}, {}));

    const fs::path written = folder.file("written");
    write_petsc_binary(written, kSmall, {.integer_bits = 8 * bytes});
    EXPECT_EQ(test::contents_of(written), small(bytes).text());
  }
}

TEST(PetscBinary, ScalarsAreToldByTheLength) {
  const test::TemporaryFolder folder;
  for (const int bytes : {4, 8}) {
    const std::string matrix =
        Bytes(bytes).integers({kMatrixClass, 1, 2, 2, 2, 0, 1}).doubles({1, 2, 3, -4}).text();
    const Csr<Complex, std::int32_t> expected(1, 2, {0, 2}, {0, 1}, {{1, 2}, {3, -4}});
    // Alone, and with a vector behind it.
    for (const std::string& more :
         {std::string(), Bytes(bytes).integers({1211214, 1}).doubles({7, 8}).text()}) {
      const fs::path path = folder.write("complex", matrix + more);
      EXPECT_TRUE(PetscBinaryFile(path).complex());
      EXPECT_EQ((read_petsc_binary<Complex, std::int32_t>(path)), expected);
      EXPECT_THROW((read_petsc_binary<double, std::int32_t>(path)), InvalidMatrix);
    }
    const fs::path real = folder.write(
        "real", small(bytes).text() + Bytes(bytes).integers({1211214, 1}).doubles({7}).text());
    EXPECT_FALSE(PetscBinaryFile(real).complex());
    EXPECT_EQ((read_petsc_binary<double, std::int32_t>(real)), kSmall);
  }
}

template <class T>
class PetscBinaryTyped : public testing::Test {};
TYPED_TEST_SUITE(PetscBinaryTyped, test::AllTypes);

TYPED_TEST(PetscBinaryTyped, WhatIsWrittenIsReadWholeAndInParts) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const test::TemporaryFolder folder;
  const fs::path path = folder.file("matrix");
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    const Csr<V, I> matrix = entries.to_csr();
    for (const int bits : {0, 32, 64}) {
      SCOPED_TRACE(name + ", " + std::to_string(bits) + " bits");
      write_petsc_binary(path, matrix, {.integer_bits = bits});
      EXPECT_TRUE(is_petsc_binary(path));
      EXPECT_EQ((read_petsc_binary<V, I>(path)), matrix);
      const PetscBinaryFile file(path);
      EXPECT_EQ(file.complex(), is_complex<V> && matrix.nnz() > 0);
      EXPECT_EQ(file.integer_bits(), bits == 64 ? 64 : 32);
      for (int part = 0; part < 3; ++part) {
        const Chunk rows = chunk_of(matrix.rows(), part, 3);
        const Offset first = matrix.row_offsets()[rows.begin];
        const Csr<V, I> piece = file.read_rows<V, I>(rows.begin, rows.end, first);
        ASSERT_EQ(piece.rows(), rows.end - rows.begin);
        EXPECT_EQ(piece.cols(), matrix.cols());
        const auto count = static_cast<std::size_t>(piece.nnz());
        EXPECT_TRUE(std::ranges::equal(piece.columns(), matrix.columns().subspan(first, count)));
        EXPECT_TRUE(std::ranges::equal(piece.values(), matrix.values().subspan(first, count)));
      }
    }
  }
}

TEST(PetscBinary, LargeOnesAreTheSameOnAnyNumberOfThreads) {
  constexpr std::int32_t kRows = 100000;
  Array<Offset> offsets(1, 0);
  Array<std::int32_t> columns;
  Array<double> values;
  for (std::int32_t row = 0; row < kRows; ++row) {
    for (std::int32_t column = row; column < std::min(row + 3, kRows); ++column) {
      columns.push_back(column);
      values.push_back(1.0 / (1 + row + column));
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  const Matrix matrix(kRows, kRows, std::move(offsets), std::move(columns), std::move(values));
  const test::TemporaryFolder folder;
  write_petsc_binary(folder.file("large"), matrix);
  for (const int threads : {1, 2, 5}) {
    const test::ThreadCount scope(threads);
    EXPECT_EQ((read_petsc_binary<double, std::int32_t>(folder.file("large"))), matrix);
  }
}

TEST(PetscBinary, ColumnsInAnyOrderAreSorted) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.write(
      "unsorted", Bytes().integers({kMatrixClass, 1, 3, 3, 3, 2, 0, 2}).doubles({1, 2, 4}).text());
  EXPECT_EQ((read_petsc_binary<double, std::int32_t>(path)), Matrix(1, 3, {0, 2}, {0, 2}, {2, 5}));
}

TEST(PetscBinary, WhatIsWrongIsSaid) {
  const std::string no_matrix = "the file does not begin as a matrix of PETSc does";
  EXPECT_EQ(error_of(""), no_matrix);
  EXPECT_EQ(error_of("%%MatrixMarket matrix coordinate real general\n1 1 0\n"), no_matrix);
  EXPECT_EQ(error_of(Bytes().integers({1211214, 1}).doubles({1}).text()), no_matrix);
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass}).text().substr(0, 3)), no_matrix);
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass, 4, 3}).text()),
            "the file ends before the sizes of the matrix");
  EXPECT_EQ(error_of(Bytes(8).integers({kMatrixClass, 4, 3}).text()),
            "the file ends before the sizes of the matrix");
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass, 2, 2, -1}).doubles({1, 2, 3, 4}).text()),
            "the matrix is dense, and only sparse ones are read");
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass, -2, 2, 3}).text()),
            "-2 x 2 with 3 entries is no size of a matrix");
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass, 2, 2, -3}).text()),
            "2 x 2 with -3 entries is no size of a matrix");
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass, 2, 2, 3, 1, 1, 0, 1}).doubles({1, 2}).text()),
            "48 bytes are not the length of a 2 x 2 matrix with 3 entries");
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass, 1, 2, 1, 1, 2}).doubles({1}).text()),
            "entry 0 is in column 2 of 2");
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass, 1, 2, 1, 1, -1}).doubles({1}).text()),
            "entry 0 is in column -1 of 2");
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass, 2, 2, 1, -1, 2, 0}).doubles({1}).text()),
            "row 0 has -1 entries, of 1 in the matrix");
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass, 2, 2, 1, 1, 2, 0}).doubles({1}).text()),
            "row 1 has 2 entries, of 1 in the matrix");
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass, 2, 2, 1, 1, 1, 0}).doubles({1}).text()),
            "rows 0 … 1 have more than the 1 entries of the matrix");
  EXPECT_EQ(error_of(Bytes().integers({kMatrixClass, 2, 2, 1, 0, 0, 0}).doubles({1}).text()),
            "the rows have 0 of the 1 entries of the matrix");
}

// No number of a short file asks for memory.
TEST(PetscBinary, SizesThatTheFileCannotHaveAreRefused) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t rows : {std::int64_t{0}, std::int64_t{1} << 40, kMost / 8, kMost}) {
    for (const std::int64_t entries : {std::int64_t{1}, std::int64_t{1} << 60, kMost / 8, kMost}) {
      const std::string bytes = Bytes(8).integers({kMatrixClass, rows, rows, entries, 5}).text();
      EXPECT_NE(error_of(bytes).find("bytes are not the length of"), std::string::npos)
          << rows << " " << entries;
    }
  }
  EXPECT_NE(error_of(Bytes().integers({kMatrixClass, 2147483647, 1, 2147483647}).text())
                .find("bytes are not the length of"),
            std::string::npos);
}

// Every beginning of a file, and every byte of it changed: an error or another matrix, never more.
TEST(PetscBinary, DamagedFilesAreErrorsOrOtherMatrices) {
  const test::ThreadCount one(1);
  const test::TemporaryFolder folder;
  const auto read = [&](const std::string& bytes) {
    try {
      read_petsc_binary<Complex, std::int32_t>(folder.write("damaged", bytes));
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  for (const int integer_bytes : {4, 8}) {
    const std::string whole = small(integer_bytes).text();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(read(whole.substr(0, size))) << size;
    }
    EXPECT_FALSE(read(whole + "x"));
    for (std::size_t place = 0; place < whole.size(); ++place) {
      for (const int flip : {1, 0x80, 0xff}) {
        std::string damaged = whole;
        damaged[place] = static_cast<char>(damaged[place] ^ flip);
        read(damaged);
      }
    }
  }
}

TEST(PetscBinary, RowsOutsideAreErrors) {
  const test::TemporaryFolder folder;
  const PetscBinaryFile file(folder.write("small", small(4).text()));
  using I = std::int32_t;
  EXPECT_THROW(file.row_lengths(-1, 2), InvalidArgument);
  EXPECT_THROW(file.row_lengths(3, 2), InvalidArgument);
  EXPECT_THROW(file.row_lengths(0, 5), InvalidArgument);
  EXPECT_THROW((file.read_rows<double, I>(0, 5, 0)), InvalidArgument);
  EXPECT_THROW((file.read_rows<double, I>(2, 4, -1)), InvalidArgument);
  EXPECT_THROW((file.read_rows<double, I>(2, 4, 3)), InvalidArgument);
}

TEST(PetscBinary, OtherThingsAreNone) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(is_petsc_binary(folder.file("none")));
  EXPECT_FALSE(is_petsc_binary(folder.path()));
  EXPECT_FALSE(is_petsc_binary(folder.write("empty", "")));
  EXPECT_FALSE(is_petsc_binary(folder.write("text", "%%MatrixMarket matrix")));
  EXPECT_TRUE(is_petsc_binary(folder.write("small.mtx", small(8).text())));
  EXPECT_THROW(PetscBinaryFile(folder.file("none")), FileError);
  EXPECT_THROW(PetscBinaryFile(folder.path()), FileError);
  EXPECT_THROW(write_petsc_binary(folder.file("none/matrix"), kSmall), FileError);
  EXPECT_THROW(write_petsc_binary(folder.file("a"), kSmall, {.integer_bits = 16}), InvalidArgument);
}

TEST(PetscBinary, ColumnsHaveToFitTheIndices) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.write(
      "wide",
      Bytes(8).integers({kMatrixClass, 1, 3000000000, 1, 1, 2999999999}).doubles({1}).text());
  EXPECT_THROW((read_petsc_binary<double, std::int32_t>(path)), OverflowError);
  EXPECT_EQ((read_petsc_binary<double, std::int64_t>(path)).columns()[0], 2999999999);
  const auto wide = read_petsc_binary<double, std::int64_t>(path);
  EXPECT_THROW(write_petsc_binary(folder.file("a"), wide, {.integer_bits = 32}), OverflowError);
  write_petsc_binary(folder.file("a"), wide);
  EXPECT_EQ(PetscBinaryFile(folder.file("a")).integer_bits(), 64);
}

#ifdef STRATA_PETSC_PROGRAM
std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string output;
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) {
    output.append(buffer, count);
  }
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return output;
}

TEST(PetscBinary, FilesOfPetscAreRead) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.file("by_petsc");
  output_of(std::string(STRATA_PETSC_PROGRAM) + " write " + path.string());
  test::Entries<double, std::int32_t> expected(6, 8, 0);
  for (std::int32_t row = 0; row < 6; ++row) {
    for (const std::int32_t column : {row - 2, row, row + 3}) {
      if (column < 0 || column >= 8 || row == 4) continue;
      expected.add(row, column, 10 * row + column + 0.5);
    }
  }
  EXPECT_TRUE(is_petsc_binary(path));
  const auto matrix = read_petsc_binary<Complex, std::int64_t>(path);
  EXPECT_EQ(matrix, (converted<Complex, std::int64_t>(expected.coo().to_csr())));
}

TEST(PetscBinary, FilesForPetscAreReadByIt) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.file("for_petsc");
  write_petsc_binary(path, kSmall);
  std::istringstream words(output_of(std::string(STRATA_PETSC_PROGRAM) + " sum " + path.string()));
  int rows = 0;
  int cols = 0;
  words >> rows >> cols;
  ASSERT_EQ(rows, 4);
  ASSERT_EQ(cols, 3);
  const std::vector<double> x{1, 2, 3};
  std::vector<double> y(4);
  reference::spmv(kSmall, 1.0, x, 0.0, y);
  for (const double expected : y) {
    double value = -1;
    words >> value;
    EXPECT_DOUBLE_EQ(value, expected);
  }
}
#else
TEST(PetscBinary, FilesOfPetscAreRead) {
  GTEST_SKIP() << "PETSc is not there (Debian package petsc-dev)";
}
#endif

}  // namespace
}  // namespace strata

// Matrices as PETSc stores them: what MatView writes to a binary viewer and MatLoad reads.
//
// All numbers are big-endian. A file is
//
//   class id 1211216, rows, columns, entries     integers
//   the number of entries of each row            integers
//   the columns of all entries, from 0           integers
//   the values of all entries                    scalars
//
// with integers of 32 or 64 bits, as PETSc was configured, and scalars that are doubles or pairs of
// them. The file does not say which: the class id tells the integers, and the length of the file
// tells the scalars. Other objects, such as the right-hand side, may follow and are not read. Dense
// matrices (entries −1) and files in single precision are refused.
//
// Every process can read rows of its own:
//
//   const strata::PetscBinaryFile file("A.petsc");
//   const auto lengths = file.row_lengths(begin, end);
//   // … `before` = the sum of the lengths of all rows before `begin` …
//   const auto rows = file.read_rows<double, std::int64_t>(begin, end, before);
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/matrix_shape.hpp"

namespace strata {

// True for a regular file that begins with the class id of a matrix, whatever its name. Throws
// nothing: what cannot be read is none.
bool is_petsc_binary(const std::filesystem::path& path);

// What its numbers say is checked against the length of the file before memory is asked for.
class PetscBinaryFile {
 public:
  // Reads the beginning of the file. Throws FileError when it cannot be read or is no regular file,
  // and InvalidMatrix when it does not begin as such a matrix, is dense, or has another length than
  // its numbers imply.
  explicit PetscBinaryFile(const std::filesystem::path& path);

  const MatrixShape& shape() const { return shape_; }
  Offset entries() const { return entries_; }
  bool complex() const { return scalar_bytes_ == 16; }
  int integer_bits() const { return 8 * integer_bytes_; }

  // The entries of rows begin … end−1. Throws InvalidArgument unless 0 ≤ begin ≤ end ≤ rows,
  // InvalidMatrix for a length that no row can have, and FileError.
  std::vector<Offset> row_lengths(Offset begin, Offset end) const;

  // Rows begin … end−1 with the columns of the whole, `first_entry` being the number of entries of
  // all rows before. Rows whose columns do not increase are sorted, and duplicates added up. Throws
  // like row_lengths, InvalidArgument for a first entry that cannot be right, InvalidMatrix when a
  // column is outside the matrix or the file is complex and V is not, and OverflowError when the
  // columns or the rows asked for do not fit I.
  template <Value V, Index I>
  Csr<V, I> read_rows(Offset begin, Offset end, Offset first_entry) const;

  // All rows. Throws like read_rows, and InvalidMatrix when the lengths of the rows do not add up
  // to the number of entries.
  template <Value V, Index I>
  Csr<V, I> read() const;

 private:
  struct File;
  void require_rows(Offset begin, Offset end) const;
  template <Value V, Index I>
  Csr<V, I> read_entries(Offset begin, const std::vector<Offset>& lengths,
                         Offset first_entry) const;

  std::shared_ptr<const File> file_;
  MatrixShape shape_;
  Offset entries_ = 0;
  int integer_bytes_ = 4;
  int scalar_bytes_ = 8;
};

// Throws like PetscBinaryFile and its functions.
template <Value V, Index I>
Csr<V, I> read_petsc_binary(const std::filesystem::path& path);

struct PetscWriteOptions {
  int integer_bits = 0;  // 32 or 64; 0: 32 where all numbers fit
};

// Values are written as doubles. The file appears under its name when it is complete, as that of
// write_matrix_market does. Throws FileError, InvalidArgument for other integers, and OverflowError
// when the matrix does not fit those asked for.
template <Value V, Index I>
void write_petsc_binary(const std::filesystem::path& path, const Csr<V, I>& matrix,
                        const PetscWriteOptions& options = {});

}  // namespace strata

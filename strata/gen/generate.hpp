// Matrices from a few words: "stencil27:64x64x128,shuffle=1". docs/matrices.md lists them all.
//
// All generators have the keys `seed=S`, `shuffle=1`, `coefficients=random` (every link has a value
// of its own) and `coefficients=N` (at most N distinct values):
//
//   const auto A = strata::generate<double, std::int32_t>("stencil7:9x9x9,coefficients=200");
//
// Generators are deterministic: the same specification gives the same matrix, bit for bit, on every
// machine and for every number of threads.
//
// They also make some rows of a matrix and no others, so that several processes make one together:
//
//   const strata::RowGenerator<double, std::int64_t> generator("stencil27:2000x2000x2000");
//   const auto rows = generator.make_rows(7'999'999'000, 8'000'000'000);  // 1000 of 8·10⁹
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/matrix_shape.hpp"

namespace strata {

// True if the text starts with the name of a generator and a colon.
bool is_generator_spec(std::string_view text);

// Throws InvalidArgument naming the part of the specification that is wrong, OverflowError when the
// matrix does not fit I, and what read_matrix_market or read_petsc_binary throws where the
// specification names a file.
template <Value V, Index I>
Csr<V, I> generate(std::string_view spec);

// The size of that matrix, in no time: of a file that is named, the header is read. Throws like
// generate; what is wrong with the rest of the file is not found.
MatrixShape generated_shape(std::string_view spec);

// Rows of the matrix that generate makes, bit for bit. I has to hold the columns of the matrix and
// the rows that are made at once.
//
// Time and memory are those of the rows, but for
//
//   - `extrude` and `blocks`, whose file is read whole;
//   - `rmat`, which goes through all edges of the graph for any rows (the memory is that of the
//     rows' own edges);
//   - `shuffle=1`, which keeps two permutations of all rows;
//   - `coefficients=N`, which goes through all rows twice to choose the values, in pieces of about
//     as many entries as the rows that are made (4 million at least), and keeps a sample of 16·N
//     values, at least 65536: once, in the first call of make_rows.
//
// Copies share what they keep, and may be used by several threads at once.
template <Value V, Index I>
class RowGenerator {
 public:
  // Throws like generate.
  explicit RowGenerator(std::string_view spec);

  MatrixShape shape() const;
  Offset rows() const { return shape().rows; }
  Offset cols() const { return shape().cols; }

  // Rows begin … end−1 as a matrix of their own, with all columns of the whole. Throws
  // InvalidArgument unless 0 ≤ begin ≤ end ≤ rows(), and like generate.
  Csr<V, I> make_rows(Offset begin, Offset end) const;

 private:
  class State;
  std::shared_ptr<const State> state_;
};

// What --help and docs list: one line per generator.
struct GeneratorHelp {
  std::string name;     // "stencil7"
  std::string usage;    // "stencil7:NXxNYxNZ[,dof=D]"
  std::string summary;  // "7-point Laplacian on a box"
};
std::vector<GeneratorHelp> generator_help();

}  // namespace strata

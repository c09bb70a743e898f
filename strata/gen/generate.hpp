// Matrices from a few words: "stencil27:64x64x128,shuffle=1". docs/matrices.md lists them all.
//
// All generators have the keys `seed=S`, `shuffle=1`, `coefficients=random` (every link has a value
// of its own) and `coefficients=N` (at most N distinct values):
//
//   const auto A = strata::generate<double, std::int32_t>("stencil7:9x9x9,coefficients=200");
//
// Generators are deterministic: the same specification gives the same matrix, bit for bit, on every
// machine and for every number of threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"

namespace strata {

// True if the text starts with the name of a generator and a colon.
bool is_generator_spec(std::string_view text);

// Throws InvalidArgument naming the part of the specification that is wrong, OverflowError when the
// matrix does not fit I, and what read_matrix_market throws where the specification names a file.
template <Value V, Index I>
Csr<V, I> generate(std::string_view spec);

// What --help and docs list: one line per generator.
struct GeneratorHelp {
  std::string name;     // "stencil7"
  std::string usage;    // "stencil7:NXxNYxNZ[,dof=D]"
  std::string summary;  // "7-point Laplacian on a box"
};
std::vector<GeneratorHelp> generator_help();

}  // namespace strata

// LocalMatrices: a stiffness matrix that is never assembled, the local matrix approach (LMA) of
// Reguly and Giles (diffusion.hpp names the paper; section 8.2),
//
//   y = Aᵀ (K_e (A x))
//
// gathers the unknowns of each element, multiplies them by its own matrix, and adds the products to
// y. No column indices are read, only the unknowns of each element. Elements that share unknowns
// have different colours, by the parities of their coordinates; colours run one after another, so
// that every unknown is added to in one order: the same bits for any number of threads.
//
// Elements are in slots, by colour and then by number; a colour begins on a multiple of kLanes. The
// n-th values of a block of slots are contiguous: value n of slot s is at (⌊s/B⌋·N + n)·B + s mod
// B, with N values an element, and its unknowns are stored in the same way. One block of all slots
// is the layout of the paper, n·slots + s, which suits GPUs; processors load a few streams ahead
// and not hundreds, and have small blocks. Rows and columns of nodes on the boundary are 0, and
// their unknown is one of the same element: nobody has to ask.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>

#include "strata/base/array.hpp"
#include "strata/fem/diffusion.hpp"
#include "strata/fem/quad_mesh.hpp"
#include "strata/formats/csr.hpp"

namespace strata::fem {

using Unknown = std::int32_t;
using Matrix = Csr<double, Unknown>;

// Elements that are multiplied together on a processor.
inline constexpr Offset kLanes = 8;

struct LocalMatrixOptions {
  // Half of each matrix, as it is symmetric: value n is the n-th of those on and right of the
  // diagonal, row by row. Otherwise all of them.
  bool symmetric = false;
  Offset block = kLanes;  // B, a multiple of kLanes; 0: all slots
};

// In double or single precision; element matrices are computed in double.
template <std::floating_point Real = double>
class LocalMatrices {
 public:
  LocalMatrices() = default;
  // Throws what QuadMesh::require_usable does, and InvalidArgument for other blocks.
  LocalMatrices(const QuadMesh& mesh, const Field& diffusivity,
                const LocalMatrixOptions& options = {});

  const QuadMesh& mesh() const { return mesh_; }
  bool symmetric() const { return symmetric_; }
  Offset block() const { return block_; }
  Offset slots() const { return colour_begin_.back(); }
  int element_nodes() const { return mesh_.element_nodes(); }
  int element_values() const;  // that are stored: N
  // The slots of a colour that have an element.
  RowRange<Offset> slots_of(int colour) const;
  Offset slot_of(Offset ex, Offset ey) const;

  std::span<const Real> values() const { return values_; }
  std::span<const Unknown> unknowns() const { return unknowns_; }
  Real entry(Offset slot, int row, int column) const;

  // y = Kx. Vectors have an element for every unknown and do not overlap.
  void multiply(std::span<const Real> x, std::span<Real> y) const;
  // Of values and unknowns, without empty slots: what a product reads.
  Offset bytes() const;

 private:
  Offset place(Offset slot, Offset number, Offset count) const {
    return (slot / block_ * count + number) * block_ + slot % block_;
  }

  QuadMesh mesh_;
  bool symmetric_ = false;
  Offset block_ = kLanes;
  std::array<Offset, kMeshColours + 1> colour_begin_{};
  Array<Real> values_;
  Array<Unknown> unknowns_;
};

// The sum of all: rows and columns of unknowns, with all entries of the element matrices, whatever
// their values. The pattern is that of the generator `fem`.
Matrix assembled(const LocalMatrices<double>& local);

}  // namespace strata::fem

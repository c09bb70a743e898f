// The key `coefficients`, which all generators have: other values on the pattern of a matrix, so
// that it exists with values that never repeat and with as few as one likes.
//
// Both kinds keep the character of the matrix A. With Σ the sum of |re| + |im| of the entries of a
// row off its diagonal:
//
//   - Off the diagonal the parts of a value keep their sign and do not grow; an old zero stays.
//   - On the diagonal they keep their sign and do not shrink: rows and columns that were diagonally
//     dominant still are.
//   - A symmetric or hermitian matrix stays so. If its diagonal is positive throughout, the new
//     diagonal is at least (aᵢᵢ + Σ)/2 as well, which real dominant rows are already.
//     Positive definite stays positive definite: what is added to A/2 has entries of at most
//     |aᵢⱼ|/2 off the diagonal and at least Σ/2 on it, and is positive semidefinite by
//     Gershgorin's theorem.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "strata/base/function_ref.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/gen/row_selection.hpp"
#include "strata/gen/spec.hpp"

namespace strata {

inline constexpr Offset kAllDistinct = std::numeric_limits<Offset>::max();

// How many distinct values the key allows: kAllDistinct for `coefficients=random`, nothing where
// it is absent. Throws InvalidArgument unless it is "random" or a number from 1 on.
std::optional<Offset> distinct_coefficients_of(Spec& spec);

// What is known of all values of a matrix: a declared fact of most generators.
enum class ValueCharacter {
  general,   // nothing
  mirrored,  // the matrix is symmetric, skew-symmetric or hermitian
  positive,  // symmetric or hermitian, with a positive diagonal throughout
};
// By looking at all of them.
template <Value V, Index I>
ValueCharacter character_of(const Csr<V, I>& matrix);

// Every value times a factor of its own, a function of seed, row and column: in [0.5, 1] off the
// diagonal, the same for (i, j) and (j, i) if the values have a symmetry, and in [1, 1.5] on it,
// after the diagonal has been raised as above. Throws InvalidArgument if a value is infinite or not
// a number. `rows` are the selected ones of a matrix of this character.
template <Value V, Index I>
void draw_coefficients(Csr<V, I>& rows, const RowSelection<I>& selection, ValueCharacter character,
                       std::uint64_t seed);
// The same on a whole matrix, whose character is found out.
template <Value V, Index I>
void draw_coefficients(Csr<V, I>& matrix, std::uint64_t seed);

// Rounds values to at most `distinct` ones, compared bit by bit: towards zero off the diagonal
// and away from it on the diagonal, to values that occur, which are used about equally often. Real
// matrices that have as many before have exactly `distinct` ones afterwards. The parts of a complex
// value become equally large unless one is zero. Where `distinct` is too small for this, values on
// and off the diagonal are treated alike, towards zero, and dominance and definiteness may get
// lost; where the signs do not fit either, all values become positive. Zeros become +0 and count.
// All values must be finite, and distinct ≥ 1.
template <Value V, Index I>
class FewValues {
 public:
  // Rows of the matrix that follow one another, and the number of the first of them.
  using Visit = FunctionRef<void(const Csr<V, I>& rows, Offset first)>;

  // Chooses the values from all of a matrix, in two passes and the memory of a sample of 16 values
  // for each distinct one (at least 65536; never more than there are): `pass(visit)` visits all
  // rows in order, in pieces of any size.
  FewValues(FunctionRef<void(Visit)> pass, Offset distinct, std::uint64_t seed);

  // The rows are the selected ones of that matrix.
  void round(Csr<V, I>& rows, const RowSelection<I>& selection) const;

 private:
  class Levels;
  std::shared_ptr<const Levels> levels_;
};

// The same for a whole matrix.
template <Value V, Index I>
void round_to_few_values(Csr<V, I>& matrix, Offset distinct, std::uint64_t seed);

}  // namespace strata

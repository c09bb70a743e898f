// What a step is given beside the matrix. Apart from step.hpp, because the kernels themselves know
// no format.
#pragma once

#include "strata/base/types.hpp"

namespace strata::cpu {

inline constexpr int kMaxVectors = 8;

// Slices of fewer rows multiply so little between two questions for upcoming data that these would
// cost more than they bring.
inline constexpr int kFewestLanesAhead = 16;

template <Value V>
struct StepCoefficients {
  V alpha{1};
  V shift{};  // θ; 0 does not read the diagonal's x
  V beta{};   // 0 does not read `previous`, which may then be anything
};

// Interleaved vectors: element v of row r is at r·count + v.
template <Value V>
struct StepVectors {
  const V* x = nullptr;
  const V* previous = nullptr;  // may be the same as out
  V* out = nullptr;             // shares nothing with x
  int count = 1;                // 1 … kMaxVectors
};

// Where entries in row order are cut: so many rows are complete before it, and so many entries are
// before it. It is inside row `row` if some of that row's entries are.
struct PartCut {
  Offset row = 0;
  Offset entry = 0;
  bool inside = false;
};

// A piece of a vector: elements of rows that one part of a product adds to.
template <Value V>
struct Window {
  V* elements = nullptr;
  RowRange<Offset> rows = {};
};

// What an entry below the diagonal stands for above it.
enum class Mirror { same, negative, conjugate };

}  // namespace strata::cpu

// The symmetries a matrix can have, by Matrix Market's names.
#pragma once

#include <string_view>

#include "strata/base/types.hpp"

namespace strata {

enum class Symmetry { general, symmetric, skew_symmetric, hermitian };

constexpr std::string_view name_of(Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::general: return "general";
    case Symmetry::symmetric: return "symmetric";
    case Symmetry::skew_symmetric: return "skew-symmetric";
    case Symmetry::hermitian: return "hermitian";
  }
  return "general";
}

// The value at (j, i) of a matrix with this symmetry and `value` at (i, j).
template <Value V>
constexpr V mirrored(V value, Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::skew_symmetric: return -value;
    case Symmetry::hermitian: return conjugate(value);
    default: return value;
  }
}

}  // namespace strata

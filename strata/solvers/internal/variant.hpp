// How the products of a solver are computed, in a few words.
#pragma once

#include <fmt/format.h>

#include <string>

#include "strata/plans/candidate.hpp"

namespace strata::solvers::detail {

inline std::string variant_of_product(const PowerCandidate& choice) {
  return label_of(choice.spec());
}
inline std::string variant_of_powers(const PowerCandidate& choice) {
  return fmt::format("{} {}", name_of(choice.strategy), label_of(choice.spec()));
}

}  // namespace strata::solvers::detail

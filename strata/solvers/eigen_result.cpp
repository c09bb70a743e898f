#include "strata/solvers/eigen_result.hpp"

namespace strata::solvers {

std::string_view name_of(Wanted wanted) {
  switch (wanted) {
    case Wanted::largest: return "largest";
    case Wanted::smallest: return "smallest";
    case Wanted::both: return "both";
  }
  return "";
}

}  // namespace strata::solvers

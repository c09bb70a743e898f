#include "tests/support/matrix_folder.hpp"

namespace strata::test {

std::filesystem::path matrix_folder() {
  return STRATA_MATRICES;
}

}  // namespace strata::test

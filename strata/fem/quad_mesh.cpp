#include "strata/fem/quad_mesh.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/gen/line_elements.hpp"

namespace strata::fem {

void QuadMesh::require_usable() const {
  if (degree < 1 || degree > kMaxDegree) {
    throw InvalidArgument(fmt::format("degree {}; there are 1 to {}", degree, kMaxDegree));
  }
  if (nx < 1 || ny < 1) throw InvalidArgument(fmt::format("{}x{} elements", nx, ny));
  const Offset across = checked_multiply<Offset>(nx, degree, "the number of nodes") - 1;
  const Offset along = checked_multiply<Offset>(ny, degree, "the number of nodes") - 1;
  if (across == 0 || along == 0) throw InvalidArgument("there is no node inside the boundary");
  narrow<std::int32_t>(checked_multiply(across, along, "the number of unknowns"),
                       "the number of unknowns");
}

}  // namespace strata::fem

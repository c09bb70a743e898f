// Plans on a GPU, for what is written on solvers/internal/planner.hpp.
#pragma once

#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/solvers/gpu/device_space.hpp"
#include "strata/solvers/internal/planner.hpp"

namespace strata::gpu::detail {

// The matrix and the stream must outlive it.
template <Value V, Index I>
std::unique_ptr<solvers::detail::Planner<DeviceSpace<V>>> device_planner(const Csr<V, I>& matrix,
                                                                         Stream& stream);

}  // namespace strata::gpu::detail

// All of Strata, with what needs the GPU library (strata::gpu in CMake):
//
//   #include <strata/gpu.hpp>
//
//   strata::gpu::Stream stream;  // or Stream::adopt(a cudaStream_t or hipStream_t)
//   const auto A = strata::generate<double, std::int32_t>("stencil7:64x64x64");
//   const auto plan = strata::gpu::plan_powers(A, {.power = 4}, stream);
#pragma once

#include "strata/strata.hpp"

// Devices, their memory, and work in order.
#include "strata/device/array.hpp"
#include "strata/device/device.hpp"
#include "strata/device/error.hpp"
#include "strata/device/event.hpp"
#include "strata/device/graph.hpp"
#include "strata/device/memory.hpp"
#include "strata/device/stream.hpp"
#include "strata/device/timing.hpp"
#include "strata/device/upload.hpp"

// How fast they are.
#include "strata/machine/gpu/device_profile.hpp"
#include "strata/machine/gpu/measure.hpp"

// What is fastest on them.
#include "strata/tune/gpu/product_search.hpp"

// Plans on a device, and what iterative methods need besides.
#include "strata/kernels/gpu/vector_operations.hpp"
#include "strata/plans/gpu/power_plan.hpp"
#include "strata/plans/gpu/product_plan.hpp"

// Linear systems, eigenvalues and functions of matrices on a device.
#include "strata/solvers/gpu/density_of_states.hpp"
#include "strata/solvers/gpu/eigen_solver.hpp"
#include "strata/solvers/gpu/exponential.hpp"
#include "strata/solvers/gpu/linear_solver.hpp"

// What methods run on, for operators of any kind.
#include "strata/solvers/gpu/device_powers.hpp"
#include "strata/solvers/gpu/device_space.hpp"

// Contests on a device.
#include "strata/measure/gpu/contest.hpp"
#include "strata/measure/gpu/peer.hpp"
#include "strata/measure/gpu/power_contest.hpp"
#include "strata/measure/gpu/product_contest.hpp"

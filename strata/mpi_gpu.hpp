// All of Strata, with what needs MPI and the GPU library (strata::mpi_gpu in CMake).
#pragma once

#include "strata/gpu.hpp"
#include "strata/mpi.hpp"

// Products over ranks that have a GPU each.
#include "strata/distributed/gpu/product.hpp"

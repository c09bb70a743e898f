// Which formats plans of powers run in, and products on GPUs. A plan needs more of a format than a
// kernel: it holds the matrix, takes new values, cuts rows wherever its schedule wants to and knows
// what they load. Products on processors run in every format that has kernels there.
//
//   strata::plans_run_in(strata::Format::csr, strata::KernelTarget::processor)      // true
#pragma once

#include "strata/formats/format.hpp"
#include "strata/kernels/has_kernel.hpp"

namespace strata {

constexpr bool plans_run_in(Format format, KernelTarget target) {
  switch (format) {
    case Format::csr:
    case Format::sell:
    case Format::packed_sell: return true;
    case Format::ell: return target == KernelTarget::gpu;
    default: return false;
  }
}

}  // namespace strata

// Which formats sweeps of powers run in. They need more of a format than a kernel: a plan holds the
// matrix, takes new values, cuts rows wherever its schedule wants to and knows what they load.
// Products and, on processors, plain powers run in every format that has kernels on the device.
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

// The (value, index) pairs that typed tests run over.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>

#include "strata/base/internal/sanitizers.hpp"

namespace strata::test {

template <class V, class I>
struct Types {
  using Value = V;
  using Index = I;
};

#ifdef STRATA_ADDRESS_SANITIZER
// Every value type and every index type: what else their pairs could show takes twice the time.
using AllTypes = testing::Types<Types<float, std::int64_t>, Types<double, std::int32_t>,
                                Types<std::complex<float>, std::int32_t>,
                                Types<std::complex<double>, std::int64_t>>;
#else
using AllTypes =
    testing::Types<Types<float, std::int32_t>, Types<double, std::int32_t>,
                   Types<std::complex<float>, std::int32_t>,
                   Types<std::complex<double>, std::int32_t>, Types<float, std::int64_t>,
                   Types<double, std::int64_t>, Types<std::complex<float>, std::int64_t>,
                   Types<std::complex<double>, std::int64_t>>;
#endif

}  // namespace strata::test

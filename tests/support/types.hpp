// The (value, index) pairs that typed tests run over.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>

namespace strata::test {

template <class V, class I>
struct Types {
  using Value = V;
  using Index = I;
};

using AllTypes =
    testing::Types<Types<float, std::int32_t>, Types<double, std::int32_t>,
                   Types<std::complex<float>, std::int32_t>,
                   Types<std::complex<double>, std::int32_t>, Types<float, std::int64_t>,
                   Types<double, std::int64_t>, Types<std::complex<float>, std::int64_t>,
                   Types<std::complex<double>, std::int64_t>>;

}  // namespace strata::test

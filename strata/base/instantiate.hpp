// The list of types that templates are compiled for. A .cpp file defines a macro that names its
// instantiations for one (value, index) pair and hands it to STRATA_FOR_EACH_VALUE_AND_INDEX, so
// that users' builds never compile the templates' bodies.
#pragma once

#include <complex>
#include <cstdint>

#define STRATA_FOR_EACH_VALUE(apply, index) \
  apply(float, index);                      \
  apply(double, index);                     \
  apply(std::complex<float>, index);        \
  apply(std::complex<double>, index)

#define STRATA_FOR_EACH_VALUE_AND_INDEX(apply) \
  STRATA_FOR_EACH_VALUE(apply, std::int32_t);  \
  STRATA_FOR_EACH_VALUE(apply, std::int64_t)

#define STRATA_FOR_EACH_INDEX(apply) \
  apply(std::int32_t);               \
  apply(std::int64_t)

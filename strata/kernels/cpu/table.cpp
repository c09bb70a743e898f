// The table of a level. It is constant data that exists before any code runs, so that it may be
// used at any time.
#include "strata/kernels/cpu/internal/level_functions.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

namespace {

template <Value V>
constexpr StepKernels<V> step_kernels{step_csr<V, std::int32_t>,
                                      step_csr<V, std::int64_t>,
                                      step_csr_gathers<V, std::int32_t>,
                                      step_csr_gathers<V, std::int64_t>,
                                      step_csr_loop<V, std::int32_t>,
                                      step_csr_loop<V, std::int64_t>,
                                      step_sell<V, std::int32_t>,
                                      step_sell<V, std::int64_t>,
                                      step_packed_sell<V>,
                                      step_ell<V, std::int32_t>,
                                      step_ell<V, std::int64_t>,
                                      step_dia<V, std::int32_t>,
                                      step_dia<V, std::int64_t>,
                                      step_jds<V, std::int32_t>,
                                      step_jds<V, std::int64_t>,
                                      step_bcsr<V, std::int32_t>,
                                      step_bcsr<V, std::int64_t>,
                                      step_blocked_coo<V>,
                                      &SharedKernelsOf<V>::table};

}  // namespace

extern const KernelTable table;
constinit const KernelTable table{step_kernels<float>, step_kernels<double>,
                                  step_kernels<std::complex<float>>,
                                  step_kernels<std::complex<double>>, &stream_kernels};

}  // namespace strata::cpu::STRATA_CPU_LEVEL

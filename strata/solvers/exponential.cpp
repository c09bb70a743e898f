#include "strata/solvers/exponential.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/solvers/internal/exponential_on.hpp"
#include "strata/solvers/internal/processor_planner.hpp"

namespace strata::solvers {

std::string_view name_of(ExponentialMethod method) {
  switch (method) {
    case ExponentialMethod::automatic: return "auto";
    case ExponentialMethod::chebyshev: return "chebyshev";
    case ExponentialMethod::taylor: return "taylor";
    case ExponentialMethod::leja: return "leja";
  }
  return "";
}

template <Value V, Index I>
struct MatrixExponential<V, I>::State {
  using Space = ProcessorSpace<V>;

  State(const Csr<V, I>& matrix, const ExponentialOptions& options)
      : exponential(
            detail::exponential_matrix<Space>(matrix, options,
                                              [threads = options.threads](const Csr<V, I>& of) {
                                                return detail::processor_planner(of, threads);
                                              }),
            options) {}

  detail::ExponentialOn<Space> exponential;
};

template <Value V, Index I>
MatrixExponential<V, I>::MatrixExponential(const Csr<V, I>& matrix,
                                           const ExponentialOptions& options)
    : state_(std::make_unique<State>(matrix, options)) {}
template <Value V, Index I>
MatrixExponential<V, I>::~MatrixExponential() = default;
template <Value V, Index I>
MatrixExponential<V, I>::MatrixExponential(MatrixExponential&&) noexcept = default;
template <Value V, Index I>
MatrixExponential<V, I>& MatrixExponential<V, I>::operator=(MatrixExponential&&) noexcept = default;

template <Value V, Index I>
ExponentialResult MatrixExponential<V, I>::apply(double time, std::span<const V> v,
                                                 std::span<V> result) {
  return state_->exponential.apply({time, false}, v, result);
}

template <Value V, Index I>
ExponentialResult MatrixExponential<V, I>::apply_imaginary(double time, std::span<const V> v,
                                                           std::span<V> result) {
  if constexpr (is_complex<V>) {
    return state_->exponential.apply({time, true}, v, result);
  } else {
    throw InvalidArgument("imaginary time needs complex vectors");
  }
}

template <Value V, Index I>
ExponentialResult MatrixExponential<V, I>::phi(int k, double time, std::span<const V> v,
                                               std::span<V> result) {
  return state_->exponential.phi(k, time, v, result);
}

template <Value V, Index I>
bool MatrixExponential<V, I>::hermitian() const {
  return state_->exponential.hermitian();
}

template <Value V, Index I>
ChebyshevInterval MatrixExponential<V, I>::bounds() {
  return state_->exponential.interval();
}

#define STRATA_INSTANTIATE(V, I) template class MatrixExponential<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers

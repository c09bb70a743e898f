#include "strata/solvers/gpu/exponential.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/solvers/gpu/internal/device_planner.hpp"
#include "strata/solvers/internal/exponential_on.hpp"

namespace strata::gpu {

using solvers::ExponentialOptions;
using solvers::ExponentialResult;

template <Value V>
struct MatrixExponential<V>::State {
  using Space = DeviceSpace<V>;

  template <Index I>
  State(const Csr<V, I>& matrix, const ExponentialOptions& options, Stream& on)
      : stream(on),
        exponential(solvers::detail::exponential_matrix<Space>(
                        matrix, options,
                        [&on](const Csr<V, I>& of) { return detail::device_planner(of, on); }),
                    options) {}

  Stream& stream;
  solvers::detail::ExponentialOn<Space> exponential;
};

template <Value V>
template <Index I>
MatrixExponential<V>::MatrixExponential(const Csr<V, I>& matrix, const ExponentialOptions& options,
                                        Stream& stream)
    : state_(std::make_unique<State>(matrix, options, stream)) {}
template <Value V>
MatrixExponential<V>::~MatrixExponential() = default;
template <Value V>
MatrixExponential<V>::MatrixExponential(MatrixExponential&&) noexcept = default;
template <Value V>
MatrixExponential<V>& MatrixExponential<V>::operator=(MatrixExponential&&) noexcept = default;

template <Value V>
ExponentialResult MatrixExponential<V>::apply(double time, std::span<const V> v,
                                              std::span<V> result) {
  return state_->exponential.apply({time, false}, v, result);
}

template <Value V>
ExponentialResult MatrixExponential<V>::apply(double time, DeviceSpan<const V> v,
                                              DeviceSpan<V> result) {
  const Array<V> of_host = to_host(v, state_->stream);
  Array<V> found(static_cast<std::size_t>(result.size()));
  const ExponentialResult outcome = apply(time, std::span<const V>(of_host), std::span<V>(found));
  copy(std::span<const V>(found), result, state_->stream);
  state_->stream.synchronize();
  return outcome;
}

template <Value V>
ExponentialResult MatrixExponential<V>::apply_imaginary(double time, std::span<const V> v,
                                                        std::span<V> result) {
  if constexpr (is_complex<V>) {
    return state_->exponential.apply({time, true}, v, result);
  } else {
    throw InvalidArgument("imaginary time needs complex vectors");
  }
}

template <Value V>
ExponentialResult MatrixExponential<V>::phi(int k, double time, std::span<const V> v,
                                            std::span<V> result) {
  return state_->exponential.phi(k, time, v, result);
}

template <Value V>
bool MatrixExponential<V>::hermitian() const {
  return state_->exponential.hermitian();
}

template <Value V>
solvers::ChebyshevInterval MatrixExponential<V>::bounds() {
  return state_->exponential.interval();
}

#define STRATA_INSTANTIATE_CLASS(V, unused) template class MatrixExponential<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASS, );
#define STRATA_INSTANTIATE(V, I)                                                                \
  template MatrixExponential<V>::MatrixExponential(const Csr<V, I>&, const ExponentialOptions&, \
                                                   Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu

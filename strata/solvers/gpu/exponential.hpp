// exp(tA)v and φ-functions on a GPU: the counterpart of solvers/exponential.hpp, with the same
// methods, options and results.
//
//   Stream stream;
//   MatrixExponential<double> exponential(matrix, {}, stream);
//   const ExponentialResult result = exponential.apply(0.1, v, y);   // y = exp(0.1 A)v
//
// Steps in time follow each other on the device without the host.
#pragma once

#include <memory>
#include <span>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/solvers/exponential.hpp"

namespace strata::gpu {

template <Value V>
class MatrixExponential {
 public:
  // Throws what solvers::MatrixExponential and, when vectors come, the plans of GPUs throw. The
  // stream must outlive it.
  template <Index I>
  MatrixExponential(const Csr<V, I>& matrix, const solvers::ExponentialOptions& options,
                    Stream& stream);
  ~MatrixExponential();
  MatrixExponential(MatrixExponential&&) noexcept;
  MatrixExponential& operator=(MatrixExponential&&) noexcept;

  // As solvers::MatrixExponential has them. Vectors in device memory are copied to the host and
  // back, too, which looks whether they are finite.
  solvers::ExponentialResult apply(double time, std::span<const V> v, std::span<V> result);
  solvers::ExponentialResult apply(double time, DeviceSpan<const V> v, DeviceSpan<V> result);
  solvers::ExponentialResult apply_imaginary(double time, std::span<const V> v,
                                             std::span<V> result);
  solvers::ExponentialResult phi(int k, double time, std::span<const V> v, std::span<V> result);

  bool hermitian() const;
  solvers::ChebyshevInterval bounds();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::gpu

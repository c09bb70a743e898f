// Matrices on a GPU itself, as step_check.hpp wants to run them.
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/kernels/cpu/step.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/kernels/gpu/stored_product.hpp"

namespace strata::test {

// A step of what is on the device, with vectors of the host: run(coefficients, vectors, rows,
// stream).
template <Value V, class Stored, class Run>
auto with_host_vectors(std::shared_ptr<const Stored> stored, const Run& run) {
  return [stored, run](const cpu::StepCoefficients<V>& coefficients,
                       const cpu::StepVectors<V>& vectors, RowRange<std::int32_t> rows) {
    gpu::Stream stream;
    const auto upload = [&](const V* data, Offset elements) {
      return gpu::to_device(std::span(data, static_cast<std::size_t>(elements)), stream);
    };
    const Offset elements = Offset{stored->rows()} * vectors.count;
    const auto x = upload(vectors.x, Offset{stored->cols()} * vectors.count);
    const auto previous = upload(vectors.previous, vectors.previous == nullptr ? 0 : elements);
    auto out = upload(vectors.out, elements);
    gpu::DeviceScratch<V> scratch(stored->scratch_elements(vectors.count));
    run(*stored, coefficients,
        gpu::DeviceVectors<V>{x.span(), previous.span(), out.span(), vectors.count, scratch.span()},
        rows, stream);
    std::ranges::copy(gpu::to_host(out.span(), stream), vectors.out);
  };
}

// Of a matrix.
template <class Matrix>
auto on_device(std::shared_ptr<const Matrix> matrix) {
  return with_host_vectors<typename Matrix::value_type>(
      matrix, [](const Matrix& held, const auto& coefficients, const auto& vectors,
                 RowRange<std::int32_t> rows,
                 gpu::Stream& stream) { gpu::step(held, coefficients, vectors, rows, stream); });
}
// Of a product, which is on all rows.
template <Value V>
auto on_device(std::shared_ptr<const gpu::StoredProduct<V>> product) {
  return with_host_vectors<V>(
      product,
      [](const gpu::StoredProduct<V>& held, const auto& coefficients, const auto& vectors,
         RowRange<std::int32_t>, gpu::Stream& stream) { held.run(coefficients, vectors, stream); });
}

}  // namespace strata::test

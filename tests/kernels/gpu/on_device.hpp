// Matrices on a GPU itself, as step_check.hpp wants to run them.
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/kernels/cpu/step.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"

namespace strata::test {

// A step of a matrix on the device, with vectors of the host.
template <class Matrix>
auto on_device(std::shared_ptr<const Matrix> matrix) {
  using V = typename Matrix::value_type;
  return [matrix](const cpu::StepCoefficients<V>& coefficients, const cpu::StepVectors<V>& vectors,
                  RowRange<std::int32_t> rows) {
    gpu::Stream stream;
    const auto upload = [&](const V* data, Offset elements) {
      return gpu::to_device(std::span(data, static_cast<std::size_t>(elements)), stream);
    };
    const Offset elements = Offset{matrix->rows()} * vectors.count;
    const auto x = upload(vectors.x, Offset{matrix->cols()} * vectors.count);
    const auto previous = upload(vectors.previous, vectors.previous == nullptr ? 0 : elements);
    auto out = upload(vectors.out, elements);
    gpu::DeviceScratch<V> scratch(matrix->scratch_elements(vectors.count));
    gpu::step(*matrix, coefficients,
              {x.span(), previous.span(), out.span(), vectors.count, scratch.span()}, rows, stream);
    std::ranges::copy(gpu::to_host(out.span(), stream), vectors.out);
  };
}

}  // namespace strata::test

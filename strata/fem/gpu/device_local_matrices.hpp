// Local matrices in the memory of a GPU, and products with them: the counterpart of
// fem/local_matrices.hpp, in its layout of one block.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/fem/local_matrices.hpp"

namespace strata::gpu {

template <std::floating_point Real = double>
class DeviceLocalMatrices {
 public:
  // Throws InvalidArgument unless `local` is one block, and DeviceOutOfMemory.
  DeviceLocalMatrices(const fem::LocalMatrices<Real>& local, Stream& stream);

  Offset rows() const { return rows_; }
  Offset bytes() const { return values_.bytes() + unknowns_.bytes(); }  // on the device

  // y = Kx, in the order of the stream; the same bits every time. Vectors have an element for every
  // unknown and do not overlap. Throws InvalidArgument for others.
  void multiply(DeviceSpan<const Real> x, DeviceSpan<Real> y, Stream& stream) const;

 private:
  Offset rows_ = 0;
  Offset slots_ = 0;
  int degree_ = 1;
  bool symmetric_ = false;
  std::array<RowRange<Offset>, fem::kMeshColours> colours_{};
  DeviceArray<Real> values_;
  DeviceArray<std::int32_t> unknowns_;
};

}  // namespace strata::gpu

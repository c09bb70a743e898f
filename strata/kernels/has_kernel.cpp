#include "strata/kernels/has_kernel.hpp"

#include <bit>

#include "strata/formats/registry.hpp"
#include "strata/kernels/cpu/team_product.hpp"
#include "strata/kernels/gpu/device_matrix_of.hpp"

namespace strata {

namespace {

// Value and index types play no part.
template <template <class, class> class Matrix>
bool has_kernel_for(KernelTarget target) {
  switch (target) {
    case KernelTarget::processor: return cpu::HasTeamProduct<Matrix<double, std::int32_t>>;
    case KernelTarget::gpu: return gpu::HasDeviceMatrix<Matrix<double, std::int32_t>>;
    case KernelTarget::reference: return true;
  }
  return false;
}

// Of packed SELL: shorter slices would leave most of a warp idle, which does one of them at a time.
constexpr Offset kLowestPackedGpuSlice = 8;

}  // namespace

bool has_kernel(Format format, KernelTarget target) {
  switch (format) {
#define STRATA_CASE(enumerator, type, name, label) \
  case Format::enumerator: return has_kernel_for<type>(target);
    STRATA_FOR_EACH_FORMAT(STRATA_CASE)
#undef STRATA_CASE
    case Format::automatic: break;
  }
  return false;
}

bool has_kernel(const FormatSpec& spec, KernelTarget target) {
  if (!has_kernel(spec.format(), target)) return false;
  if (target != KernelTarget::gpu || !is_sliced(spec.format())) return true;
  const Offset height = spec.parameter("slice_height").value_or(kLowestPackedGpuSlice);
  if (spec.format() == Format::packed_sell) return height >= kLowestPackedGpuSlice;
  return std::has_single_bit(static_cast<std::uint64_t>(height));
}

}  // namespace strata

#include "strata/kernels/has_kernel.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace strata {
namespace {

std::vector<Format> formats_with_kernel(KernelTarget target) {
  std::vector<Format> formats;
  for (const Format format : kFormats) {
    if (has_kernel(format, target)) formats.push_back(format);
  }
  return formats;
}

TEST(HasKernel, IsWhatTheBackendsDeclare) {
  EXPECT_EQ(formats_with_kernel(KernelTarget::processor),
            (std::vector{Format::csr, Format::ell, Format::jds, Format::dia, Format::bcsr,
                         Format::sell, Format::packed_sell}));
  EXPECT_EQ(formats_with_kernel(KernelTarget::gpu),
            (std::vector{Format::csr, Format::ell, Format::sell, Format::packed_sell}));
  EXPECT_FALSE(has_kernel(Format::automatic, KernelTarget::processor));
}

TEST(HasKernel, GpusWantSlicesOfEightRows) {
  const FormatSpec low = parse_format_spec("packed-sell:slice_height=4");
  EXPECT_TRUE(has_kernel(low, KernelTarget::processor));
  EXPECT_FALSE(has_kernel(low, KernelTarget::gpu));
  EXPECT_TRUE(has_kernel(parse_format_spec("packed-sell:slice_height=8"), KernelTarget::gpu));
  EXPECT_TRUE(has_kernel(FormatSpec(Format::csr), KernelTarget::gpu));
  EXPECT_FALSE(has_kernel(FormatSpec(Format::dia), KernelTarget::gpu));
}

}  // namespace
}  // namespace strata

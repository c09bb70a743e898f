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
            (std::vector{Format::coo, Format::csr, Format::csc, Format::symmetric_csr, Format::ell,
                         Format::hyb, Format::jds, Format::dia, Format::bcsr, Format::blocked_coo,
                         Format::sell, Format::packed_sell}));
  EXPECT_EQ(formats_with_kernel(KernelTarget::gpu),
            (std::vector{Format::coo, Format::csr, Format::symmetric_csr, Format::ell, Format::hyb,
                         Format::dia, Format::bcsr, Format::sell, Format::packed_sell}));
  EXPECT_FALSE(has_kernel(Format::automatic, KernelTarget::processor));
}

TEST(HasKernel, GpusWantPackedSlicesOfEightRows) {
  const FormatSpec low = parse_format_spec("packed-sell:slice_height=4");
  EXPECT_TRUE(has_kernel(low, KernelTarget::processor));
  EXPECT_FALSE(has_kernel(low, KernelTarget::gpu));
  EXPECT_TRUE(has_kernel(parse_format_spec("packed-sell:slice_height=8"), KernelTarget::gpu));
  EXPECT_TRUE(has_kernel(FormatSpec(Format::csr), KernelTarget::gpu));
  EXPECT_FALSE(has_kernel(FormatSpec(Format::jds), KernelTarget::gpu));
}

TEST(HasKernel, GpusWantSlicesThatDivideAWarp) {
  for (const char* text : {"sell:slice_height=1", "sell:slice_height=2", "sell:slice_height=4",
                           "sell:slice_height=32,sort_window=77"}) {
    EXPECT_TRUE(has_kernel(parse_format_spec(text), KernelTarget::gpu)) << text;
  }
  EXPECT_FALSE(has_kernel(parse_format_spec("sell:slice_height=24"), KernelTarget::gpu));
  EXPECT_TRUE(has_kernel(parse_format_spec("sell:slice_height=24"), KernelTarget::processor));
}

}  // namespace
}  // namespace strata

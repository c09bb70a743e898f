#include "strata/kernels/product_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "strata/formats/statistics.hpp"

namespace strata {

namespace {

// Kernels beside the one that a format has of its own.
struct OtherKernel {
  Format format;
  std::string_view name;
  std::string_view label;
  KernelTarget target;
};
constexpr std::array kOtherKernels{
    OtherKernel{Format::csr, "parts", "CSR in equal parts", KernelTarget::processor},
    OtherKernel{Format::csr, "gathers", "CSR with gathers", KernelTarget::processor},
    OtherKernel{Format::csr, "loop", "CSR entry by entry", KernelTarget::processor},
    OtherKernel{Format::csr, "scalar", "CSR, a thread per row", KernelTarget::gpu},
    OtherKernel{Format::csr, "classical", "CSR, threads of a warp per row", KernelTarget::gpu},
    OtherKernel{Format::csr, "balanced", "CSR in equal parts", KernelTarget::gpu},
    OtherKernel{Format::csr, "stream", "CSR as a stream", KernelTarget::gpu},
    OtherKernel{Format::csr, "reguly", "CSR of Reguly", KernelTarget::gpu}};

std::string full_name(const OtherKernel& kernel) {
  return fmt::format("{}-{}", name_of(kernel.format), kernel.name);
}

void add_if_new(std::vector<ProductSpec>& specs, const ProductSpec& spec) {
  if (std::ranges::find(specs, spec) == specs.end()) specs.push_back(spec);
}

}  // namespace

std::string name_of(const ProductSpec& spec) {
  const std::string format(name_of(spec.format));
  return spec.kernel.empty() ? format : fmt::format("{}-{}", format, spec.kernel);
}

std::string label_of(const ProductSpec& spec) {
  for (const OtherKernel& kernel : kOtherKernels) {
    if (kernel.format == spec.format.format() && kernel.name == spec.kernel) {
      return std::string(kernel.label);
    }
  }
  return label_of(spec.format);
}

std::vector<ProductSpec> products_in(const FormatSpec& format, KernelTarget target) {
  if (!has_kernel(format, target)) return {};
  std::vector<ProductSpec> specs{{format}};
  for (const OtherKernel& kernel : kOtherKernels) {
    if (kernel.format == format.format() && kernel.target == target) {
      specs.push_back({format, std::string(kernel.name)});
    }
  }
  return specs;
}

std::string names_of_products(KernelTarget target) {
  std::string names;
  for (const Format format : kFormats) {
    for (const ProductSpec& spec : products_in(FormatSpec(format), target)) {
      names += name_of(spec) + ',';
    }
  }
  return names;
}

std::vector<ProductSpec> parse_product_list(std::string_view text,
                                            const MatrixStatistics& statistics,
                                            KernelTarget target) {
  std::vector<ProductSpec> specs;
  for (const std::string& word : split_format_list(text)) {
    const auto kernel = std::ranges::find(kOtherKernels, word, full_name);
    if (kernel != kOtherKernels.end()) {
      if (kernel->target == target) {
        add_if_new(specs, {FormatSpec(kernel->format), std::string(kernel->name)});
      }
      continue;
    }
    for (const FormatSpec& format : parse_format_list(word, statistics)) {
      for (const ProductSpec& spec : products_in(format, target)) add_if_new(specs, spec);
    }
  }
  std::ranges::stable_sort(specs, {}, [](const ProductSpec& spec) { return spec.format.format(); });
  return specs;
}

}  // namespace strata

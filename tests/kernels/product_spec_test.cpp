#include "strata/kernels/product_spec.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/cpu/stored_product.hpp"

namespace strata {
namespace {

const MatrixStatistics& statistics() {
  static const MatrixStatistics of_grid =
      statistics_of(generate<double, std::int32_t>("stencil5:9x7"));
  return of_grid;
}

std::vector<std::string> labels_of(std::string_view text, KernelTarget target) {
  std::vector<std::string> labels;
  for (const ProductSpec& spec : parse_product_list(text, statistics(), target)) {
    labels.push_back(label_of(spec));
  }
  return labels;
}

using Labels = std::vector<std::string>;

TEST(ProductList, ANameOfAFormatIsAllItsKernels) {
  EXPECT_EQ(labels_of("csr", KernelTarget::processor),
            (Labels{"CSR", "CSR in equal parts", "CSR with gathers", "CSR entry by entry"}));
  EXPECT_EQ(labels_of("csr", KernelTarget::reference), (Labels{"CSR"}));
  EXPECT_EQ(labels_of("sell:slice_height=4,sort_window=1,coo", KernelTarget::processor),
            (Labels{"COO", "SELL-4-1"}));
}

TEST(ProductList, AKernelHasANameOfItsOwn) {
  EXPECT_EQ(labels_of("csr-parts", KernelTarget::processor), (Labels{"CSR in equal parts"}));
  EXPECT_EQ(labels_of("csr-parts,csr", KernelTarget::processor),
            (Labels{"CSR in equal parts", "CSR", "CSR with gathers", "CSR entry by entry"}));
  for (const ProductSpec& spec : parse_product_list("all", statistics(), KernelTarget::processor)) {
    const auto again = parse_product_list(name_of(spec), statistics(), KernelTarget::processor);
    EXPECT_EQ(std::ranges::count(again, spec), 1) << name_of(spec);
  }
}

TEST(ProductList, AllNamesInOneTextAreThoseOfTheDevice) {
  const std::string on_processor = names_of_products(KernelTarget::processor);
  EXPECT_NE(on_processor.find(",csr,csr-parts,csr-gathers,csr-loop,"), std::string::npos)
      << on_processor;
  EXPECT_EQ(on_processor.find("csr-stream"), std::string::npos) << on_processor;
  const std::string on_gpu = names_of_products(KernelTarget::gpu);
  EXPECT_NE(on_gpu.find("csr-stream,"), std::string::npos) << on_gpu;
  EXPECT_EQ(on_gpu.find("csr-loop"), std::string::npos) << on_gpu;
}

TEST(ProductList, UnknownNamesAreRefused) {
  EXPECT_THROW(labels_of("csr-nothing", KernelTarget::processor), InvalidArgument);
  EXPECT_THROW(labels_of("", KernelTarget::processor), InvalidArgument);
}

TEST(StoredProduct, WhatProcessorsDoNotHaveIsRefused) {
  const auto matrix = generate<double, std::int32_t>("stencil5:9x7");
  EXPECT_THROW(cpu::store_product(matrix, {FormatSpec(Format::csr), "nothing"}), Unavailable);
  EXPECT_THROW(cpu::store_product(matrix, {FormatSpec(Format::coo), "parts"}), Unavailable);
}

}  // namespace
}  // namespace strata

// The vendor's products agree with the reference: both sides of a comparison compute the same.
#include "strata/vendor/spmv.hpp"

#include <gtest/gtest.h>

#include "tests/support/format_check.hpp"
#include "tests/support/gpu.hpp"

namespace strata::vendor {
namespace {

using Index32 = std::int32_t;

template <class V>
class Vendor : public test::GpuTest {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Vendor, Values);

template <Value V>
void expect_product(VendorSpmv<V>& product, const Csr<V, Index32>& csr, V alpha, V beta) {
  gpu::Stream stream;
  const auto x = test::random_vector<V>(csr.cols(), 1);
  const auto old_y = test::random_vector<V>(csr.rows(), 2);
  std::vector<V> expected = old_y;
  reference::spmv(csr, alpha, x, beta, expected);
  const auto device_x = gpu::to_device(std::span<const V>(x), stream);
  auto y = gpu::to_device(std::span<const V>(old_y), stream);
  product.apply(alpha, device_x.span(), beta, y.span(), stream);
  const auto result = gpu::to_host(y.span(), stream);
  for (Index32 row = 0; row < csr.rows(); ++row) {
    const Offset terms = csr.row_offsets()[row + 1] - csr.row_offsets()[row];
    ASSERT_LE(std::abs(result[row] - expected[row]), test::tolerance<V>(terms)) << "row " << row;
  }
}

template <Value V>
void expect_products(VendorSpmv<V> product, const Csr<V, Index32>& csr) {
  expect_product(product, csr, V{1}, V{});
  expect_product(product, csr, V(-0.5f), V(2.0f));
}

// make(csr) returns a product; the vendor takes no empty matrices.
template <Value V, class Make>
void expect_works(const Make& make) {
  for (const auto& [name, entries] : test::awkward_matrices<V, Index32>()) {
    SCOPED_TRACE(name);
    const Csr<V, Index32> csr = entries.to_csr();
    if (csr.nnz() > 0) make(csr);
  }
}

TYPED_TEST(Vendor, CsrAgreesWithTheReferenceInEveryAlgorithm) {
  using V = TypeParam;
  gpu::Stream stream;
  for (const CsrAlgorithm algorithm : kCsrAlgorithms) {
    SCOPED_TRACE(name_of(algorithm));
    expect_works<V>([&](const Csr<V, Index32>& csr) {
      const gpu::DeviceCsr<V> matrix(csr, stream);
      expect_products(VendorSpmv<V>(csr, matrix, algorithm, stream), csr);
    });
  }
}

TYPED_TEST(Vendor, SlicedEllAgreesWithTheReferenceWhereItExists) {
  using V = TypeParam;
  gpu::Stream stream;
  try {
    expect_works<V>([&](const Csr<V, Index32>& csr) {
      const auto sell = Sell<V, Index32>::from_csr(csr, {.slice_height = 32, .max_fill = 1e9});
      const gpu::DeviceSell<V> matrix(sell, stream);
      expect_products(VendorSpmv<V>(sell, matrix, stream), csr);
    });
  } catch (const Unavailable& missing) {
    GTEST_SKIP() << missing.what();
  }
}

TYPED_TEST(Vendor, CooAgreesWithTheReferenceInEveryAlgorithm) {
  using V = TypeParam;
  gpu::Stream stream;
  for (const CooAlgorithm algorithm : kCooAlgorithms) {
    SCOPED_TRACE(name_of(algorithm));
    expect_works<V>([&](const Csr<V, Index32>& csr) {
      const gpu::DeviceCoo<V> matrix(Coo<V, Index32>::from_csr(csr), stream);
      expect_products(VendorSpmv<V>(matrix, algorithm, stream), csr);
    });
  }
}

TYPED_TEST(Vendor, BlocksAgreeWithTheReferenceWhereTheyExist) {
  using V = TypeParam;
  gpu::Stream stream;
  int multiplied = 0;
  try {
    for (const Offset size : {2, 3, 4, 6}) {
      SCOPED_TRACE(size);
      expect_works<V>([&](const Csr<V, Index32>& csr) {
        if (csr.rows() % size != 0 || csr.cols() % size != 0) return;
        const auto bcsr = Bcsr<V, Index32>::from_csr(
            csr, {.block_rows = size, .block_cols = size, .max_fill = 1e9});
        const gpu::DeviceBcsr<V> matrix(bcsr, stream);
        expect_products(VendorSpmv<V>(bcsr, matrix, stream), csr);
        ++multiplied;
      });
    }
  } catch (const Unavailable& missing) {
    GTEST_SKIP() << missing.what();
  }
  EXPECT_GT(multiplied, 4);
}

class VendorLibrary : public test::GpuTest {};

TEST_F(VendorLibrary, SortedRowsCutBlocksAndWrongSizesAreRefused) {
  gpu::Stream stream;
  const auto csr = test::staircase(40);
  const auto sorted = Sell<double, Index32>::from_csr(csr, {.slice_height = 8, .sort_window = 16});
  const gpu::DeviceSell<double> matrix(sorted, stream);
  EXPECT_THROW(VendorSpmv<double>(sorted, matrix, stream), InvalidArgument);
  const auto cut = Bcsr<double, Index32>::from_csr(csr, {.block_rows = 3, .block_cols = 2});
  const gpu::DeviceBcsr<double> blocks(cut, stream);
  EXPECT_THROW(VendorSpmv<double>(cut, blocks, stream), Error);
  const gpu::DeviceCsr<double> rows(csr, stream);
  VendorSpmv<double> product(csr, rows, CsrAlgorithm::standard, stream);
  gpu::DeviceArray<double> x(40), y(39);
  EXPECT_THROW(product.apply(1.0, x.span(), 0.0, y.span(), stream), InvalidArgument);
  EXPECT_NE(library_version().find('.'), std::string::npos);
}

}  // namespace
}  // namespace strata::vendor

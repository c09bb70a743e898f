// Products of every format and kernel on a GPU, against the reference.
#include "strata/kernels/gpu/stored_product.hpp"

#include <algorithm>
#include <set>

#include "strata/base/error.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/gen/generate.hpp"
#include "tests/kernels/gpu/on_device.hpp"
#include "tests/kernels/gpu/step_cases.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::Index32;

template <Value V, Index I>
std::vector<ProductSpec> products_for(const Csr<V, I>& matrix) {
  return parse_product_list("all", statistics_of(matrix), KernelTarget::gpu);
}

// None where the format refuses the matrix.
template <Value V, Index I>
std::shared_ptr<const gpu::StoredProduct<V>> stored(const Csr<V, I>& matrix,
                                                    const ProductSpec& spec) {
  gpu::Stream stream;
  try {
    return gpu::store_product(matrix, spec, stream);
  } catch (const InvalidArgument&) {
    return nullptr;
  }
}

template <class Types>
class GpuStoredProduct : public test::GpuTest {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuStoredProduct, Values);

TYPED_TEST(GpuStoredProduct, AgreesWithTheReferenceInEveryFormatAndKernel) {
  using V = TypeParam;
  std::size_t number = 0;
  int products = 0;
  int refused = 0;
  std::set<Format> formats;
  for (const auto& [name, entries] : test::awkward_matrices<V, Index32>()) {
    SCOPED_TRACE(name);
    const Csr<V, Index32> csr = entries.to_csr();
    ++number;
    for (const ProductSpec& spec : products_for(csr)) {
      SCOPED_TRACE(label_of(spec));
      ++products;
      const auto product = stored(csr, spec);
      if (!product) {
        ++refused;
        continue;
      }
      formats.insert(spec.format.format());
      EXPECT_EQ(product->rows(), csr.rows());
      EXPECT_EQ(product->cols(), csr.cols());
      EXPECT_EQ(product->encodings().has_value(), spec.format.format() == Format::packed_sell);
      test::expect_gpu_steps(csr, test::whole(csr), number, test::on_device(product));
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_LT(refused, products / 3);
  for (const Format format : kFormats) {
    // The awkward matrices are not symmetric, but for trivial ones.
    if (format == Format::symmetric_csr) continue;
    EXPECT_EQ(formats.contains(format), has_kernel(format, KernelTarget::gpu)) << name_of(format);
  }
}

class GpuStoredProducts : public test::GpuTest {};

TEST_F(GpuStoredProducts, OfWideIndicesAgreeWithTheReference) {
  const auto narrow = generate<double, std::int32_t>("stencil9:12x12");
  const auto wide = generate<double, std::int64_t>("stencil9:12x12");
  for (const ProductSpec& spec : products_for(wide)) {
    SCOPED_TRACE(label_of(spec));
    const auto product = stored(wide, spec);
    ASSERT_TRUE(product);
    test::expect_gpu_steps(narrow, test::whole(narrow), 3, test::on_device(product));
  }
}

TEST_F(GpuStoredProducts, SayWhichKernelTheyTake) {
  gpu::Stream stream;
  const auto matrix = generate<double, Index32>("stencil5:20x20");
  const auto label = [&](const ProductSpec& spec) {
    return gpu::store_product(matrix, spec, stream)->label();
  };
  const FormatSpec csr(Format::csr);
  EXPECT_EQ(label({csr}), "CSR as a stream");
  EXPECT_EQ(label({csr, "stream"}), "CSR as a stream");
  EXPECT_EQ(label({csr, "balanced"}), "CSR in equal parts");
  EXPECT_EQ(label({csr, "scalar"}), "CSR, 1 thread per row");
  EXPECT_EQ(label({parse_format_spec("bcsr:block_rows=3,block_cols=2")}), "BCSR 3x2");
  const auto reguly = gpu::store_csr_product(
      matrix, {.kernel = gpu::CsrKernel::reguly, .reguly = {.coop = 2, .repeat = 4}}, stream);
  EXPECT_EQ(reguly->label(), "CSR of Reguly, coop 2, repeat 4, blocks of 128");
  const std::vector<NamedNumber> parameters{{"coop", 2}, {"repeat", 4}, {"block_size", 128}};
  EXPECT_EQ(reguly->kernel_parameters(), parameters);
  test::expect_gpu_steps(matrix, test::whole(matrix), 1, test::on_device(reguly));
}

// What is on the device holds more than a product reads, or as much.
TEST_F(GpuStoredProducts, KnowTheirBytes) {
  const auto matrix = generate<double, Index32>("stencil5:20x20");
  for (const ProductSpec& spec : products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    const auto product = stored(matrix, spec);
    ASSERT_TRUE(product);
    EXPECT_GT(product->bytes(), 0);
    EXPECT_GE(product->device_bytes(), product->bytes() * 9 / 10);
  }
}

TEST_F(GpuStoredProducts, WithoutAKernelAreRefused) {
  gpu::Stream stream;
  const auto matrix = generate<double, Index32>("stencil5:20x20");
  for (const ProductSpec& spec :
       {ProductSpec{FormatSpec(Format::jds)}, ProductSpec{FormatSpec(Format::csr), "parts"},
        ProductSpec{FormatSpec(Format::ell), "stream"},
        ProductSpec{parse_format_spec("packed-sell:slice_height=4")}}) {
    SCOPED_TRACE(name_of(spec));
    EXPECT_THROW(gpu::store_product(matrix, spec, stream), Unavailable);
  }
  EXPECT_THROW(gpu::store_csr_product(
                   matrix, {.kernel = gpu::CsrKernel::reguly, .reguly = {.coop = 3}}, stream),
               InvalidArgument);
}

TEST_F(GpuStoredProducts, AreTheSameWhereTheirNamedKernelsAre) {
  const FormatSpec csr(Format::csr);
  const gpu::CsrRows even{.rows = 1000, .nnz = 7000, .longest = 7};
  EXPECT_EQ(gpu::with_named_kernel({csr}, even), (ProductSpec{csr, "stream"}));
  const gpu::CsrRows uneven{.rows = 1000, .nnz = 20000000, .longest = 100000};
  EXPECT_EQ(gpu::with_named_kernel({csr}, uneven), (ProductSpec{csr, "balanced"}));
  EXPECT_EQ(gpu::with_named_kernel({csr, "scalar"}, even), (ProductSpec{csr, "scalar"}));
  EXPECT_EQ(gpu::with_named_kernel({FormatSpec(Format::coo)}, even),
            ProductSpec{FormatSpec(Format::coo)});
}

}  // namespace
}  // namespace strata

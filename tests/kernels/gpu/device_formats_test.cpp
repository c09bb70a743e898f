// COO, HYB, DIA, BCSR, symmetric and transposed CSR on a GPU itself: the cases of the emulator,
// larger matrices, and what is refused.
#include "strata/gen/generate.hpp"
#include "strata/kernels/gpu/device_matrix_of.hpp"
#include "tests/kernels/gpu/on_device.hpp"
#include "tests/kernels/gpu/step_cases.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::Index32;
using test::on_device;

template <class Types>
class GpuFormat : public test::GpuTest {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuFormat, Values);

template <class Matrix>
auto uploaded(const Matrix& host) {
  gpu::Stream stream;
  return on_device(std::make_shared<const gpu::DeviceMatrix<Matrix>>(host, stream));
}

template <Value V>
auto transpose_on_device(const Csr<V, Index32>& csr, const gpu::DeviceTransposedOptions& options) {
  gpu::Stream stream;
  return on_device(std::make_shared<const gpu::DeviceTransposedCsr<V>>(csr, options, stream));
}

TYPED_TEST(GpuFormat, CooAgreesWithTheReference) {
  using V = TypeParam;
  test::expect_whole_gpu_steps_on_all<V>(
      [](const Csr<V, Index32>& csr) { return uploaded(Coo<V, Index32>::from_csr(csr)); });
  const auto csr = test::uneven_rows<V>(5000);
  for (std::size_t number = 0; number < 4; ++number) {
    test::expect_gpu_steps(csr, test::whole(csr), number, uploaded(Coo<V, Index32>::from_csr(csr)));
  }
}

TYPED_TEST(GpuFormat, CooInAnyOrderAgreesWithTheReference) {
  using V = TypeParam;
  const auto csr = test::uneven_rows<V>(200);
  const auto coo = Coo<V, Index32>::from_csr(csr);
  const auto reversed = []<class T>(std::span<const T> data) {
    return Array<T>(data.rbegin(), data.rend());
  };
  const Coo<V, Index32> backwards(coo.rows(), coo.cols(), reversed(coo.row_indices()),
                                  reversed(coo.column_indices()), reversed(coo.values()));
  test::expect_gpu_steps(csr, test::whole(csr), 1, uploaded(backwards));
}

TYPED_TEST(GpuFormat, HybAgreesWithTheReference) {
  using V = TypeParam;
  for (const HybOptions& options :
       {HybOptions{.max_fill = 1e9}, HybOptions{.hybrid = 50, .max_fill = 1e9}}) {
    test::expect_whole_gpu_steps_on_all<V>([&](const Csr<V, Index32>& csr) {
      return uploaded(Hyb<V, Index32>::from_csr(csr, options));
    });
  }
}

TYPED_TEST(GpuFormat, DiaAndBcsrAgreeWithTheReferenceOnAnyRows) {
  using V = TypeParam;
  test::expect_gpu_steps_on_all<V>(1, [](const Csr<V, Index32>& csr) {
    return uploaded(Dia<V, Index32>::from_csr(csr, {.max_fill = 1e9}));
  });
  for (const Offset columns : {1, 2, 3, 4, 5, 6, 8}) {
    test::expect_gpu_steps_on_all<V>(1, [&](const Csr<V, Index32>& csr) {
      return uploaded(Bcsr<V, Index32>::from_csr(
          csr, {.block_rows = columns % 4 + 1, .block_cols = columns, .max_fill = 1e9}));
    });
  }
}

TYPED_TEST(GpuFormat, EllInGroupsAgreesWithTheReference) {
  using V = TypeParam;
  for (const gpu::EllGroups groups : {gpu::EllGroups{}, {4, 1}, {16, 1}, {16, 3}}) {
    test::expect_gpu_steps_on_all<V>(1, [&](const Csr<V, Index32>& csr) {
      gpu::Stream stream;
      return on_device(std::make_shared<const gpu::DeviceEll<V>>(
          Ell<V, Index32>::from_csr(csr, {.max_fill = 1e9}), stream,
          gpu::DeviceEllOptions{groups}));
    });
  }
}

TYPED_TEST(GpuFormat, TransposedProductsAgreeWithTheReference) {
  using V = TypeParam;
  for (const bool transpose_first : {false, true}) {
    std::size_t number = 0;
    for (const auto& [name, entries] : test::awkward_matrices<V, Index32>()) {
      SCOPED_TRACE(name);
      const Csr<V, Index32> csr = entries.to_csr();
      const Csr<V, Index32> transpose = transposed(csr);
      test::expect_gpu_steps(transpose, test::whole(transpose), number++,
                             transpose_on_device(csr, {.transpose_first = transpose_first}));
    }
  }
}

TYPED_TEST(GpuFormat, SymmetricProductsAgreeWithTheReference) {
  using V = TypeParam;
  const auto lower = [] {
    test::Entries<V, Index32> entries(3000, 3000, 5);
    for (Index32 row = 0; row < 3000; ++row) {
      for (const Index32 back : {40, 7, 1, 0}) {
        if (row >= back) entries.add(row, row - back);
      }
    }
    return entries.coo().to_csr();
  }();
  const SymmetricCsr<V, Index32> matrix(lower, Symmetry::symmetric);
  const auto full = matrix.to_csr();
  for (std::size_t number = 0; number < 4; ++number) {
    test::expect_gpu_steps(full, test::whole(full), number, uploaded(matrix));
  }
}

class GpuFormats : public test::GpuTest {};

TEST_F(GpuFormats, ConjugateTransposesAgreeByBothWays) {
  using V = std::complex<double>;
  const auto csr = test::uneven_rows<V>(900);
  const Index32 outputs = csr.cols();
  const auto x = test::random_vector<V>(csr.rows(), 1);
  std::vector<V> scattered(outputs);
  std::vector<V> first(outputs);
  transpose_on_device(csr, {.conjugate = true})({}, {x.data(), nullptr, scattered.data(), 1},
                                                {0, outputs});
  transpose_on_device(csr, {.conjugate = true, .transpose_first = true})(
      {}, {x.data(), nullptr, first.data(), 1}, {0, outputs});
  for (Index32 i = 0; i < outputs; ++i) {
    ASSERT_LE(std::abs(scattered[i] - first[i]), test::tolerance<V>(1500)) << "element " << i;
  }
}

TEST_F(GpuFormats, LargeMatricesAgreeWithTheReferenceAndAreTheSameEveryTime) {
  for (const char* spec : {"stencil27:30x30x30", "rmat:14,edges=16", "arrow:100000"}) {
    SCOPED_TRACE(spec);
    const auto csr = generate<double, Index32>(spec);
    const auto x = test::random_vector<double>(csr.cols(), 3);
    const auto expect_same_bits = [&](const auto& run) {
      test::expect_step(csr, {}, 1, csr.all_rows(), run);
      std::vector<double> first(csr.rows());
      std::vector<double> again(csr.rows());
      run({}, {x.data(), nullptr, first.data(), 1}, csr.all_rows());
      run({}, {x.data(), nullptr, again.data(), 1}, csr.all_rows());
      EXPECT_EQ(first, again);
    };
    expect_same_bits(uploaded(Coo<double, Index32>::from_csr(csr)));
    expect_same_bits(uploaded(Hyb<double, Index32>::from_csr(csr)));
    if (std::string_view(spec).starts_with("stencil")) {
      expect_same_bits(uploaded(Dia<double, Index32>::from_csr(csr)));
      expect_same_bits(uploaded(Bcsr<double, Index32>::from_csr(csr)));
      expect_same_bits(uploaded(SymmetricCsr<double, Index32>::from_csr(csr)));
    }
  }
}

TEST_F(GpuFormats, WrongArgumentsAreRefused) {
  gpu::Stream stream;
  const auto csr = generate<double, Index32>("stencil5:40x40");
  const gpu::DeviceCoo<double> coo(Coo<double, Index32>::from_csr(csr), stream);
  const gpu::DeviceTransposedCsr<double> transpose(csr, {}, stream);
  gpu::DeviceArray<double> x(1600), y(1600);
  gpu::DeviceScratch<double> scratch(coo.scratch_elements(1));
  const auto step = [&](const auto& some, gpu::ScratchSpan<double> extra, RowRange<Index32> rows) {
    gpu::step(some, {}, {x.span(), {}, y.span(), 1, extra}, rows, stream);
  };
  ASSERT_GT(coo.scratch_elements(1), 0);
  EXPECT_NO_THROW(step(coo, scratch.span(), {0, 1600}));
  EXPECT_THROW(step(coo, scratch.span(), {0, 1599}), InvalidArgument);
  EXPECT_THROW(step(coo, {}, {0, 1600}), InvalidArgument);
  EXPECT_THROW(step(transpose, {}, {0, 1600}), InvalidArgument);
  EXPECT_THROW(gpu::DeviceCoo<double>(Coo<double, Index32>::from_csr(csr), stream,
                                      gpu::DeviceCooOptions{-1}),
               InvalidArgument);
  EXPECT_THROW(gpu::DeviceEll<double>(Ell<double, Index32>::from_csr(csr), stream,
                                      gpu::DeviceEllOptions{gpu::EllGroups{3, 1}}),
               InvalidArgument);
}

}  // namespace
}  // namespace strata

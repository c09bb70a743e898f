// The kernels on a GPU itself: the cases of the emulator, larger matrices, and what is refused.
#include "strata/kernels/gpu/device_matrix.hpp"

#include "strata/gen/generate.hpp"
#include "strata/kernels/gpu/reguly_tuner.hpp"
#include "tests/kernels/gpu/on_device.hpp"
#include "tests/kernels/gpu/step_cases.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::Index32;

template <class Types>
class GpuMatrix : public test::GpuTest {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuMatrix, Values);

using test::on_device;

template <Value V>
auto csr_on_device(const Csr<V, Index32>& csr, const gpu::DeviceCsrOptions& options) {
  gpu::Stream stream;
  return on_device(std::make_shared<const gpu::DeviceCsr<V>>(csr, stream, options));
}

template <Value V>
auto ell_on_device(const Csr<V, Index32>& csr) {
  gpu::Stream stream;
  return on_device(std::make_shared<const gpu::DeviceEll<V>>(
      Ell<V, Index32>::from_csr(csr, {.max_fill = 1e9}), stream));
}

template <Value V>
auto sell_on_device(const Csr<V, Index32>& csr, const SellOptions& options) {
  gpu::Stream stream;
  return on_device(
      std::make_shared<const gpu::DeviceSell<V>>(Sell<V, Index32>::from_csr(csr, options), stream));
}

template <Value V>
auto packed_on_device(const Csr<V, Index32>& csr, const PackedSellOptions& options) {
  gpu::Stream stream;
  return on_device(std::make_shared<const gpu::DevicePackedSell<V>>(
      PackedSell<V, Index32>::from_csr(csr, options), stream));
}

int warp() {
  return gpu::device_properties(gpu::current_device()).warp;
}

TYPED_TEST(GpuMatrix, CsrAgreesWithTheReferenceForAnyNumberOfThreadsPerRow) {
  using V = TypeParam;
  for (int threads = 1; threads <= warp(); threads *= 2) {
    SCOPED_TRACE(testing::Message() << threads << " threads per row");
    test::expect_gpu_steps_on_all<V>(1, [&](const Csr<V, Index32>& csr) {
      return csr_on_device(csr, {.kernel = gpu::CsrKernel::classical, .threads_per_row = threads});
    });
  }
}

TYPED_TEST(GpuMatrix, CsrInPartsAgreesWithTheReference) {
  using V = TypeParam;
  test::expect_gpu_steps_on_all<V>(1, [&](const Csr<V, Index32>& csr) {
    return csr_on_device(csr, {.kernel = gpu::CsrKernel::balanced});
  });
  const auto csr = test::uneven_rows<V>(100000);
  for (std::size_t number = 0; number < 7; ++number) {
    test::expect_gpu_steps(csr, 1, number, csr_on_device(csr, {}));
  }
}

TYPED_TEST(GpuMatrix, CsrAsAStreamOfAnyShapeAgreesWithTheReference) {
  using V = TypeParam;
  using enum gpu::StreamGather;
  std::size_t number = 0;
  const auto uneven = test::uneven_rows<V>(100000);
  for (const gpu::StreamShape& shape : gpu::kStreamShapes) {
    for (const gpu::StreamGather gather : {automatic, by_rows, by_entries}) {
      SCOPED_TRACE(testing::Message() << shape.threads << " x " << shape.entries_per_thread);
      const gpu::DeviceCsrOptions options{
          .kernel = gpu::CsrKernel::stream, .stream = shape, .gather = gather};
      test::expect_gpu_steps(uneven, 1, number++, csr_on_device(uneven, options));
      test::expect_gpu_steps_on_all<V>(
          1, [&](const Csr<V, Index32>& csr) { return csr_on_device(csr, options); });
    }
  }
}

TYPED_TEST(GpuMatrix, CsrOfRegulyAgreesWithTheReference) {
  using V = TypeParam;
  for (const auto& parameters :
       gpu::RegulySweep{.repeat = {1, 7}, .block_size = {128, 512, 1024}}.list(
           {warp(), sizeof(V)})) {
    SCOPED_TRACE(testing::Message() << "coop " << parameters.coop);
    test::expect_gpu_steps_on_all<V>(1, [&](const Csr<V, Index32>& csr) {
      return csr_on_device(csr, {.kernel = gpu::CsrKernel::reguly, .reguly = parameters});
    });
  }
}

TYPED_TEST(GpuMatrix, EllAgreesWithTheReference) {
  using V = TypeParam;
  test::expect_gpu_steps_on_all<V>(1,
                                   [&](const Csr<V, Index32>& csr) { return ell_on_device(csr); });
}

TYPED_TEST(GpuMatrix, SellAgreesWithTheReferenceForEveryHeight) {
  using V = TypeParam;
  for (Offset height = 1; height <= warp(); height *= 2) {
    for (const Offset window : {Offset{1}, 2 * height}) {
      SCOPED_TRACE(testing::Message() << "C = " << height << ", sigma = " << window);
      test::expect_gpu_steps_on_all<V>(
          static_cast<Index32>(std::max(height, window)), [&](const Csr<V, Index32>& csr) {
            return sell_on_device(csr,
                                  {.slice_height = height, .sort_window = window, .max_fill = 1e9});
          });
    }
  }
}

TYPED_TEST(GpuMatrix, PackedSellAgreesWithTheReferenceInEveryEncoding) {
  using V = TypeParam;
  const AllowedEncodings no_dia{.dia = false};
  const AllowedEncodings wide{.dia = false, .delta8 = false};
  const AllowedEncodings plain{.dia = false, .delta8 = false, .delta16 = false};
  for (const Offset height : {4, 8, 16, 32}) {
    for (const AllowedEncodings& allowed : {AllowedEncodings{}, no_dia, wide, plain}) {
      SCOPED_TRACE(testing::Message() << "C = " << height);
      test::expect_gpu_steps_on_all<V>(static_cast<Index32>(height),
                                       [&](const Csr<V, Index32>& csr) {
                                         return packed_on_device(csr, {height, 1, 1e9, allowed});
                                       });
    }
  }
}

TYPED_TEST(GpuMatrix, HolesAndPaddingLetNothingThrough) {
  using V = TypeParam;
  const auto csr = test::tridiagonal_with_a_hole<V, Index32>(70);
  for (const int count : {1, 3}) {
    test::expect_holes_let_nothing_through(csr, count, csr_on_device(csr, {}));
    test::expect_holes_let_nothing_through(csr, count, ell_on_device(csr));
    for (const Offset height : {4, 8, 16, 32}) {
      test::expect_holes_let_nothing_through(csr, count,
                                             sell_on_device(csr, {.slice_height = height}));
      test::expect_holes_let_nothing_through(csr, count,
                                             packed_on_device(csr, {.slice_height = height}));
    }
  }
}

class GpuMatrices : public test::GpuTest {};

// Many blocks, and a row that is longer than all of them at once.
TEST_F(GpuMatrices, LargeMatricesAgreeWithTheReferenceAndAreTheSameEveryTime) {
  for (const char* spec : {"stencil27:40x40x40", "rmat:16,edges=16", "arrow:300000"}) {
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
    expect_same_bits(csr_on_device(csr, {}));
    for (const gpu::CsrKernel kernel : gpu::kCsrKernels) {
      expect_same_bits(csr_on_device(csr, {.kernel = kernel}));
    }
    if (std::string_view(spec).starts_with("stencil")) {
      expect_same_bits(ell_on_device(csr));
      expect_same_bits(packed_on_device(csr, {}));
      expect_same_bits(sell_on_device(csr, {}));
    }
  }
}

TEST_F(GpuMatrices, WideIndicesAreAcceptedWhereTheyFit) {
  using Wide = std::int64_t;
  gpu::Stream stream;
  const auto csr = generate<double, Index32>("stencil5:50x40");
  const auto wide = converted<double, Wide>(csr);
  const auto expect = [&](auto matrix) {
    using Matrix = decltype(matrix);
    test::expect_step(csr, {}, 1, csr.all_rows(),
                      on_device(std::make_shared<const Matrix>(std::move(matrix))));
  };
  expect(gpu::DeviceCsr<double>(wide, stream));
  expect(gpu::DeviceEll<double>(Ell<double, Wide>::from_csr(wide), stream));
  expect(gpu::DeviceSell<double>(Sell<double, Wide>::from_csr(wide), stream));
  expect(gpu::DevicePackedSell<double>(PackedSell<double, Wide>::from_csr(wide), stream));
}

TEST_F(GpuMatrices, OutliersAmongManyRowsAreDoneInParts) {
  gpu::Stream stream;
  const auto kernel = [&](const char* spec) {
    return gpu::DeviceCsr<double>(generate<double, Index32>(spec), stream).kernel();
  };
  EXPECT_EQ(kernel("stencil7:10x10x10"), gpu::CsrKernel::stream);
  EXPECT_EQ(kernel("arrow:1000"), gpu::CsrKernel::stream);
  EXPECT_EQ(kernel("arrow:4000000"), gpu::CsrKernel::balanced);
}

// What the run-time tuner relies on.
TEST_F(GpuMatrices, RegulysParametersMayChangeBetweenStepsAndLeaveTheBits) {
  gpu::Stream stream;
  const auto csr = generate<double, Index32>("rmat:12,edges=16");
  gpu::DeviceCsr<double> matrix(csr, stream, {.kernel = gpu::CsrKernel::reguly});
  EXPECT_EQ(matrix.reguly(), gpu::reguly_rule(csr.rows(), csr.nnz()));
  const auto host_x = test::random_vector<double>(csr.cols(), 1);
  const auto x = gpu::to_device(std::span<const double>(host_x), stream);
  gpu::DeviceArray<double> y(csr.rows());
  const auto product = [&] {
    gpu::step(matrix, {}, {x.span(), {}, y.span()}, matrix.all_rows(), stream);
    return gpu::to_host(y.span(), stream);
  };
  const Array<double> expected = product();
  gpu::RegulyTuner tuner(csr.rows(), csr.nnz());
  for (int call = 1; call <= 20; ++call) {
    matrix.set_reguly(tuner.next());
    EXPECT_EQ(product(), expected) << "call " << call;
    tuner.record(1e-3 / call);
  }
  EXPECT_THROW(matrix.set_reguly({3, 1, 128}), InvalidArgument);
}

TEST_F(GpuMatrices, AStreamReadsTwoBytesPerRowBesidesEntriesAndParts) {
  gpu::Stream stream;
  const auto csr = generate<double, Index32>("stencil7:32x32x16");
  const gpu::DeviceCsr<double> matrix(csr, stream, {.kernel = gpu::CsrKernel::stream});
  EXPECT_LT(matrix.product_bytes(), 12 * csr.nnz() + 3 * Offset{csr.rows()});
  EXPECT_GE(matrix.product_bytes(), 12 * csr.nnz() + 2 * Offset{csr.rows()});
}

// One matrix, two streams, many steps at once: each has scratch of its own.
TEST_F(GpuMatrices, StreamsKeepTheirPartialSumsApart) {
  using test::on_gpu_or_emulated;
  const int repeats = on_gpu_or_emulated(200, 21);
  for (const char* spec : {on_gpu_or_emulated("arrow:400000", "arrow:20000"),
                           on_gpu_or_emulated("rmat:18,edges=32", "arrow:9000")}) {
    SCOPED_TRACE(spec);
    gpu::Stream streams[2];
    const auto csr = generate<double, Index32>(spec);
    const gpu::DeviceCsr<double> matrix(csr, streams[0], {.kernel = gpu::CsrKernel::balanced});
    ASSERT_GT(matrix.scratch_elements(1), 0);
    struct OfStream {
      gpu::DeviceArray<double> x, y;
      gpu::DeviceScratch<double> scratch;
      Array<double> alone;
    };
    OfStream on[2];
    const auto step = [&](int s) {
      gpu::step(matrix, {}, {on[s].x.span(), {}, on[s].y.span(), 1, on[s].scratch.span()},
                matrix.all_rows(), streams[s]);
    };
    for (int s = 0; s < 2; ++s) {
      const auto x = test::random_vector<double>(csr.rows(), static_cast<std::uint64_t>(s));
      on[s].x = gpu::to_device(std::span<const double>(x), streams[s]);
      on[s].y = gpu::DeviceArray<double>(csr.rows());
      on[s].scratch = gpu::DeviceScratch<double>(matrix.scratch_elements(1));
      step(s);
      on[s].alone = gpu::to_host(on[s].y.span(), streams[s]);
    }
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (int s = 0; s < 2; ++s) step(s);
      if (repeat % 20 != 0) continue;
      for (int s = 0; s < 2; ++s) {
        EXPECT_EQ(gpu::to_host(on[s].y.span(), streams[s]), on[s].alone) << "repeat " << repeat;
      }
    }
  }
}

TEST_F(GpuMatrices, WrongArgumentsAreRefused) {
  gpu::Stream stream;
  const auto csr = generate<double, Index32>("stencil5:10x10");
  const gpu::DeviceCsr<double> matrix(csr, stream);
  const gpu::DevicePackedSell<double> packed(
      PackedSell<double, Index32>::from_csr(csr, {.slice_height = 8}), stream);
  gpu::DeviceArray<double> x(100), y(100);
  const auto step = [&](const auto& some, int count, RowRange<Index32> rows) {
    gpu::step(some, {}, {x.span(), {}, y.span(), count}, rows, stream);
  };
  EXPECT_THROW(step(matrix, 2, {0, 100}), InvalidArgument);
  EXPECT_THROW(step(matrix, 0, {0, 100}), InvalidArgument);
  EXPECT_THROW(step(matrix, 1, {0, 101}), InvalidArgument);
  EXPECT_THROW(step(matrix, 1, {7, 3}), InvalidArgument);
  EXPECT_THROW(step(packed, 1, {4, 100}), InvalidArgument);
  EXPECT_NO_THROW(step(packed, 1, {8, 100}));
  const gpu::DeviceCsr<double> long_row(generate<double, Index32>("arrow:9000"), stream,
                                        {.kernel = gpu::CsrKernel::balanced});
  ASSERT_GT(long_row.scratch_elements(1), 0);
  gpu::DeviceArray<double> long_x(9000), long_y(9000);
  gpu::DeviceScratch<double> scratch(long_row.scratch_elements(1) - 1);
  EXPECT_THROW(gpu::step(long_row, {}, {long_x.span(), {}, long_y.span(), 1, scratch.span()},
                         long_row.all_rows(), stream),
               InvalidArgument);
  EXPECT_THROW(
      gpu::DeviceSell<double>(Sell<double, Index32>::from_csr(csr, {.slice_height = 5}), stream),
      InvalidArgument);
  const auto refuse = [&](const gpu::DeviceCsrOptions& options) {
    EXPECT_THROW(gpu::DeviceCsr<double>(csr, stream, options), InvalidArgument);
  };
  refuse({.kernel = gpu::CsrKernel::classical, .threads_per_row = 3});
  refuse({.kernel = gpu::CsrKernel::stream, .stream = {128, 7}});
  refuse({.kernel = gpu::CsrKernel::reguly, .reguly = {4, 0, 128}});
}

}  // namespace
}  // namespace strata
